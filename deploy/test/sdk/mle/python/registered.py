# A payment whose response is encrypted to a registered response key.
import json
import time
import urllib.parse
import urllib.request
import uuid

from jwcrypto import jwe, jwk

base, api_key, alg = "https://pay.example.com", "your-api-key", "ECDH-ES+A256KW"  # or RSA-OAEP-256


def call(method, path, body=None, **more):
    headers = {"Authorization": "Bearer " + api_key, "Content-Type": "application/json", **more}
    request = urllib.request.Request(base + path, body.encode() if body else None, headers, method=method)
    with urllib.request.urlopen(request) as response:
        return response.headers["Content-Type"], response.read().decode()


def opened(token, key):
    message = jwe.JWE()
    message.deserialize(token, key=key)
    return message


# Once: a pair for responses. Register its public half, and prove that you have the private one.
kind = {"kty": "RSA", "size": 3072} if alg.startswith("RSA") else {"kty": "EC", "crv": "P-256"}
own = jwk.JWK.generate(use="enc", alg=alg, **kind)
public = dict(own.export_public(as_dict=True), kid=own.thumbprint())
made = json.loads(call("POST", "/v1/mle/response_keys", json.dumps({"jwk": public}))[1])
answer = opened(made["challenge"]["jwe"], own).payload.decode()
call("POST", f"/v1/mle/response_keys/{public['kid']}/challenge", json.dumps({"answer": answer}))

# For each payment: encrypt it to the service's key, which you may cache for an hour.
current = json.loads(call("GET", "/v1/mle/keys/current?alg=" + urllib.parse.quote(alg, safe=""))[1])
payment = {"amount": 1250, "currency": "usd", "payment_method": "card",
           "card": {"number": "4111111111111111", "exp_month": 4, "exp_year": 2031}}
path, idempotency_key = "/v1/transactions", str(uuid.uuid4())
bound = {"iat": int(time.time()), "htm": "POST", "htu": path, "rsp": public["kid"], "idk": idempotency_key}  # no intermediary can change these
message = jwe.JWE(json.dumps(payment).encode(), json.dumps({"alg": alg, "enc": "A256GCM", "kid": current["kid"], **bound}))
message.add_recipient(jwk.JWK(**current["jwk"]))
kind, text = call("POST", path, message.serialize(compact=True), **{
    "Content-Type": "application/jose", "X-SVC-MLE": "v1", "X-SVC-MLE-Response": "required", "X-SVC-MLE-Response-Kid": public["kid"],
    "Idempotency-Key": idempotency_key})
if kind != "application/jose":
    raise SystemExit(text)  # never accept a response in the clear
message = opened(text, own)
if message.jose_header["kid"] != public["kid"]:
    raise SystemExit("a response to another key")
transaction = json.loads(message.payload)
print(transaction["status"], transaction["id"])
