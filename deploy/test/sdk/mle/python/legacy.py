# Legacy payments with encrypted requests and responses: a sale in XML, and a payment in JSON.
import hashlib
import json
import re
import time
import urllib.parse
import urllib.request
import uuid

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from jwcrypto import jwe, jwk
from jwcrypto.common import base64url_decode, base64url_encode

base, api_key, alg = "https://pay.example.com", "your-api-key", "ECDH-ES+A256KW"  # or RSA-OAEP-256


def call(method, path, body=None, **more):
    headers = {"Authorization": "Bearer " + api_key, "Content-Type": "application/json", **more}
    request = urllib.request.Request(base + path, body.encode() if body else None, headers, method=method)
    with urllib.request.urlopen(request) as response:
        return response.headers["Content-Type"], response.read().decode()


current = json.loads(call("GET", "/v1/mle/keys/current?alg=" + urllib.parse.quote(alg, safe=""))[1])


def pay(path, cty, body):
    """Sends an encrypted body, and returns the media type and the text of the response."""
    header = {"alg": alg, "enc": "A256GCM", "kid": current["kid"], "cty": cty, "rsp": "required",
              "iat": int(time.time()), "htm": "POST", "htu": path}
    message = jwe.JWE(body.encode(), json.dumps(header))
    message.add_recipient(jwk.JWK(**current["jwk"]))
    request = message.serialize(compact=True)
    kind, text = call("POST", path, request, **{
        "Content-Type": "application/jose", "X-SVC-MLE": "v1", "X-SVC-MLE-Response": "required"})
    if kind != "application/jose":
        raise SystemExit(text)  # never accept a response in the clear
    response = jwe.JWE(algs=["dir", "A256GCM"])
    response.deserialize(text)
    protected = json.loads(response.objects["protected"])
    info = b"causeway response v1" + current["kid"].encode() + hashlib.sha256(request.encode()).digest()
    key = HKDF(SHA256(), 32, base64url_decode(protected["salt"]), info).derive(message.cek)
    response.decrypt(jwk.JWK(kty="oct", k=base64url_encode(key)))
    return protected["cty"], response.payload.decode("utf-8-sig")


sale = f"""<?xml version="1.0" encoding="utf-8"?>
<createTransactionRequest xmlns="AnetApi/xml/v1/schema/AnetApiSchema.xsd"><transactionRequest>
<transactionType>authCaptureTransaction</transactionType><amount>12.50</amount><payment><creditCard>
<cardNumber>4111111111111111</cardNumber><expirationDate>2031-04</expirationDate></creditCard></payment>
<order><invoiceNumber>{uuid.uuid4().hex[:20]}</invoiceNumber></order>
</transactionRequest></createTransactionRequest>"""
kind, text = pay("/compat/provider-a/xml", "text/xml", sale)
found = re.search("<responseCode>(.*)</responseCode>.*<transId>(.*)</transId>", text)
if not found:
    raise SystemExit(text)
print(kind, *found.groups())

payment = {"processingInformation": {"capture": True}, "orderInformation": {"amountDetails": {"totalAmount": "7.00", "currency": "USD"}},
           "paymentInformation": {"card": {"number": "4111111111111111", "expirationMonth": "12", "expirationYear": "2031"}}}
kind, text = pay("/compat/provider-b/pts/v2/payments", "json", json.dumps(payment))
made = json.loads(text)
print(kind, made["status"], made["id"])
