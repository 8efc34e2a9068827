package bench

import (
	"strings"

	"github.com/causeway-pay/causeway/deploy/standalone/internal/bench/load"
)

// invoiceWidth is the length of the invoice number, which no two payments share: provider-a would take the second for a duplicate.
const invoiceWidth = 20

// dialect is a way to ask compat-proxy for P5's payment.
type dialect struct {
	name    string
	path    string
	headers []string
	body    string // with {slot} for the invoice number, and for the login what the server's is
	want    load.Want
	reach   bool // the design says what it has to reach; else it is shown for information
}

// dialects are those that P5 measures; another one is another entry.
func dialects() []dialect {
	return []dialect{
		{
			name: "provider-a XML", path: "/compat/provider-a/xml", headers: []string{"Content-Type: text/xml; charset=utf-8"}, body: saleXML,
			want: load.Want{Status: 200, Contains: []byte("<responseCode>1</responseCode>")}, reach: true,
		},
		{
			name: "provider-a JSON", path: "/compat/provider-a/xml", headers: []string{"Content-Type: application/json"}, body: saleJSON,
			want: load.Want{Status: 200, Contains: []byte(`"responseCode":"1"`)},
		},
	}
}

const (
	saleXML = `<?xml version="1.0" encoding="utf-8"?>` +
		`<createTransactionRequest xmlns="AnetApi/xml/v1/schema/AnetApiSchema.xsd"><merchantAuthentication><name>{name}</name>` +
		`<transactionKey>{key}</transactionKey></merchantAuthentication><refId>ord-1001</refId><transactionRequest>` +
		`<transactionType>authCaptureTransaction</transactionType><amount>24.50</amount><payment><creditCard>` +
		`<cardNumber>4111111111111111</cardNumber><expirationDate>2032-12</expirationDate><cardCode>900</cardCode></creditCard></payment>` +
		`<order><invoiceNumber>{slot}</invoiceNumber><description>Two mugs</description></order><billTo><firstName>Ana</firstName>` +
		`<lastName>Ruiz</lastName><address>1 Elm St</address><zip>98004</zip></billTo></transactionRequest></createTransactionRequest>`
	saleJSON = `{"createTransactionRequest":{"merchantAuthentication":{"name":"{name}","transactionKey":"{key}"},"refId":"ord-1001",` +
		`"transactionRequest":{"transactionType":"authCaptureTransaction","amount":"24.50","payment":{"creditCard":{` +
		`"cardNumber":"4111111111111111","expirationDate":"2032-12","cardCode":"900"}},"order":{"invoiceNumber":"{slot}",` +
		`"description":"Two mugs"},"billTo":{"firstName":"Ana","lastName":"Ruiz","address":"1 Elm St","zip":"98004"}}}}`
	// saleV1 is the same payment as v1 takes it, and saleKey an Idempotency-Key as long as the one that compat-proxy sends.
	saleV1 = `{"amount":2450,"currency":"usd","payment_method":"card","card":{"number":"4111111111111111","exp_month":12,"exp_year":2032,` +
		`"cvc":"900"},"capture":"automatic","reference":"{slot}","description":"Two mugs","billing":{"first_name":"Ana","last_name":"Ruiz",` +
		`"address":{"line1":"1 Elm St","postal_code":"98004"}},"metadata":{"client_reference":"ord-1001"}}`
	saleKey = "once-000000000000000000000000000000{slot}"
)

// request is the dialect's payment, sent to a proxy at addr with the legacy login of s.
func (d dialect) request(addr string, s *server) (*load.Request, error) {
	login := strings.NewReplacer("{name}", s.Legacy.Name, "{key}", s.Legacy.TransactionKey)
	return load.NewRequest("POST", addr, d.path, d.headers, login.Replace(d.body), invoiceWidth)
}

// plainSale is the payment in v1's own terms, sent to addr.
func plainSale(addr string, s *server) (*load.Request, error) {
	headers := []string{"Authorization: Bearer " + s.Key, "Content-Type: application/json", "Idempotency-Key: " + saleKey}
	return load.NewRequest("POST", addr, "/v1/transactions", headers, saleV1, invoiceWidth)
}
