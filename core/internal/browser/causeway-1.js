// Causeway for web pages, version 1. The card goes from the payer's browser to Causeway, never to
// the merchant's server. The documentation is in core/docs/guides/browser.md.
(() => {
  "use strict";
  // The service has the address of this script. An element of the page that is named currentScript
  // hides document.currentScript, but not the getter of the prototype.
  const script = Object.getOwnPropertyDescriptor(Document.prototype, "currentScript").get.call(document);
  if (!(script instanceof HTMLScriptElement)) throw new Error("causeway-1.js must be the src of a classic script element");
  const base = script.src.replace(/\/v1\/js\/[^/]*$/, "");
  const attempts = 3, patience = 60_000; // per request; milliseconds
  const decision = 120_000; // milliseconds until the outcome of a payment is awaited no longer
  const utf8 = new TextEncoder();

  // CausewayError is a refused payment, or one without a known outcome. The code is stable, and the
  // message is for people. The code unreachable means that no response arrived.
  class CausewayError extends Error {
    constructor({code, message, ...rest}) {
      super(message);
      this.name = "CausewayError";
      this.code = code;
      this.type = rest.type;
      this.param = rest.param;
      this.status = rest.status;
      this.declineCode = rest.decline_code;
      this.requestId = rest.request_id;
      this.transaction = rest.transaction;
    }
  }

  // pay makes a token of the card and confirms the transaction with it. It returns the transaction.
  // amount and currency are the ones that the page showed: no other amount is paid. A transaction is
  // paid at most once, so the payer can try again after every error.
  async function pay({transaction, clientSecret, amount, currency, card, ...options}) {
    const token = await createToken({card, ...options});
    try {
      return await send("/v1/transactions/" + encodeURIComponent(transaction) + "/confirm",
        {client_secret: clientSecret, payment_method: token.value, amount, currency}, options);
    } catch (error) { // an earlier attempt can have paid after the page showed its error
      if (error.code !== "transaction_not_confirmable" || !paid.has(error.transaction?.status)) throw error;
      return error.transaction;
    }
  }
  const paid = new Set(["authorized", "partially_captured", "captured"]);

  // createToken returns a token, for a merchant's server that confirms the payment itself.
  const createToken = ({card, ...options}) => send("/v1/tokens", {card}, options);

  // The codes of a request whose outcome is not known yet. Later the same request gets the outcome.
  const undecided = new Set(["outcome_unknown", "idempotency_key_in_use", "operation_in_progress", "response_lost",
    "response_timeout"]);

  // send repeats a request that got no response or no outcome, or that had no effect. The
  // Idempotency-Key is the same each time, so the service carries it out once.
  async function send(path, body, {key, encrypt = false}) {
    const headers = {"Idempotency-Key": base64(crypto.getRandomValues(new Uint8Array(16)))};
    const plain = JSON.stringify(body), begun = performance.now();
    for (let failures = 0; ;) {
      try {
        return encrypt ? await sendEncrypted(path, plain, key, headers)
          : result(...await exchange("POST", path, key, plain, {...headers, "Content-Type": "application/json"}));
      } catch (error) {
        const again = undecided.has(error.code) ? performance.now() - begun < decision
          : (error.code === "unreachable" || error.status === 429 || error.status === 503) && ++failures < attempts;
        if (!again) throw error;
        await new Promise((resume) => setTimeout(resume, 1000 * Math.min(error.retryAfter || failures || 1, 10)));
      }
    }
  }

  // exchange returns the response and its text.
  async function exchange(method, path, key, body, headers) {
    try {
      const response = await fetch(base + path, {method, body, credentials: "omit", referrerPolicy: "no-referrer",
        headers: {...headers, Authorization: "Bearer " + key}, signal: AbortSignal.timeout(patience)});
      return [response, await response.text()];
    } catch {
      throw new CausewayError({code: "unreachable", message: "The payment service did not respond. Try again."});
    }
  }

  // result returns the object of a response, or throws its error.
  function result(response, text) {
    let body;
    try {
      body = JSON.parse(text);
    } catch {
      body = {error: {code: "unreachable", message: "The response was not readable. Try again.", status: response.status}};
    }
    if (response.ok && !body.error) return body;
    const error = new CausewayError(body.error);
    error.retryAfter = Number(response.headers.get("Retry-After"));
    throw error;
  }

  // sendEncrypted sends an encrypted body and demands an encrypted response, as mle-filter/docs/clients.md
  // describes them.
  async function sendEncrypted(path, plain, key, headers) {
    if (!crypto.subtle) { // browsers have it only in pages from HTTPS and localhost
      throw new CausewayError({code: "insecure_page", message: "A card can be encrypted only in a page from HTTPS."});
    }
    const current = result(...await exchange("GET", "/v1/mle/keys/current", key));
    const {message, contentKey} = await seal(plain, current, path);
    const [response, text] = await exchange("POST", path, key, message, {...headers, "Content-Type": "application/jose",
      "X-SVC-MLE": "v1", "X-SVC-MLE-Response": "required"});
    if (response.headers.get("Content-Type") === "application/jose") {
      return result(response, await open(text, message, contentKey, current.kid));
    }
    if (response.ok) { // a response in the clear is not from the holder of the key
      throw new CausewayError({code: "response_not_encrypted", message: "The response was not encrypted."});
    }
    try {
      return result(response, text);
    } catch (error) { // nothing about the transaction is from the holder of the key either
      delete error.transaction;
      delete error.declineCode;
      throw error;
    }
  }

  const base64 = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, "");
  const unbase64 = (text) =>
    Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
  const join = (...parts) => Uint8Array.from(parts.flatMap((part) => [...new Uint8Array(part)]));
  const uint32 = (n) => Uint8Array.of(n >>> 24, n >>> 16, n >>> 8, n);
  const tagSize = 16;

  // seal returns a compact JWE (RFC 7516) and its content encryption key. Its header has no iat,
  // because the clock of a payer's device is often wrong.
  async function seal(plain, current, path) {
    const ec = {name: "ECDH", namedCurve: "P-256"}, {kty, crv, x, y} = current.jwk;
    const theirs = await crypto.subtle.importKey("jwk", {kty, crv, x, y}, ec, false, []);
    const own = await crypto.subtle.generateKey(ec, true, ["deriveBits"]);
    const shared = await crypto.subtle.deriveBits({name: "ECDH", public: theirs}, own.privateKey, 256);
    const alg = utf8.encode(current.alg); // the key derivation of RFC 7518, 4.6.2
    const derived = await crypto.subtle.digest("SHA-256",
      join(uint32(1), shared, uint32(alg.length), alg, uint32(0), uint32(0), uint32(256)));
    const wrapping = await crypto.subtle.importKey("raw", derived, "AES-KW", false, ["wrapKey"]);
    const key = await crypto.subtle.generateKey({name: "AES-GCM", length: 256}, true, ["encrypt"]);
    const epk = await crypto.subtle.exportKey("jwk", own.publicKey);
    const header = base64(utf8.encode(JSON.stringify({alg: current.alg, enc: "A256GCM", kid: current.kid,
      epk: {kty: epk.kty, crv: epk.crv, x: epk.x, y: epk.y}, htm: "POST", htu: path, rsp: "required"})));
    const iv = crypto.getRandomValues(new Uint8Array(12));
    const sealed = await crypto.subtle.encrypt({name: "AES-GCM", iv, additionalData: utf8.encode(header)}, key,
      utf8.encode(plain));
    const wrapped = await crypto.subtle.wrapKey("raw", key, wrapping, "AES-KW");
    const message = [header, base64(wrapped), base64(iv), base64(sealed.slice(0, -tagSize)),
      base64(sealed.slice(-tagSize))].join(".");
    return {message, contentKey: await crypto.subtle.exportKey("raw", key)};
  }

  // open decrypts the response to a message.
  async function open(text, message, contentKey, kid) {
    try {
      const [header, , iv, sealed, tag] = text.split(".");
      const {alg, enc, salt} = JSON.parse(new TextDecoder().decode(unbase64(header)));
      if (alg !== "dir" || enc !== "A256GCM") throw new Error(alg + " " + enc);
      const info = join(utf8.encode("causeway response v1" + kid),
        await crypto.subtle.digest("SHA-256", utf8.encode(message)));
      const key = await crypto.subtle.deriveKey({name: "HKDF", hash: "SHA-256", salt: unbase64(salt), info},
        await crypto.subtle.importKey("raw", contentKey, "HKDF", false, ["deriveKey"]),
        {name: "AES-GCM", length: 256}, false, ["decrypt"]);
      return new TextDecoder().decode(await crypto.subtle.decrypt(
        {name: "AES-GCM", iv: unbase64(iv), additionalData: utf8.encode(header)}, key, join(unbase64(sealed), unbase64(tag))));
    } catch {
      throw new CausewayError({code: "response_not_encrypted", message: "The response could not be decrypted."});
    }
  }

  window.Causeway = Object.freeze({version: 1, pay, createToken, Error: CausewayError});
})();
