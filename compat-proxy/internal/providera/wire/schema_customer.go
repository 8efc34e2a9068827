package wire

// Customers, their addresses and their profiles.

var nameAndAddress = sequence(
	optional("firstName", upTo(50)),
	optional("lastName", upTo(50)),
	optional("company", upTo(50)),
	optional("address", upTo(60)),
	optional("city", upTo(40)),
	optional("state", upTo(40)),
	optional("zip", upTo(20)),
	optional("country", upTo(60)),
)

var customerAddress = extend(
	nameAndAddress,
	optional("phoneNumber", upTo(25)),
	optional("faxNumber", upTo(25)),
	optional("email", plainString),
)

var storedAddress = extend(
	customerAddress,
	optional("customerAddressId", numericString),
)

var customerType = enumeration("customerTypeEnum", "individual", "business")

var driversLicense = sequence(
	required("number", secret(5, 20)),
	required("state", text(2, 2)),
	required("dateOfBirth", secret(8, 10)),
)

var customerData = sequence(
	optional("type", customerType),
	optional("id", upTo(20)),
	optional("email", upTo(255)),
	optional("driversLicense", driversLicense),
	optional("taxId", secret(8, 9)),
)

var paymentProfile = sequence(
	optional("customerType", customerType),
	optional("billTo", customerAddress),
	optional("payment", payment),
	optional("driversLicense", driversLicense),
	optional("taxId", secret(8, 9)),
	optional("defaultPaymentProfile", boolean),
	optional("subsequentAuthInformation", subsequentAuth),
	optional("excludeFromAccountUpdater", boolean),
)

var customerProfile = sequence(
	optional("merchantCustomerId", upTo(20)),
	optional("description", upTo(255)),
	optional("email", upTo(255)),
	repeated(0, unbounded, "paymentProfiles", paymentProfile),
	repeated(0, unbounded, "shipToList", customerAddress),
	optional("profileType", profileType),
)

var customerProfileChange = sequence(
	optional("merchantCustomerId", upTo(20)),
	optional("description", upTo(255)),
	optional("email", upTo(255)),
	optional("customerProfileId", numericString),
	optional("profileType", profileType),
)

var validationMode = enumeration("validationModeEnum", "none", "testMode", "liveMode", "oldLiveMode")

var profileType = enumeration("customerProfileTypeEnum", "regular", "guest")
