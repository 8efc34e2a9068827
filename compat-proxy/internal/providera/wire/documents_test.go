package wire_test

import (
	"maps"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
)

// response returns a response with one message.
func response(root, refID, result, code, text string, own ...*wire.Element) *wire.Document {
	d := &wire.Document{
		Root: root, ResultCode: result,
		Messages: []wire.Message{{Code: code, Text: text}}, Own: own,
	}
	if refID != "-" {
		d.RefID = &refID
	}
	return d
}

func transactionResponse(refID, result, code, text string, members ...*wire.Element) *wire.Document {
	return response("createTransactionResponse", refID, result, code, text,
		wire.GroupElement("transactionResponse", members...))
}

func approved(refID string, members ...*wire.Element) *wire.Document {
	return transactionResponse(refID, "Ok", "I00001", "Successful.", members...)
}

func unsuccessful(refID string, members ...*wire.Element) *wire.Document {
	return transactionResponse(refID, "Error", "E00027", "The transaction was unsuccessful.", members...)
}

// head returns the elements with which every transactionResponse begins.
func head(code, auth, avs, cvv, cavv, id, ref, account, brand string) []*wire.Element {
	return texts("responseCode", code, "authCode", auth, "avsResultCode", avs, "cvvResultCode", cvv,
		"cavvResultCode", cavv, "transId", id, "refTransID", ref, "transHash", "", "testRequest", "0",
		"accountNumber", account, "accountType", brand)
}

// texts makes text elements from names and values, which alternate in the arguments.
func texts(pairs ...string) []*wire.Element {
	var out []*wire.Element
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, wire.TextElement(pairs[i], pairs[i+1]))
	}
	return out
}

func group(name string, pairs ...string) *wire.Element {
	return wire.GroupElement(name, texts(pairs...)...)
}

func approval() *wire.Element {
	return wire.ListElement("messages",
		group("message", "code", "1", "description", "This transaction has been approved."))
}

func failure(code, text string) *wire.Element {
	return wire.ListElement("errors", group("error", "errorCode", code, "errorText", text))
}

func supplemental() *wire.Element {
	e := wire.RawElement("SupplementalDataQualificationIndicator", "0")
	e.JSONOnly = true
	return e
}

// documents returns the responses of the contract's examples that reach a method.
func documents() map[string]*wire.Document {
	docs := map[string]*wire.Document{
		"x8-details": detailsXML(),
		"x9-profile": profileCreated("905512340", []string{"906650021"}, []string{"907700010"}, nil),
		"x9-duplicate": response("createCustomerProfileResponse", "-", "Error", "E00039",
			"A duplicate record with ID 905512340 already exists.", profileLists(nil, nil, nil)...),
		"j3-details": detailsJSON(),
		"j4-profile": profileCreated("905512341", []string{"906650022"}, nil, []string{
			"1,1,1,(TESTMODE) This transaction has been approved.,000000,P,0,none," +
				"Test transaction for ValidateCustomerPaymentProfile.,1.00,CC,auth_only,cust-43,,,,,,,,,,," +
				"bo@example.org,,,,,,,,,0.00,0.00,0.00,FALSE,none,,,,,,,,,,,,,,XXXX1111,Visa,,,,,,,,,,,,,,,,",
		}),
	}
	maps.Copy(docs, transactionDocuments())
	return docs
}

// transactionDocuments returns the responses of createTransaction.
func transactionDocuments() map[string]*wire.Document {
	sha := wire.TextElement("transHashSha2", "")
	return map[string]*wire.Document{
		"x1-sale": approved("ord-1001", append(
			head("1", "K7Q2ZD", "Y", "M", "2", "60410000123", "", "XXXX1111", "Visa"),
			approval(),
			wire.ListElement("userFields", group("userField", "name", "cart", "value", "c9")),
			sha, supplemental(), wire.TextElement("networkTransId", "Q4D8ZK1T0V7MB2X9RJ5CYWN"),
		)...),
		"x2-declined": approved("ord-1002", append(
			head("2", "", "Y", "P", "2", "60410000124", "", "XXXX1111", "Visa"),
			failure("2", "This transaction has been declined."), sha, supplemental(),
		)...),
		"x3-credentials": transactionResponse("ord-1003", "Error", "E00007",
			"User authentication failed due to invalid authentication values.", supplemental()),
		"x5-capture": approved("", append(
			head("1", "T3B9LW", "P", "", "", "60410000130", "60410000130", "XXXX0015", "MasterCard"),
			approval(), sha, supplemental(),
		)...),
		"x6-refund": unsuccessful("-", append(
			head("3", "", "P", "", "", "0", "60410000123", "XXXX1111", "Visa"),
			failure("54", "The referenced transaction does not meet the criteria for issuing a credit."),
			sha, supplemental(),
		)...),
		"x7-void": approved("-", append(
			head("1", "K7Q2ZD", "P", "", "", "60410000123", "60410000123", "XXXX1111", "Visa"),
			approval(), sha, supplemental(),
		)...),
		"j1-authorise": approved("j1", append(
			head("1", "H1N4XS", "Y", "P", "2", "60410000150", "", "XXXX0015", "MasterCard"),
			approval(), sha, supplemental(),
			wire.TextElement("networkTransId", "B8C3M0R5T7V1X9Z2L4N6PQW"),
		)...),
		"j2-duplicate": unsuccessful("j2", append(
			head("3", "", "P", "", "", "0", "", "XXXX0015", "MasterCard"),
			failure("11", "A duplicate transaction has been submitted."), sha, supplemental(),
		)...),
		"j2-credentials": transactionResponse("j2", "Error", "E00007",
			"User authentication failed due to invalid authentication values.", supplemental()),
	}
}

func list(name, item string, values []string) *wire.Element {
	e := wire.ListElement(name)
	for _, v := range values {
		e.Add(wire.TextElement(item, v))
	}
	return e
}

func profileLists(payment, shipping, direct []string) []*wire.Element {
	return []*wire.Element{
		list("customerPaymentProfileIdList", "numericString", payment),
		list("customerShippingAddressIdList", "numericString", shipping),
		list("validationDirectResponseList", "string", direct),
	}
}

func profileCreated(id string, payment, shipping, direct []string) *wire.Document {
	own := append(texts("customerProfileId", id), profileLists(payment, shipping, direct)...)
	return response("createCustomerProfileResponse", "-", "Ok", "I00001", "Successful.", own...)
}

func raws(pairs ...string) []*wire.Element {
	var out []*wire.Element
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, wire.RawElement(pairs[i], pairs[i+1]))
	}
	return out
}

// joined concatenates runs of elements.
func joined(runs ...[]*wire.Element) []*wire.Element {
	var out []*wire.Element
	for _, r := range runs {
		out = append(out, r...)
	}
	return out
}

func maskedCard() *wire.Element {
	return wire.GroupElement("payment",
		group("creditCard", "cardNumber", "XXXX0015", "expirationDate", "XXXX", "cardType", "MasterCard"))
}

func details(refID string, members ...[]*wire.Element) *wire.Document {
	return response("getTransactionDetailsResponse", refID, "Ok", "I00001", "Successful.",
		wire.GroupElement("transaction", joined(members...)...))
}

func detailsXML() *wire.Document {
	order := wire.GroupElement("order", joined(texts("invoiceNumber", "INV-81"),
		raws("discountAmount", "0.0", "taxIsAfterDiscount", "false"))...)
	return details("-",
		texts("transId", "60410000130", "submitTimeUTC", "2026-03-02T15:04:05.7Z",
			"submitTimeLocal", "2026-03-02T07:04:05.7", "transactionType", "authOnlyTransaction",
			"transactionStatus", "capturedPendingSettlement"),
		raws("responseCode", "1", "responseReasonCode", "1"),
		texts("responseReasonDescription", "Approval", "authCode", "T3B9LW", "AVSResponse", "Y", "cardCodeResponse", "P"),
		[]*wire.Element{order},
		raws("authAmount", "25.00", "settleAmount", "20.00", "taxExempt", "false"),
		[]*wire.Element{maskedCard(), group("billTo", "firstName", "Ana", "lastName", "Ruiz", "address", "1 Elm St", "zip",
			"98004")},
		raws("recurringBilling", "false"),
		texts("product", "Card Not Present", "marketType", "eCommerce",
			"networkTransId", "W2H6PQ9X4LC0Y8ZT3NRD7KM", "authorizationIndicator", "pre"),
	)
}

func detailsJSON() *wire.Document {
	item := wire.GroupElement("lineItem", joined(texts("itemId", "1", "name", "mug"),
		raws("quantity", "2.00000", "unitPrice", "6.25"))...)
	return details("j3",
		texts("transId", "60410000150", "submitTimeUTC", "2026-03-02T15:10:00Z",
			"submitTimeLocal", "2026-03-02T07:10:00", "transactionType", "authOnlyTransaction",
			"transactionStatus", "authorizedPendingCapture"),
		raws("responseCode", "1", "responseReasonCode", "1"),
		texts("responseReasonDescription", "Approval", "authCode", "H1N4XS", "AVSResponse", "Y", "cardCodeResponse", "P"),
		raws("authAmount", "12.50", "settleAmount", "12.50"),
		[]*wire.Element{wire.ListElement("lineItems", item)},
		raws("taxExempt", "false"),
		[]*wire.Element{maskedCard()},
		raws("recurringBilling", "false"),
		texts("product", "Card Not Present", "marketType", "eCommerce",
			"networkTransId", "B8C3M0R5T7V1X9Z2L4N6PQW", "authorizationIndicator", "pre"),
	)
}
