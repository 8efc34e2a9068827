// A payment whose response is encrypted to a registered response key.
import * as jose from 'jose'

const base = 'https://pay.example.com', apiKey = 'your-api-key', alg = 'ECDH-ES+A256KW' // or RSA-OAEP-256
const call = async (method, path, body, more) => {
  const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json', ...more }
  const response = await fetch(base + path, { method, headers, body })
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}
const text = (bytes) => new TextDecoder().decode(bytes)

// Once: a pair for responses. Register its public half, and prove that you have the private one.
const own = await jose.generateKeyPair(alg, { modulusLength: 3072, extractable: true })
const jwk = { ...(await jose.exportJWK(own.publicKey)), alg, use: 'enc' }
jwk.kid = await jose.calculateJwkThumbprint(jwk)
const made = JSON.parse((await call('POST', '/v1/mle/response_keys', JSON.stringify({ jwk }))).text)
const challenge = await jose.compactDecrypt(made.challenge.jwe, own.privateKey)
await call('POST', `/v1/mle/response_keys/${jwk.kid}/challenge`, JSON.stringify({ answer: text(challenge.plaintext) }))

// For each payment: encrypt it to the service's key, which you may cache for an hour.
const current = JSON.parse((await call('GET', '/v1/mle/keys/current?alg=' + encodeURIComponent(alg))).text)
const payment = { amount: 1250, currency: 'usd', payment_method: 'card', card: { number: '4111111111111111', exp_month: 4, exp_year: 2031 } }
const path = '/v1/transactions', idempotencyKey = crypto.randomUUID()
const bound = { iat: Math.floor(Date.now() / 1000), htm: 'POST', htu: path, rsp: jwk.kid, idk: idempotencyKey } // no intermediary can change these
const body = await new jose.CompactEncrypt(new TextEncoder().encode(JSON.stringify(payment)))
  .setProtectedHeader({ alg, enc: 'A256GCM', kid: current.kid, ...bound })
  .encrypt(await jose.importJWK(current.jwk, alg))
const response = await call('POST', path, body, {
  'Content-Type': 'application/jose', 'X-SVC-MLE': 'v1', 'X-SVC-MLE-Response': 'required', 'X-SVC-MLE-Response-Kid': jwk.kid, 'Idempotency-Key': idempotencyKey,
})
if (response.type !== 'application/jose') throw new Error(response.text) // never accept a response in the clear
const opened = await jose.compactDecrypt(response.text, own.privateKey)
if (opened.protectedHeader.kid !== jwk.kid) throw new Error('a response to another key')
const transaction = JSON.parse(text(opened.plaintext))
console.log(transaction.status, transaction.id)
