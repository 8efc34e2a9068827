package wire

// transactionRequest and the parts that only it has.

var transactionRequest = sequence(
	required("transactionType", plainString),
	optional("amount", plainDecimal),
	optional("currencyCode", plainString),
	optional("payment", payment),
	optional("profile", profilePayment),
	optional("solution", solution),
	optional("callId", plainString),
	optional("terminalNumber", plainString),
	optional("authCode", plainString),
	optional("refTransId", plainString),
	optional("splitTenderId", plainString),
	optional("order", order),
	optional("lineItems", sequence(repeated(0, unbounded, "lineItem", lineItem))),
	optional("tax", extendedAmount),
	optional("duty", extendedAmount),
	optional("shipping", extendedAmount),
	optional("taxExempt", ownBoolean),
	optional("poNumber", plainString),
	optional("customer", customerData),
	optional("billTo", customerAddress),
	optional("shipTo", nameAndAddress),
	optional("customerIP", plainString),
	optional("cardholderAuthentication", cardholderAuthentication),
	optional("retail", retail),
	optional("employeeId", plainString),
	optional("transactionSettings", sequence(repeated(0, maxSettings, "setting", setting))),
	optional("userFields", sequence(repeated(0, 20, "userField", userField))),
	optional("surcharge", extendedAmount),
	optional("merchantDescriptor", plainString),
	optional("subMerchant", subMerchant),
	optional("tip", extendedAmount),
	optional("processingOptions", processingOptions),
	optional("subsequentAuthInformation", subsequentAuth),
	optional("otherTax", otherTax),
	optional("shipFrom", nameAndAddress),
	optional("authorizationIndicatorType", authorizationIndicator),
)

var profilePayment = sequence(
	optional("createProfile", boolean),
	optional("customerProfileId", numericString),
	optional("paymentProfile", sequence(
		required("paymentProfileId", numericString),
		optional("cardCode", cardCode),
	)),
	optional("shippingProfileId", numericString),
)

var solution = sequence(
	required("id", plainString),
	optional("name", plainString),
	optional("vendorName", plainString),
)

var cardholderAuthentication = sequence(
	required("authenticationIndicator", plainString),
	required("cardholderAuthenticationValue", hiddenString),
)

var retail = sequence(
	optional("marketType", plainString),
	optional("deviceType", plainString),
	optional("customerSignature", hiddenString),
	optional("terminalNumber", plainString),
)

// maxSettings is more than the provider has names of settings. The provider has no limit.
const maxSettings = 50

var setting = sequence(
	optional("settingName", plainString),
	optional("settingValue", plainString),
)

var userField = sequence(
	optional("name", plainString),
	optional("value", plainString),
)

var subMerchant = sequence(
	required("identifier", upTo(40)),
	optional("doingBusinessAs", upTo(50)),
	optional("paymentServiceProviderName", upTo(40)),
	optional("paymentServiceFacilitator", upTo(20)),
	optional("streetAddress", upTo(40)),
	optional("phone", upTo(20)),
	optional("email", upTo(40)),
	optional("postalCode", upTo(20)),
	optional("city", upTo(30)),
	optional("regionCode", upTo(10)),
	optional("countryCode", upTo(10)),
)

var processingOptions = sequence(
	optional("isFirstRecurringPayment", boolean),
	optional("isFirstSubsequentAuth", boolean),
	optional("isSubsequentAuth", boolean),
	optional("isStoredCredentials", boolean),
)

var subsequentAuth = sequence(
	optional("originalNetworkTransId", networkTransID),
	optional("originalAuthAmount", moneyAmount),
	optional("reason", enumeration(
		"merchantInitTransReasonEnum",
		"resubmission", "delayedCharge", "reauthorization", "noShow",
	)),
)

// networkTransID may be empty: clients without one send it so.
var networkTransID = &schemaType{simple: &simpleType{
	label: ownPrefix + "networkTransId", pattern: alphanumericOrBlank, most: 255,
}}

var authorizationIndicator = sequence(
	optional("authorizationIndicator", enumeration("authIndicatorEnum", "pre", "final")),
)
