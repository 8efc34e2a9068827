package wire

import "slices"

// The base of every request and the table of methods.

var impersonation = sequence(
	required("partnerLoginId", upTo(25)),
	required("partnerTransactionKey", secret(0, 16)),
)

var fingerPrint = sequence(
	required("hashValue", hiddenString),
	optional("sequence", plainString),
	required("timestamp", plainString),
	optional("currencyCode", plainString),
	optional("amount", plainString),
)

// transactionKey allows the length of a v1 API key, where the provider allows 16 characters.
var transactionKey = &schemaType{simple: &simpleType{label: "String", most: 16, secret: true, keyMost: 255}}

// merchantAuthentication may have an empty choice, so that a name alone reaches the credential
// check.
var merchantAuthentication = sequence(
	optional("name", upTo(25)),
	oneOf(
		0,
		field{"transactionKey", transactionKey},
		field{"sessionToken", hiddenString},
		field{"password", secret(0, 40)},
		field{"impersonationAuthentication", impersonation},
		field{"fingerPrint", fingerPrint},
		field{"clientKey", hiddenString},
		field{"accessToken", hiddenString},
	),
	optional("mobileDeviceId", upTo(60)),
)

var baseRequest = sequence(
	required("merchantAuthentication", merchantAuthentication),
	optional("clientId", upTo(30)),
	optional("refId", upTo(20)),
)

var transactionSorting = sequence(
	required("orderBy", enumeration("TransactionListOrderFieldEnum", "id", "submitTimeUTC")),
	required("orderDescending", boolean),
)

// paging selects a page: offset is its number, from 1.
var paging = sequence(
	required("limit", integer(1, 1000)),
	required("offset", integer(1, 100_000)),
)

// withOptionalLogin returns a request type in which merchantAuthentication, its first element, is
// optional.
func withOptionalLogin(request *schemaType) *schemaType {
	content := slices.Clone(request.content)
	content[0].min = 0
	return sequence(content...)
}

// A method is a request root with a schema.
type method struct {
	name string
	typ  *schemaType
}

// methods is the table of methods; any other root is E00004.
var methods = []method{
	{"createTransactionRequest", extend(
		baseRequest,
		required("transactionRequest", transactionRequest),
	)},
	{"getTransactionDetailsRequest", extend(
		baseRequest,
		required("transId", numericString),
	)},
	{"createCustomerProfileRequest", extend(
		baseRequest,
		required("profile", customerProfile),
		optional("validationMode", validationMode),
	)},
	{"getCustomerProfileRequest", extend(
		baseRequest,
		optional("customerProfileId", numericString),
		optional("merchantCustomerId", upTo(20)),
		optional("email", plainString),
		optional("unmaskExpirationDate", boolean),
		optional("includeIssuerInfo", boolean),
	)},
	{"getCustomerProfileIdsRequest", baseRequest},
	{"updateCustomerProfileRequest", extend(
		baseRequest,
		required("profile", customerProfileChange),
	)},
	{"deleteCustomerProfileRequest", extend(
		baseRequest,
		required("customerProfileId", numericString),
	)},
	{"createCustomerPaymentProfileRequest", extend(
		baseRequest,
		required("customerProfileId", numericString),
		required("paymentProfile", paymentProfile),
		optional("validationMode", validationMode),
	)},
	{"updateCustomerPaymentProfileRequest", extend(
		baseRequest,
		required("customerProfileId", numericString),
		required("paymentProfile", extend(
			paymentProfile,
			optional("customerPaymentProfileId", numericString),
		)),
		optional("validationMode", validationMode),
	)},
	{"validateCustomerPaymentProfileRequest", extend(
		baseRequest,
		required("customerProfileId", numericString),
		required("customerPaymentProfileId", numericString),
		optional("customerShippingAddressId", numericString),
		optional("cardCode", cardCode),
		required("validationMode", validationMode),
	)},
	{"getCustomerPaymentProfileRequest", extend(
		baseRequest,
		required("customerProfileId", numericString),
		optional("customerPaymentProfileId", numericString),
		optional("unmaskExpirationDate", boolean),
		optional("includeIssuerInfo", boolean),
	)},
	{"deleteCustomerPaymentProfileRequest", extend(
		baseRequest,
		required("customerProfileId", numericString),
		required("customerPaymentProfileId", numericString),
	)},
	{"getCustomerPaymentProfileListRequest", extend(
		baseRequest,
		required("searchType", enumeration("CustomerPaymentProfileSearchTypeEnum", "cardsExpiringInMonth")),
		required("month", text(4, 7)),
		optional("sorting", paymentProfileSorting),
		optional("paging", paging),
	)},
	{"createCustomerProfileTransactionRequest", extend(
		baseRequest,
		required("transaction", profileTransaction),
		optional("extraOptions", secret(0, 1024)),
	)},
	{"createCustomerProfileFromTransactionRequest", extend(
		baseRequest,
		required("transId", numericString),
		optional("customer", sourceCustomer),
		optional("customerProfileId", numericString),
		optional("defaultPaymentProfile", boolean),
		optional("defaultShippingAddress", boolean),
		optional("profileType", profileType),
	)},
	{"createCustomerShippingAddressRequest", extend(
		baseRequest,
		required("customerProfileId", numericString),
		required("address", customerAddress),
		optional("defaultShippingAddress", boolean),
	)},
	{"getCustomerShippingAddressRequest", extend(
		baseRequest,
		required("customerProfileId", numericString),
		optional("customerAddressId", numericString),
	)},
	{"updateCustomerShippingAddressRequest", extend(
		baseRequest,
		required("customerProfileId", numericString),
		required("address", storedAddress),
		optional("defaultShippingAddress", boolean),
	)},
	{"deleteCustomerShippingAddressRequest", extend(
		baseRequest,
		required("customerProfileId", numericString),
		required("customerAddressId", numericString),
	)},
	{"authenticateTestRequest", baseRequest},
	{"getUnsettledTransactionListRequest", extend(
		baseRequest,
		optional("status", enumeration("TransactionGroupStatusEnum", "any", "pendingApproval")),
		optional("sorting", transactionSorting),
		optional("paging", paging),
	)},
	{"getTransactionListRequest", extend(
		baseRequest,
		optional("batchId", numericString),
		optional("sorting", transactionSorting),
		optional("paging", paging),
	)},
	{"getTransactionListForCustomerRequest", extend(
		baseRequest,
		required("customerProfileId", numericString),
		optional("customerPaymentProfileId", numericString),
		optional("sorting", transactionSorting),
		optional("paging", paging),
	)},
	{"getSettledBatchListRequest", extend(
		baseRequest,
		optional("includeStatistics", boolean),
		optional("firstSettlementDate", dateTime),
		optional("lastSettlementDate", dateTime),
	)},
	{"getBatchStatisticsRequest", extend(
		baseRequest,
		required("batchId", numericString),
	)},
	{"getMerchantDetailsRequest", baseRequest},
	{"logoutRequest", baseRequest},
	{"isAliveRequest", sequence(optional("refId", upTo(20)))},
}

// methodType returns the schema of a root, or nil.
func methodType(name string) *schemaType {
	for i := range methods {
		if methods[i].name == name {
			return methods[i].typ
		}
	}
	return nil
}

// Methods returns the root names that Parse accepts.
func Methods() []string {
	names := make([]string, len(methods))
	for i := range methods {
		names[i] = methods[i].name
	}
	return names
}
