// Reads one call a line and prints one result a line. A call without a response is encoded: the result
// is the HTTP request that the library would send. A call with one is decoded. The program sends nothing.
'use strict'

const readline = require('node:readline')
const { UniffiClient, types } = require('hyperswitch-prism')
const { FLOWS } = require('hyperswitch-prism/dist/src/payments/_generated_flows.js')

const client = new UniffiClient()

// encode returns the bytes of a message. A string such as "$Currency.USD" is a value of an enumeration.
function encode (type, message) {
  return Buffer.from(types[type].encode(types[type].create(resolve(message))).finish())
}

function resolve (value) {
  if (Array.isArray(value)) return value.map(resolve)
  if (value instanceof Uint8Array) return value
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, resolve(member)]))
  }
  if (typeof value !== 'string' || value[0] !== '$') return value
  const [type, name] = value.slice(1).split('.')
  if (types[type][name] === undefined) throw new Error(`no value ${value}`)
  return types[type][name]
}

// plain replaces 64-bit numbers and byte strings in a message that is written as JSON.
function plain (name, value) {
  const given = this[name]
  if (given instanceof Uint8Array) return Buffer.from(given).toString()
  return given !== null && typeof given === 'object' && typeof given.toNumber === 'function' ? given.toNumber() : value
}

function run ({ flow, options, request, response }) {
  const { request: requestType, response: responseType } = FLOWS[flow]
  const [sent, settings] = [encode(requestType, request), encode('FfiOptions', options)]
  if (!response) {
    const made = types.FfiConnectorHttpRequest.decode(client.callReq(flow, sent, settings))
    return { url: made.url, method: made.method, headers: made.headers, body: Buffer.from(made.body ?? '').toString() }
  }
  const received = encode('FfiConnectorHttpResponse', {
    statusCode: response.status, headers: { 'content-type': 'application/json' }, body: Buffer.from(response.body)
  })
  const http = types.FfiConnectorHttpResponse.decode(client.callRes(flow, received, sent, settings))
  const decoded = types[responseType].decode(http.body)
  const statuses = responseType === 'RefundResponse' ? types.RefundStatus : types.PaymentStatus
  return { status: statuses[decoded.status], decoded }
}

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  let result
  try {
    result = run(JSON.parse(line))
  } catch (error) {
    const { errorCode = 'EXCEPTION', errorInfo } = error.proto ?? {}
    result = { error: errorCode, message: String(error.message), decoded: { error: errorInfo } }
  }
  console.log(JSON.stringify(result, plain))
})
