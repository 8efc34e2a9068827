"""The official Python client as a merchant uses it. It reads one request a line, a flat JSON object, and executes it.
It prints the fields of the response that the client read, as another object. steps.json in the folder above has the
requests and the expected responses.
"""

import json
import os
import sys

import CyberSource as api
from CyberSource.logging.log_configuration import LogConfiguration
from CyberSource.rest import ApiException

LOGINS = json.loads(os.environ["SDK_LOGINS"])  # the client's own settings, by name
READS = json.loads(os.environ["SDK_READS"])  # printed lines: a name, and its path in a response


def logging():
    """Like the client's own examples. Without a log, it accepts no boolean settings."""
    log = LogConfiguration()
    log.set_enable_log(True)
    log.set_log_directory(os.getcwd())
    return log


def make(kind, **values):
    """Returns an object of the client with the defined values; None if none is defined."""
    given = {name: value for name, value in values.items() if value}
    return kind(**given) if given else None


def reference(kind, r):
    return make(kind, code=r.get("code"), transaction_id=r.get("transaction_id"))


def amounts(kind, r):
    return make(kind, total_amount=r.get("amount"), currency=r.get("currency"))


def bank_of(r):
    if "account" not in r:
        return None
    account = make(api.Ptsv2paymentsPaymentInformationBankAccount, type="C", number=r["account"])
    return make(api.Ptsv2paymentsPaymentInformationBank, account=account, routing_number=r["routing"])


def token_of(r):
    if "token" not in r:
        return None
    return make(
        api.Ptsv2paymentsPaymentInformationTokenizedCard,
        number=r["token"],
        expiration_month="12",
        expiration_year="2031",
        cryptogram=r["cryptogram"],
        transaction_type="1",
    )


def address(r):
    if "zip" not in r:
        return None
    return make(
        api.Ptsv2paymentsOrderInformationBillTo,
        first_name="Ana",
        last_name="Wåhlin",
        address1="1 Elm St",
        locality="Bellevue",
        administrative_area="WA",
        postal_code=r["zip"],
        country="US",
        email="ana@example.org",
    )


def initiator(r):
    """Returns the initiator of the request, and whether the card is or was stored."""
    return make(
        api.ProcessingInfoAuthorizationOptionsInitiator,
        type=r.get("initiator"),
        credential_stored_on_file="stores" in r,
        stored_credential_used="previous" in r,
        merchant_initiated_transaction=make(
            api.ProcessingInfoAuthorizationOptionsInitiatorMerchantInitiatedTransaction,
            previous_transaction_id=r.get("previous"),
        ),
    )


def processing(r):
    options = make(
        api.ProcessingInfoAuthorizationOptions,
        partial_auth_indicator="partial" in r,
        ignore_avs_result="ignore_avs" in r,
        ignore_cv_result="ignore_cv" in r,
        initiator=initiator(r),
    )
    return make(
        api.Ptsv2paymentsProcessingInformation,
        capture="capture" in r,
        commerce_indicator=r.get("commerce"),
        bank_transfer_options=make(api.Ptsv2paymentsProcessingInformationBankTransferOptions, sec_code=r.get("entry")),
        action_list="keep" in r and ["TOKEN_CREATE"],
        action_token_types="keep" in r and ["customer", "paymentInstrument"],
        authorization_options=options,
    )


def order(r):
    """Returns the goods."""
    if "order" not in r:
        return {}
    items = [("mug", 2, "20.00"), ("lid", 1, "5.00")]
    ship_to = make(
        api.Ptsv2paymentsOrderInformationShipTo,
        first_name="Bo",
        last_name="Diaz",
        address1="2 Oak St",
        postal_code="98005",
        country="US",
    )
    return {
        "line_items": [
            make(
                api.Ptsv2paymentsOrderInformationLineItems,
                product_sku=sku,
                product_name="a " + sku,
                quantity=quantity,
                unit_price=price,
            )
            for sku, quantity, price in items
        ],
        "invoice_details": make(api.Ptsv2paymentsOrderInformationInvoiceDetails, purchase_order_number=r["order"]),
        "ship_to": ship_to,
    }


def shop(r):
    """Returns the buyer and the device."""
    if "order" not in r:
        return {}
    return {
        "merchant_defined_information": [make(api.Ptsv2paymentsMerchantDefinedInformation, key="1", value="gift <&> wrap")],
        "device_information": make(api.Ptsv2paymentsDeviceInformation, ip_address="192.0.2.7"),
        "buyer_information": make(api.Ptsv2paymentsBuyerInformation, merchant_customer_id="c-7", company_tax_id="12-345"),
    }


def payment(r):
    card = make(
        api.Ptsv2paymentsPaymentInformationCard,
        number=r.get("number"),
        expiration_month=r.get("month"),
        expiration_year=r.get("year"),
        security_code=r.get("security_code"),
        type=r.get("card_type"),
    )
    secure = make(
        api.Ptsv2paymentsConsumerAuthenticationInformation,
        cavv=r.get("cavv"),
        xid=r.get("xid"),
        eci_raw=r.get("eci"),
        directory_server_transaction_id=r.get("ds_transaction"),
        pa_specification_version="cavv" in r and "2.2.0",
    )
    return make(
        api.CreatePaymentRequest,
        client_reference_information=reference(api.Ptsv2paymentsClientReferenceInformation, r),
        processing_information=processing(r),
        payment_information=make(
            api.Ptsv2paymentsPaymentInformation,
            card=card,
            tokenized_card=token_of(r),
            bank=bank_of(r),
            customer=make(api.Ptsv2paymentsPaymentInformationCustomer, id=r.get("customer")),
            payment_instrument=make(api.Ptsv2paymentsPaymentInformationPaymentInstrument, id=r.get("instrument")),
        ),
        order_information=make(
            api.Ptsv2paymentsOrderInformation,
            amount_details=amounts(api.Ptsv2paymentsOrderInformationAmountDetails, r),
            bill_to=address(r),
            **order(r),
        ),
        **shop(r),
        consumer_authentication_information=secure,
    )


def capture(r):
    options = make(
        api.Ptsv2paymentsidcapturesProcessingInformationCaptureOptions,
        capture_sequence_number=int(r.get("sequence", 0)),
        total_capture_count=int(r.get("captures", 0)),
    )
    return make(
        api.CapturePaymentRequest,
        client_reference_information=reference(api.Ptsv2paymentsClientReferenceInformation, r),
        processing_information=make(api.Ptsv2paymentsidcapturesProcessingInformation, capture_options=options),
        order_information=make(
            api.Ptsv2paymentsidcapturesOrderInformation,
            amount_details=amounts(api.Ptsv2paymentsidcapturesOrderInformationAmountDetails, r),
        ),
    )


def reversal(kind, referred, reason):
    return lambda r: make(
        kind,
        client_reference_information=reference(referred, r),
        reversal_information=make(
            api.Ptsv2paymentsidreversalsReversalInformation,
            amount_details=amounts(api.Ptsv2paymentsidreversalsReversalInformationAmountDetails, r),
            reason=reason,
        ),
    )


def giving_back(kind, referred):
    """Returns a refund, or a credit, which names a card."""
    return lambda r: make(
        kind,
        client_reference_information=reference(referred, r),
        payment_information=make(
            api.Ptsv2paymentsidrefundsPaymentInformation,
            card=make(
                api.Ptsv2paymentsidrefundsPaymentInformationCard,
                number=r.get("number"),
                expiration_month=r.get("month"),
                expiration_year=r.get("year"),
            ),
        ),
        order_information=make(
            api.Ptsv2paymentsidrefundsOrderInformation,
            amount_details=amounts(api.Ptsv2paymentsidcapturesOrderInformationAmountDetails, r),
        ),
    )


def voiding(kind):
    """Has only the client's own reference: the rest is in the path."""
    return lambda r: make(
        kind, client_reference_information=reference(api.Ptsv2paymentsidreversalsClientReferenceInformation, r)
    )


def increment(r):
    amount = make(api.Ptsv2paymentsidOrderInformationAmountDetails, additional_amount=r["amount"], currency=r["currency"])
    return make(
        api.IncrementAuthRequest,
        client_reference_information=reference(api.Ptsv2paymentsidClientReferenceInformation, r),
        order_information=make(api.Ptsv2paymentsidOrderInformation, amount_details=amount),
    )


REFUND = api.Ptsv2paymentsidrefundsClientReferenceInformation
REVERSAL = api.Ptsv2paymentsidreversalsClientReferenceInformation
PAYMENT = api.Ptsv2paymentsClientReferenceInformation

# By the method's name: the client's method, the function that makes its request, and whether the number of its
# object is an argument "before" or "after" it.
CALLS = {
    "payment": (api.PaymentsApi, "create_payment", payment, None),
    "capture": (api.CaptureApi, "capture_payment", capture, "after"),
    "reversal": (api.ReversalApi, "auth_reversal", reversal(api.AuthReversalRequest, REVERSAL, "cancelled"), "before"),
    "timeout-reversal": (api.ReversalApi, "mit_reversal", reversal(api.MitReversalRequest, PAYMENT, "no answer"), None),
    "refund": (api.RefundApi, "refund_payment", giving_back(api.RefundPaymentRequest, REFUND), "after"),
    "refund-capture": (api.RefundApi, "refund_capture", giving_back(api.RefundCaptureRequest, REFUND), "after"),
    "void": (api.VoidApi, "void_payment", voiding(api.VoidPaymentRequest), "after"),
    "void-capture": (api.VoidApi, "void_capture", voiding(api.VoidCaptureRequest), "after"),
    "void-refund": (api.VoidApi, "void_refund", voiding(api.VoidRefundRequest), "after"),
    "void-credit": (api.VoidApi, "void_credit", voiding(api.VoidCreditRequest), "after"),
    "timeout-void": (api.VoidApi, "mit_void", voiding(api.MitVoidRequest), None),
    "credit": (api.CreditApi, "create_credit", giving_back(api.CreateCreditRequest, PAYMENT), None),
    "increment": (api.PaymentsApi, "increment_auth", increment, "before"),
    "details": (api.TransactionDetailsApi, "get_transaction", lambda r: None, "after"),
}


def at(inner, path):
    """Returns the value at a path of a response; None if the path does not exist."""
    for key in path.split("."):
        if isinstance(inner, list):
            inner = inner[int(key)] if int(key) < len(inner) else None
        elif isinstance(inner, dict):
            inner = inner.get(key)
        else:  # one of the client's own objects
            names = {wire: name for name, wire in getattr(inner, "attribute_map", {}).items()}
            inner = getattr(inner, names.get(key, ""), None)
    return inner


def plain(inner):
    """Returns a request like the client's own examples, without undefined values."""
    if isinstance(inner, dict):
        return {name: plain(value) for name, value in inner.items() if value is not None}
    if isinstance(inner, list):
        return [plain(value) for value in inner]
    return plain(inner.__dict__) if hasattr(inner, "__dict__") else inner


def execute(r):
    of, method, request_of, place = CALLS[r["method"]]
    request = request_of(r)
    arguments = [] if request is None else [json.dumps(plain(request))]
    if place == "before":
        arguments.insert(0, r["id"])
    elif place == "after":
        arguments.append(r["id"])
    try:
        data, status, body = getattr(of({**LOGINS[r["login"]], "log_config": LOG}), method)(*arguments)
    except ApiException as refusal:
        data, status, body = None, refusal.status, refusal.body
    raw = json.loads(body)
    line = {"step": r["step"], "http": status}
    for name, path in READS.items():
        value = at(data, path)
        line[name] = at(raw, path) if value is None else value  # its models lack some fields of the response
    return {name: str(value) for name, value in line.items() if value is not None}


LOG = logging()
for text in sys.stdin:
    print(json.dumps(execute(json.loads(text))), flush=True)
