"""One legacy merchant's day, through the official Python client: prints one JSON line per step.

With the number of a settled sale as its argument: the refund of the morning after. The Go test above this folder starts it, with the
address and the credentials in the environment, and asserts every line.
"""

import json
import os
import sys

from authorizenet import apicontractsv1 as api
from authorizenet.apicontrollers import createTransactionController


def credentials(key=None):
    return api.merchantAuthenticationType(name=os.environ["SDK_LOGIN"], transactionKey=key or os.environ["SDK_KEY"])


def card(number="4111111111111111", expiry="2031-04", code="900"):
    credit_card = api.creditCardType(cardNumber=number, expirationDate=expiry)
    if code:
        credit_card.cardCode = code
    return api.paymentType(creditCard=credit_card)


def payment(step, kind, amount, zip_code="98004"):
    request = api.transactionRequestType(transactionType=kind, amount=amount, payment=card())
    request.order = api.orderType(invoiceNumber="python-" + step, description="two mugs")
    request.billTo = api.customerAddressType(
        firstName="Ana", lastName="Wåhlin", address="1 Elm St", city="Bellevue", state="WA", zip=zip_code, country="USA"
    )
    return request


def later(kind, trans_id, amount=None):
    request = api.transactionRequestType(transactionType=kind, refTransId=trans_id)
    if amount is not None:
        request.amount = amount
    return request


def refund(trans_id, amount):
    request = later("refundTransaction", trans_id, amount)
    request.payment = card("XXXX1111", "XXXX", None)
    return request


def text(parent, name):
    """The text of a child, or nothing: the client has no attribute for what the answer leaves out."""
    return str(getattr(parent, name)) if parent is not None and hasattr(parent, name) else ""


def reason(transaction):
    if transaction is None:
        return ""
    if hasattr(transaction, "errors"):
        return str(transaction.errors.error[0].errorCode)
    if hasattr(transaction, "messages"):
        return str(transaction.messages.message[0].code)
    return ""


def send(step, transaction_request, auth=None):
    """Executes one request and prints what the client itself read from the answer."""
    request = api.createTransactionRequest()
    request.merchantAuthentication = auth or credentials()
    request.refId = ("ref-" + step)[:20]
    request.transactionRequest = transaction_request
    controller = createTransactionController(request)
    controller.setenvironment(os.environ["SDK_GATEWAY"])  # after the constructor, which resets it
    controller.execute()
    answer = controller.getresponse()
    if answer is None:
        raise RuntimeError(step + ": no answer")
    transaction = getattr(answer, "transactionResponse", None)
    line = {
        "step": step,
        "ref_id": text(answer, "refId"),
        "result": str(answer.messages.resultCode),
        "code": str(answer.messages.message[0]["code"].text),
        "response_code": text(transaction, "responseCode"),
        "reason": reason(transaction),
        "trans_id": text(transaction, "transId"),
        "auth_code": text(transaction, "authCode"),
        "account_number": text(transaction, "accountNumber"),
        "account_type": text(transaction, "accountType"),
    }
    print(json.dumps(line), flush=True)
    return line


def day():
    sale = send("sale", payment("sale", "authCaptureTransaction", 12.5))
    held = send("authorize", payment("authorize", "authOnlyTransaction", "20.00"))
    send("capture", later("priorAuthCaptureTransaction", held["trans_id"], 5))
    mistake = send("authorize-2", payment("authorize-2", "authOnlyTransaction", "30.00"))
    send("void", later("voidTransaction", mistake["trans_id"]))
    send("decline", payment("decline", "authCaptureTransaction", "7.00", "46282"))
    send("wrong-key", payment("wrong-key", "authCaptureTransaction", "9.00"), credentials("wrong00000000000"))
    send("refund-early", refund(sale["trans_id"], "2.50"))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        send("refund", refund(sys.argv[1], "2.50"))
    else:
        day()
