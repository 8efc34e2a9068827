"""The official Python client as a merchant uses it. It reads one request a line, a flat JSON object, and executes it.
It prints the fields of the response that the client read, as another object. steps.json in the folder above has the
requests and the expected responses.
"""

import json
import os
import sys
from decimal import Decimal

import pyxb
from authorizenet import apicontractsv1 as api
from authorizenet import apicontrollers

GATEWAY = os.environ["SDK_GATEWAY"]


def make(kind, **values):
    """Returns an object of the client with the defined values."""
    return kind(**{name: value for name, value in values.items() if value})


def payment_of(r):
    if "routing" in r:
        return make(
            api.paymentType,
            bankAccount=make(
                api.bankAccountType,
                accountType="checking",
                routingNumber=r["routing"],
                accountNumber=r["account"],
                nameOnAccount="Ana Ruiz",
            ),
        )
    if "number" in r:
        card = make(api.creditCardType, cardNumber=r["number"], expirationDate=r.get("expiry"), cardCode=r.get("code"))
        return make(api.paymentType, creditCard=card)
    return None


def address(r):
    return make(
        api.customerAddressType,
        firstName="Ana",
        lastName="Wåhlin",
        address="1 Elm St",
        city="Bellevue",
        state="WA",
        zip=r["zip"],
        country="USA",
    )


def profile_of(r):
    """Returns the stored profile that a transaction charges, or the request to create one."""
    if "create_profile" in r:
        return api.customerProfilePaymentType(createProfile=True)
    if "customer_profile" not in r:
        return None
    return make(
        api.customerProfilePaymentType,
        customerProfileId=r["customer_profile"],
        paymentProfile=make(api.paymentProfile, paymentProfileId=r["payment_profile"]),
        shippingProfileId=r.get("shipping_profile"),
    )


def settings(r):
    given = [(name, r[key]) for name, key in (("duplicateWindow", "window"), ("allowPartialAuth", "partial")) if key in r]
    if not given:
        return None
    made = api.ArrayOfSetting()
    for name, value in given:
        made.setting.append(api.settingType(settingName=name, settingValue=value))
    return made


def transaction(r):
    request = make(
        api.transactionRequestType,
        transactionType=r.get("type"),
        amount=r.get("amount"),
        payment=payment_of(r),
        profile=profile_of(r),
        authCode=r.get("auth_code"),
        refTransId=r.get("ref_trans_id"),
        splitTenderId=r.get("split_tender"),
        transactionSettings=settings(r),
    )
    if "merchant_customer" in r:
        request.customer = api.customerDataType(id=r["merchant_customer"], email=r["email"])
    if "invoice" in r:
        request.order = api.orderType(invoiceNumber=r["invoice"], description="two mugs")
    if "zip" in r:
        request.billTo = address(r)
    return request


def profile(r):
    made = make(
        api.customerProfileType,
        merchantCustomerId=r.get("merchant_customer"),
        description=r.get("description"),
        email=r.get("email"),
    )
    for _ in range(int(r.get("times", 1))):
        made.paymentProfiles.append(
            make(api.customerPaymentProfileType, customerType="individual", billTo=address(r), payment=payment_of(r))
        )
    if "shipping" in r:
        made.shipToList.append(address(r))
    return made


def stored_card(r, kind, **more):
    """Returns a payment profile of a stored customer."""
    return make(kind, billTo=address(r) if "zip" in r else None, payment=payment_of(r), **more)


def by_profile(r):
    """Returns a transaction by a stored profile. Its kind is the end of the name of its element."""
    name = "profileTrans" + r["kind"]
    order = api.orderExType(invoiceNumber=r["invoice"], description="two mugs") if "invoice" in r else None
    kind = make(
        getattr(api, name + "Type"),
        amount=r.get("amount"),
        customerProfileId=r.get("customer_profile"),
        customerPaymentProfileId=r.get("payment_profile"),
        order=order,
        transId=r.get("ref_trans_id"),
    )
    return api.profileTransactionType(**{name: kind})


def page():
    """Selects the newest transactions of a list."""
    return {
        "sorting": api.TransactionListSorting(orderBy="submitTimeUTC", orderDescending=True),
        "paging": api.Paging(limit=1000, offset=1),
    }


REQUESTS = {
    "unsettled": (
        api.getUnsettledTransactionListRequest,
        apicontrollers.getUnsettledTransactionListController,
        lambda r: page(),
    ),
    "batches": (
        api.getSettledBatchListRequest,
        apicontrollers.getSettledBatchListController,
        lambda r: {"includeStatistics": True},
    ),
    "batch": (
        api.getBatchStatisticsRequest,
        apicontrollers.getBatchStatisticsController,
        lambda r: {"batchId": r["batch"]},
    ),
    "settled": (
        api.getTransactionListRequest,
        apicontrollers.getTransactionListController,
        lambda r: {"batchId": r["batch"], **page()},
    ),
    "customer": (
        api.getTransactionListForCustomerRequest,
        apicontrollers.getTransactionListForCustomerController,
        lambda r: {"customerProfileId": r["customer_profile"], **page()},
    ),
    "merchant": (api.getMerchantDetailsRequest, apicontrollers.getMerchantDetailsController, lambda r: {}),
    "login": (api.authenticateTestRequest, apicontrollers.authenticateTestController, lambda r: {}),
    "transaction": (
        api.createTransactionRequest,
        apicontrollers.createTransactionController,
        lambda r: {"transactionRequest": transaction(r)},
    ),
    "details": (
        api.getTransactionDetailsRequest,
        apicontrollers.getTransactionDetailsController,
        lambda r: {"transId": r["trans_id"]},
    ),
    "profile": (
        api.createCustomerProfileRequest,
        apicontrollers.createCustomerProfileController,
        lambda r: {"profile": profile(r), "validationMode": r["validation"]},
    ),
    "read-profile": (
        api.getCustomerProfileRequest,
        apicontrollers.getCustomerProfileController,
        lambda r: {"customerProfileId": r["customer_profile"], "unmaskExpirationDate": True},
    ),
    "delete-profile": (
        api.deleteCustomerProfileRequest,
        apicontrollers.deleteCustomerProfileController,
        lambda r: {"customerProfileId": r["customer_profile"]},
    ),
    "add-card": (
        api.createCustomerPaymentProfileRequest,
        apicontrollers.createCustomerPaymentProfileController,
        lambda r: {
            "customerProfileId": r["customer_profile"],
            "paymentProfile": stored_card(r, api.customerPaymentProfileType),
            "validationMode": r["validation"],
        },
    ),
    "renew-card": (
        api.updateCustomerPaymentProfileRequest,
        apicontrollers.updateCustomerPaymentProfileController,
        lambda r: {
            "customerProfileId": r["customer_profile"],
            "paymentProfile": stored_card(
                r, api.customerPaymentProfileExType, customerPaymentProfileId=r["payment_profile"]
            ),
            "validationMode": r["validation"],
        },
    ),
    "delete-card": (
        api.deleteCustomerPaymentProfileRequest,
        apicontrollers.deleteCustomerPaymentProfileController,
        lambda r: {"customerProfileId": r["customer_profile"], "customerPaymentProfileId": r["payment_profile"]},
    ),
    "by-profile": (
        api.createCustomerProfileTransactionRequest,
        apicontrollers.createCustomerProfileTransactionController,
        lambda r: {"transaction": by_profile(r), "extraOptions": r["options"]},
    ),
    "expiring": (
        api.getCustomerPaymentProfileListRequest,
        apicontrollers.getCustomerPaymentProfileListController,
        lambda r: {"searchType": "cardsExpiringInMonth", "month": r["month"]},
    ),
}


def text(parent, *names):
    """Returns the text of a child, or None: the client has no attribute for a missing field."""
    for name in names:
        parent = getattr(parent, name, None)
    return "" if parent is None else parent.text or ""


def reason(t):
    if hasattr(t, "errors"):
        return t.errors.error[0].errorCode.text
    if hasattr(t, "messages"):
        return t.messages.message[0]["code"].text
    return ""


def read_ids(parent):
    """Returns the numbers of the stored profile that paid."""
    return {
        "customer_profile": text(parent, "profile", "customerProfileId"),
        "payment_profile": text(parent, "profile", "customerPaymentProfileId"),
        "shipping_profile": text(parent, "profile", "customerAddressId"),
    }


def read_made(answer):
    """Returns the profile that a payment created."""
    made = getattr(answer, "profileResponse", None)
    if made is None:
        return {}
    return {
        "made_code": made.messages.message[0]["code"].text,
        "made_profile": text(made, "customerProfileId"),
        "made_payment": text(made, "customerPaymentProfileIdList", "numericString"),
    }


def read_transaction(answer):
    t = getattr(answer, "transactionResponse", None)
    if t is None:
        return {}
    names = {
        "response_code": "responseCode",
        "trans_id": "transId",
        "ref_trans_id": "refTransID",
        "auth_code": "authCode",
        "avs": "avsResultCode",
        "cvv": "cvvResultCode",
        "cavv": "cavvResultCode",
        "account_number": "accountNumber",
        "account_type": "accountType",
        "network_trans_id": "networkTransId",
        "split_tender": "splitTenderId",
    }
    line = {"reason": reason(t), **{key: text(t, name) for key, name in names.items()}, **read_ids(t), **read_made(answer)}
    for key, name in (("requested", "requestedAmount"), ("approved", "approvedAmount"), ("balance", "balanceOnCard")):
        line[key] = text(t, "prePaidCard", name)
    if hasattr(t, "splitTenderPayments"):
        line["tenders"] = str(len(t.splitTenderPayments.splitTenderPayment))
    return line


def read_details(answer):
    t = getattr(answer, "transaction", None)
    if t is None:
        return {}
    names = {
        "trans_id": "transId",
        "ref_trans_id": "refTransId",
        "status": "transactionStatus",
        "type": "transactionType",
        "response_code": "responseCode",
        "reason": "responseReasonCode",
        "auth_code": "authCode",
        "avs": "AVSResponse",
        "cvv": "cardCodeResponse",
        "split_tender": "splitTenderId",
    }
    line = {key: text(t, name) for key, name in names.items()} | read_ids(t)
    line["batch"] = text(t, "batch", "batchId")
    amounts = {
        "auth_amount": "authAmount",
        "settle_amount": "settleAmount",
        "requested": "requestedAmount",
        "balance": "prepaidBalanceRemaining",
    }
    for key, name in amounts.items():
        if text(t, name):  # the client serializes numbers again, without their last zeros
            line[key] = format(Decimal(text(t, name)), ".2f")
    if hasattr(t.payment, "creditCard"):
        return line | {
            "account_number": text(t.payment, "creditCard", "cardNumber"),
            "account_type": text(t.payment, "creditCard", "cardType"),
        }
    return line | {"account_number": text(t.payment, "bankAccount", "accountNumber"), "account_type": "eCheck"}


def read_profile(answer):
    return {
        "customer_profile": text(answer, "customerProfileId"),
        "payment_profile": text(answer, "customerPaymentProfileIdList", "numericString"),
        "shipping_profile": text(answer, "customerShippingAddressIdList", "numericString"),
        "direct": text(answer, "validationDirectResponseList", "string"),
    }


def money(value):
    """Returns an amount: the client serializes numbers again, without their last zeros."""
    return format(Decimal(value), ".2f")


def read_rows(answer, r):
    """Returns the row of the requested transaction, or the first one."""
    if not hasattr(answer, "transactions"):
        return {}
    for row in answer.transactions.transaction:
        if r.get("trans_id", text(row, "transId")) == text(row, "transId"):
            return {
                "trans_id": text(row, "transId"),
                "status": text(row, "transactionStatus"),
                "invoice": text(row, "invoiceNumber"),
                "account_number": text(row, "accountNumber"),
                "account_type": text(row, "accountType"),
                "settle_amount": money(text(row, "settleAmount")),
                "total": text(answer, "totalNumInResultSet"),
            }
    return {}


def read_batch(batch):
    if batch is None:
        return {}
    row = batch.statistics.statistic[0]
    return {
        "batch": text(batch, "batchId"),
        "status": text(batch, "settlementState"),
        "account_type": text(row, "accountType"),
        "charges": text(row, "chargeCount"),
        "charged": money(text(row, "chargeAmount")),
        "refunds": text(row, "refundCount"),
        "refunded": money(text(row, "refundAmount")),
        "voids": text(row, "voidCount"),
    }


def read_merchant(answer):
    return {
        "merchant": text(answer, "merchantName"),
        "processor": text(answer, "processors", "processor", "name"),
        "currency": text(answer, "currencies", "currency"),
    }


DIRECT = {
    "response_code": 0,
    "reason": 2,
    "auth_code": 4,
    "avs": 5,
    "trans_id": 6,
    "amount": 9,
    "type": 11,
    "cvv": 38,
    "cavv": 39,
    "account_number": 50,
    "account_type": 51,
    "network_trans_id": 58,
}


def read_direct(answer):
    """Returns the fields of a direct response, whose delimiter is a vertical bar here."""
    fields = text(answer, "directResponse").split("|")
    return {key: fields[at] for key, at in DIRECT.items()} if len(fields) >= 69 else {}


def read_stored(answer):
    profile = getattr(answer, "profile", None)
    if profile is None:
        return {}
    cards = list(getattr(profile, "paymentProfiles", []))
    return {
        "customer_profile": text(profile, "customerProfileId"),
        "email": text(profile, "email"),
        "cards": str(len(cards)),
        "expiry": text(cards[-1], "payment", "creditCard", "expirationDate") if cards else "",
    }


def read_added(answer):
    return {
        "customer_profile": text(answer, "customerProfileId"),
        "payment_profile": text(answer, "customerPaymentProfileId"),
        "direct": text(answer, "validationDirectResponse"),
    }


READERS = {
    "read-profile": lambda answer, r: read_stored(answer),
    "add-card": lambda answer, r: read_added(answer),
    "by-profile": lambda answer, r: read_direct(answer),
    "delete-profile": lambda answer, r: {},
    "renew-card": lambda answer, r: {},
    "delete-card": lambda answer, r: {},
    "expiring": lambda answer, r: {"total": text(answer, "totalNumInResultSet")},
    "login": lambda answer, r: {},
    "transaction": lambda answer, r: read_transaction(answer),
    "details": lambda answer, r: read_details(answer),
    "profile": lambda answer, r: read_profile(answer),
    "unsettled": read_rows,
    "settled": read_rows,
    "customer": read_rows,
    "batches": lambda answer, r: read_batch(answer.batchList.batch[-1] if hasattr(answer, "batchList") else None),
    "batch": lambda answer, r: read_batch(getattr(answer, "batch", None)),
    "merchant": lambda answer, r: read_merchant(answer),
}


def execute(r):
    # The client refuses requests that its schema forbids. One such request must reach the server, which refuses it.
    pyxb.RequireValidWhenGenerating("expiry" in r or "number" not in r)
    kind, controller_of, values = REQUESTS[r["method"]]
    request = kind()
    request.merchantAuthentication = api.merchantAuthenticationType(name=r["login"], transactionKey=r["key"])
    request.refId = r["ref_id"]
    for name, value in values(r).items():
        setattr(request, name, value)
    controller = controller_of(request)
    controller.setenvironment(GATEWAY)  # after the constructor, which resets it
    controller.execute()
    answer = controller.getresponse()
    if answer is None:
        raise RuntimeError(r["step"] + ": no answer")
    message = answer.messages.message[0]
    line = {
        "step": r["step"],
        "ref_id": text(answer, "refId"),
        "result": text(answer, "messages", "resultCode"),
        "code": message["code"].text,
        "text": message["text"].text,
    }
    return line | READERS[r["method"]](answer, r)


for line in sys.stdin:
    print(json.dumps(execute(json.loads(line))), flush=True)
