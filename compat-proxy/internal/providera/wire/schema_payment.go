package wire

// The payment choice.

// payment is exactly one payment source, then an optional dataSource.
var payment = sequence(
	oneOf(
		1,
		field{"creditCard", creditCard},
		field{"bankAccount", bankAccount},
		field{"trackData", trackData},
		field{"encryptedTrackData", encryptedTrackData},
		field{"payPal", payPal},
		field{"opaqueData", opaqueData},
		field{"emv", emv},
	),
	optional("dataSource", plainString),
)

var creditCard = sequence(
	required("cardNumber", secret(4, 16)),
	required("expirationDate", text(4, 7)),
	optional("cardCode", cardCode),
	optional("isPaymentToken", boolean),
	optional("cryptogram", hiddenString),
	optional("tokenRequestorName", plainString),
	optional("tokenRequestorId", plainString),
	optional("tokenRequestorEci", plainString),
)

var bankAccount = sequence(
	optional("accountType", enumeration("bankAccountTypeEnum", "checking", "savings", "businessChecking")),
	required("routingNumber", secret(0, 9)),
	required("accountNumber", secret(0, 17)),
	required("nameOnAccount", upTo(22)),
	optional("echeckType", echeckType),
	optional("bankName", upTo(50)),
	optional("checkNumber", upTo(15)),
)

var echeckType = enumeration("echeckTypeEnum", "PPD", "WEB", "CCD", "TEL", "ARC", "BOC")

var trackData = sequence(
	oneOf(
		1,
		field{"track1", hiddenString},
		field{"track2", hiddenString},
	),
)

var encryptedTrackData = sequence(
	required("FormOfPayment", sequence(
		required("Value", sequence(
			required("Encoding", enumeration("EncodingType", "Base64", "Hex")),
			required("EncryptionAlgorithm", enumeration("EncryptionAlgorithmType", "TDES", "AES", "RSA")),
			required("Scheme", sequence(required("DUKPT", dukpt))),
		)),
	)),
)

var dukpt = sequence(
	required("Operation", enumeration("OperationType", "DECRYPT")),
	required("Mode", sequence(
		optional("PIN", hiddenString),
		optional("Data", hiddenString),
	)),
	required("DeviceInfo", sequence(required("Description", hiddenString))),
	required("EncryptedData", sequence(required("Value", hiddenString))),
)

var payPal = sequence(
	optional("successUrl", upTo(2048)),
	optional("cancelUrl", upTo(2048)),
	optional("paypalLc", upTo(2)),
	optional("paypalHdrImg", upTo(127)),
	optional("paypalPayflowcolor", upTo(6)),
	optional("payerID", upTo(255)),
)

var opaqueData = sequence(
	required("dataDescriptor", plainString),
	required("dataValue", hiddenString),
	optional("dataKey", hiddenString),
	optional("expirationTimeStamp", dateTime),
)

// emv has three elements without a type in the provider's schema.
var emv = sequence(
	required("emvData", anyType),
	required("emvDescriptor", anyType),
	required("emvVersion", anyType),
)
