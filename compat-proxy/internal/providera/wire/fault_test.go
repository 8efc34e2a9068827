package wire_test

import (
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
)

const (
	ns   = wire.Namespace
	auth = `<merchantAuthentication><name>n</name><transactionKey>k</transactionKey></merchantAuthentication>`
)

// create wraps a transactionRequest's content.
func create(inner string) string {
	return root("createTransactionRequest", auth+"<transactionRequest>"+inner+"</transactionRequest>")
}

// sale is create with a transaction type before inner.
func sale(inner string) string {
	return create("<transactionType>authCaptureTransaction</transactionType>" + inner)
}

func card(inner string) string {
	return sale("<payment><creditCard>" + inner + "</creditCard></payment>")
}

func root(name, inner string) string {
	return "<" + name + ` xmlns="` + ns + `">` + inner + "</" + name + ">"
}

// in returns the name of an element in the form of a fault.
func in(name string) string { return "'" + name + "' in namespace '" + ns + "'" }

func expecting(names string) string {
	return " List of possible elements expected: '" + names + "' in namespace '" + ns + "'."
}

func value(name, quoted, datatype, reason string) string {
	return "The '" + ns + ":" + name + "' element is invalid - The value &#39;" + quoted +
		"&#39; is invalid according to its datatype '" + datatype + "' - " + reason
}

const (
	afterType = "amount, currencyCode, payment, profile, solution, callId, terminalNumber, authCode, refTransId, " +
		"splitTenderId, order, lineItems, tax, duty, shipping, taxExempt, poNumber, customer, billTo, shipTo, " +
		"customerIP, cardholderAuthentication, retail, employeeId, transactionSettings, userFields, surcharge, " +
		"merchantDescriptor, subMerchant, tip, processingOptions, subsequentAuthInformation, otherTax, shipFrom, " +
		"authorizationIndicatorType"
	means      = "creditCard, bankAccount, trackData, encryptedTrackData, payPal, opaqueData, emv"
	xsDecimal  = "http://www.w3.org/2001/XMLSchema:decimal"
	tooLong    = "The actual length is greater than the MaxLength value."
	tooShort   = "The actual length is less than the MinLength value."
	badPattern = "The Pattern constraint failed."
)

var structureFaults = map[string]struct{ body, want string }{
	"unknown child": {
		sale("<bogus/>"),
		"The element " + in("transactionRequest") + " has invalid child element " + in("bogus") + "." + expecting(afterType),
	},
	"out of order": {
		create("<amount>1</amount><transactionType>x</transactionType>"),
		"The element " + in("transactionRequest") + " has invalid child element " + in("amount") + "." +
			expecting("transactionType"),
	},
	"order near the end": {
		sale("<shipFrom/><otherTax/>"),
		"The element " + in("transactionRequest") + " has invalid child element " + in("otherTax") + "." +
			expecting("authorizationIndicatorType"),
	},
	"repeated, nothing may follow": {
		sale("<authorizationIndicatorType/><authorizationIndicatorType/>"),
		"The element " + in("transactionRequest") + " has invalid child element " + in("authorizationIndicatorType") + ".",
	},
	"too many of a bounded element": {
		sale("<userFields>" + strings.Repeat("<userField/>", 21) + "</userFields>"),
		"The element " + in("userFields") + " has invalid child element " + in("userField") + ".",
	},
	"too many settings": {
		sale("<transactionSettings>" + strings.Repeat("<setting/>", 51) + "</transactionSettings>"),
		"The element " + in("transactionSettings") + " has invalid child element " + in("setting") + ".",
	},
	"foreign namespace": {
		sale(`<amount xmlns="urn:x">1</amount>`),
		"The element " + in("transactionRequest") + " has invalid child element 'amount' in namespace 'urn:x'." +
			expecting(afterType),
	},
	"no namespace": {
		sale(`<amount xmlns="">1</amount>`),
		"The element " + in("transactionRequest") + " has invalid child element 'amount'." + expecting(afterType),
	},
	"incomplete": {
		create(""),
		"The element " + in("transactionRequest") + " has incomplete content." + expecting("transactionType"),
	},
	"incomplete after an optional one": {
		root("getTransactionDetailsRequest", auth),
		"The element " + in("getTransactionDetailsRequest") + " has incomplete content." +
			expecting("clientId, refId, transId"),
	},
	"choice left out": {
		sale("<payment/>"),
		"The element " + in("payment") + " has incomplete content." + expecting(means),
	},
	"choice skipped": {
		sale("<payment><dataSource/></payment>"),
		"The element " + in("payment") + " has invalid child element " + in("dataSource") + "." + expecting(means),
	},
	"two of a choice": {
		sale("<payment><trackData><track1>a</track1><track2>b</track2></trackData></payment>"),
		"The element " + in("trackData") + " has invalid child element " + in("track2") + ".",
	},
	"two means of payment": {
		sale("<payment><payPal/><payPal/></payment>"),
		"The element " + in("payment") + " has invalid child element " + in("payPal") + "." + expecting("dataSource"),
	},
	"text before children": {
		sale("<payment>hi<payPal/></payment>"),
		"The element " + in("payment") + " cannot contain text." + expecting(means),
	},
	"text after children": {
		sale("<payment><payPal/>hi</payment>"),
		"The element " + in("payment") + " cannot contain text." + expecting("dataSource"),
	},
	"text where nothing may follow": {
		sale("<authorizationIndicatorType>" +
			"<authorizationIndicator>pre</authorizationIndicator>x</authorizationIndicatorType>"),
		"The element " + in("authorizationIndicatorType") + " cannot contain text.",
	},
	"child in a simple type": {
		sale("<amount><x/></amount>"),
		"The element " + in("amount") + " cannot contain child element " + in("x") +
			" because the parent element's content model is text only.",
	},
	"attribute": {sale(`<amount x="1">1</amount>`), "The 'x' attribute is not declared."},
	"attribute in a namespace": {
		sale(`<amount xmlns:p="u" p:x="1">1</amount>`), "The 'u:x' attribute is not declared.",
	},
	"child in the namespace of xml": {
		sale("<xml:amount/>"), "The element " + in("transactionRequest") +
			" has invalid child element 'amount' in namespace 'http://www.w3.org/XML/1998/namespace'." + expecting(afterType),
	},
}

func TestStructureFaults(t *testing.T) {
	t.Parallel()
	for name, tt := range structureFaults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkFault(t, tt.body, wire.CodeSchema, tt.want)
		})
	}
}

var long = strings.Repeat("a", 21)

var valueFaults = map[string]struct{ body, want string }{
	"too long": {
		sale("<order><invoiceNumber>" + long + "</invoiceNumber></order>"),
		value("invoiceNumber", long, "String", tooLong),
	},
	"too short": {
		sale("<lineItems><lineItem><itemId/></lineItem></lineItems>"),
		value("itemId", "", "String", tooShort),
	},
	"short card": {card("<cardNumber>12</cardNumber>"), value("cardNumber", "12", "String", tooShort)},
	"empty card": {card("<cardNumber/>"), value("cardNumber", "", "String", tooShort)},
	"long card": {
		card("<cardNumber>41111111111111112</cardNumber>"),
		value("cardNumber", "XXXXXXXXXXXXX1112", "String", tooLong),
	},
	"code letters": {card(dated + "<cardCode>12a</cardCode>"), value("cardCode", "XXX", ns+":cardCode", badPattern)},
	"code long":    {card(dated + "<cardCode>12345</cardCode>"), value("cardCode", "XXXXX", ns+":cardCode", tooLong)},
	"code short":   {card(dated + "<cardCode>12</cardCode>"), value("cardCode", "12", ns+":cardCode", tooShort)},
	"code empty":   {card(dated + "<cardCode/>"), value("cardCode", "", ns+":cardCode", badPattern)},
	"pattern": {
		root("getTransactionDetailsRequest", auth+"<transId>12b</transId>"),
		value("transId", "12b", ns+":numericString", badPattern),
	},
	"pattern empty": {
		root("getTransactionDetailsRequest", auth+"<transId/>"),
		value("transId", "", ns+":numericString", badPattern),
	},
	"decimal": {
		sale("<amount>1e2</amount>"),
		value("amount", "1e2", xsDecimal, "The string '1e2' is not a valid Decimal value."),
	},
	"empty decimal": {sale("<amount/>"), value("amount", "", xsDecimal, "The string '' is not a valid Decimal value.")},
	"blank decimal": {
		sale("<amount> </amount>"),
		value("amount", " ", xsDecimal, "The string '' is not a valid Decimal value."),
	},
	"huge decimal": {
		sale("<amount>" + strings.Repeat("9", 30) + "</amount>"),
		value("amount", strings.Repeat("X", 26)+"9999", xsDecimal,
			"The string '"+strings.Repeat("X", 26)+"9999' is not a valid Decimal value."),
	},
	"negative": {
		sale("<tax><amount>-0.01</amount></tax>"),
		value("amount", "-0.01", "Decimal", "The MinInclusive constraint failed."),
	},
	"fraction": {
		sale("<tax><amount>1.00001</amount></tax>"),
		value("amount", "1.00001", "Decimal", "The FractionDigits constraint failed."),
	},
	"rate": {
		sale("<otherTax><vatTaxRate>12345.6</vatTaxRate></otherTax>"),
		value("vatTaxRate", "12345.6", "Decimal", "The TotalDigits constraint failed."),
	},
	"boolean": {
		sale("<taxExempt>TRUE</taxExempt>"),
		value("taxExempt", "TRUE", "Boolean", "The string 'TRUE' is not a valid Boolean value."),
	},
	"date": {
		sale("<order><purchaseOrderDateUTC>2026-02-30</purchaseOrderDateUTC></order>"),
		value("purchaseOrderDateUTC", "2026-02-30", "http://www.w3.org/2001/XMLSchema:date",
			"The string '2026-02-30' is not a valid XsdDateTime value."),
	},
	"instant": {
		sale("<payment><opaqueData><dataDescriptor/><dataValue/><expirationTimeStamp>soon</expirationTimeStamp>" +
			"</opaqueData></payment>"),
		value("expirationTimeStamp", "soon", "http://www.w3.org/2001/XMLSchema:dateTime",
			"The string 'soon' is not a valid XsdDateTime value."),
	},
	"indicator": {
		sale("<authorizationIndicatorType><authorizationIndicator/></authorizationIndicatorType>"),
		value("authorizationIndicator", "", ns+":authIndicatorEnum", "The Enumeration constraint failed."),
	},
	"enum": {
		sale("<customer><type>robot</type></customer>"),
		value("type", "robot", ns+":customerTypeEnum", "The Enumeration constraint failed."),
	},
	"key": {withKey("k1234567890123456"), value("transactionKey", "XXXXXXXXXXXXX3456", "String", tooLong)},
	"api key": {
		withKey("sk_" + strings.Repeat("a", 253)),
		value("transactionKey", strings.Repeat("X", 252)+"aaaa", "String", tooLong),
	},
	"login": {root("authenticateTestRequest", "<merchantAuthentication><name>"+long+"12345</name>"+
		"</merchantAuthentication>"), value("name", long+"12345", "String", tooLong)},
	"ref": {root("authenticateTestRequest", auth+"<refId>"+long+"</refId>"), value("refId", long, "String", tooLong)},
	"pan astray": {
		sale("<order><invoiceNumber>4111 1111-1111 1111 xx</invoiceNumber></order>"),
		value("invoiceNumber", "XXXX XXXX-XXXX 1111 xx", "String", tooLong),
	},
}

func TestValueFaults(t *testing.T) {
	t.Parallel()
	for name, tt := range valueFaults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkFault(t, tt.body, wire.CodeSchema, tt.want)
		})
	}
}

const dated = "<cardNumber>4111111111111111</cardNumber><expirationDate>2031-04</expirationDate>"

func withKey(key string) string {
	return root("authenticateTestRequest",
		"<merchantAuthentication><name>n</name><transactionKey>"+key+"</transactionKey></merchantAuthentication>")
}

// checkFault parses body and compares code and text. It also searches the text in the escaped
// document.
func checkFault(t *testing.T, body, code, want string) {
	t.Helper()
	req, fault := wire.Parse([]byte(body), wire.Options{})
	if fault == nil {
		t.Fatalf("accepted: %v", req)
	}
	if fault.Code != code || fault.Text != want {
		t.Errorf("got %s %s\nwant %s %s", fault.Code, fault.Text, code, want)
	}
	escaped := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(want)
	if fault.Format == wire.XML && !strings.Contains(string(fault.Bytes()), "<text>"+escaped+"</text>") {
		t.Errorf("document %s lacks %s", fault.Bytes(), escaped)
	}
}

func TestAccepted(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"plain amount":     sale("<amount>1</amount>"),
		"signed amount":    sale("<amount>+1.00</amount>"),
		"spaced amount":    sale("<amount> 1.00\n</amount>"),
		"dotted amount":    sale("<amount>.5</amount>"),
		"unknown type":     create("<transactionType>teleport</transactionType>"),
		"odd refTransId":   sale("<refTransId>not a number</refTransId>"),
		"empty refTransId": sale("<refTransId/>"),
		"empty optionals":  sale("<order><invoiceNumber/><description/></order><customer/><billTo><address/></billTo>"),
		"indented empties": sale("<customer>\n </customer><billTo>\n</billTo>"),
		"no credentials":   root("authenticateTestRequest", "<merchantAuthentication/>"),
		"name alone": root("authenticateTestRequest",
			"<merchantAuthentication><name>n</name></merchantAuthentication>"),
		"other credentials": root("authenticateTestRequest",
			"<merchantAuthentication><accessToken>t</accessToken><mobileDeviceId>m</mobileDeviceId></merchantAuthentication>"),
		"api key":   withKey("sk_test_" + strings.Repeat("a", 200)),
		"client id": root("authenticateTestRequest", auth+"<clientId>sdk-java-2.0.3</clientId><refId/>"),
		"schema instance": strings.Replace(sale(`<amount xsi:type="d">1</amount>`), "xmlns=",
			`xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="a b" xmlns=`, 1),
		"language": sale(`<amount xml:lang="en">1</amount>`),
		"prefixed": `<p:authenticateTestRequest xmlns:p="` + ns +
			`"><p:merchantAuthentication/></p:authenticateTestRequest>`,
		"wide characters": sale("<order><invoiceNumber>" + strings.Repeat("å", 20) + "</invoiceNumber></order>"),
		"emv holds anything": sale("<payment><emv><emvData><x><y/></x></emvData><emvDescriptor>d</emvDescriptor>" +
			"<emvVersion/></emv></payment>"),
		"dated order": sale("<order><purchaseOrderDateUTC>2026-02-28Z</purchaseOrderDateUTC></order>"),
		"declaration": "\xef\xbb\xbf \n" + `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n" + sale(""),
		"json": `{"authenticateTestRequest":{"merchantAuthentication":{"name":7,"transactionKey":null},` +
			`"clientId":[],"refId":null}}`,
	}
	for name, body := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, fault := wire.Parse([]byte(body), wire.Options{}); fault != nil {
				t.Errorf("refused: %s %s", fault.Code, fault.Text)
			}
		})
	}
}

// TestFaultHidesAPIKeys: clients easily swap a login's name and key.
func TestFaultHidesAPIKeys(t *testing.T) {
	t.Parallel()
	const key = "sk_test_U9yHh0JxwZ7b5rT2kQ8mN4vC1aS6dF3gL0pXyZ12"
	for _, body := range []string{
		root("authenticateTestRequest", "<merchantAuthentication><name>"+key+"</name></merchantAuthentication>"),
		root("authenticateTestRequest", auth+"<refId>"+key+"</refId>"),
		`{"authenticateTestRequest":{"merchantAuthentication":{"name":"` + key + `"}}}`,
	} {
		_, fault := wire.Parse([]byte(body), wire.Options{})
		if fault == nil || strings.Contains(fault.Text, "U9yHh0") || !strings.Contains(fault.Text, "sk_test_XXXX") {
			t.Errorf("got %v, want a fault that shows what it was alone", faultText(fault))
		}
	}
}
