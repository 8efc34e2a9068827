package wire

// Transactions by stored profiles, and lists of them.

var storedOrder = extend(order, optional("purchaseOrderNumber", upTo(25)))

// profileAmount begins each kind of transaction that moves money.
var profileAmount = sequence(
	required("amount", positive),
	optional("tax", extendedAmount),
	optional("shipping", extendedAmount),
	optional("duty", extendedAmount),
	repeated(0, 30, "lineItems", lineItem),
)

// profileCharge charges a stored payment profile.
var profileCharge = extend(
	profileAmount,
	required("customerProfileId", numericString),
	required("customerPaymentProfileId", numericString),
	optional("customerShippingAddressId", numericString),
	optional("order", storedOrder),
	optional("taxExempt", boolean),
	optional("recurringBilling", boolean),
	optional("cardCode", cardCode),
	optional("splitTenderId", numericString),
	optional("processingOptions", processingOptions),
	optional("subsequentAuthInformation", subsequentAuth),
	optional("authorizationIndicatorType", authorizationIndicator),
)

// profileIDs are the optional numbers of a transaction that refers to another one.
var profileIDs = sequence(
	optional("customerProfileId", numericString),
	optional("customerPaymentProfileId", numericString),
	optional("customerShippingAddressId", numericString),
)

// profileTransaction is one of the kinds.
var profileTransaction = sequence(oneOf(
	1,
	field{"profileTransAuthCapture", profileCharge},
	field{"profileTransAuthOnly", profileCharge},
	field{"profileTransPriorAuthCapture", extend(
		extend(profileAmount, profileIDs.content...),
		required("transId", numericString),
	)},
	field{"profileTransCaptureOnly", extend(
		profileCharge,
		required("approvalCode", upTo(6)),
	)},
	field{"profileTransRefund", extend(
		extend(profileAmount, profileIDs.content...),
		optional("creditCardNumberMasked", secret(8, 8)),
		optional("bankRoutingNumberMasked", secret(8, 8)),
		optional("bankAccountNumberMasked", secret(8, 8)),
		optional("order", storedOrder),
		optional("transId", numericString),
	)},
	field{"profileTransVoid", extend(
		profileIDs,
		required("transId", numericString),
	)},
))

var paymentProfileSorting = sequence(
	required("orderBy", enumeration("CustomerPaymentProfileOrderFieldEnum", "id")),
	required("orderDescending", boolean),
)

// sourceCustomer is the customer of a profile that is made from a transaction.
var sourceCustomer = sequence(
	optional("merchantCustomerId", upTo(20)),
	optional("description", upTo(255)),
	optional("email", upTo(255)),
)
