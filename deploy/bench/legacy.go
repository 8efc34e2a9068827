package bench

import (
	"slices"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/deploy/bench/load"
)

// invoiceWidth is the length of the invoice number, which no two payments share: provider-a would take the second for a duplicate, provider-b
// for the same request again.
const invoiceWidth = 20

// dialect is a way to ask compat-proxy for one of P5's payments.
type dialect struct {
	name    string
	path    string
	headers []string
	body    string // with {slot} for the invoice number, and for the login what the server's is
	want    load.Want
	bare    payload
	signed  bool // by HTTP signature
	reach   bool // the design says what it has to reach; else it is shown for information
}

// payload is a payment of P5 as v1 takes it: what the dialects are measured against.
type payload struct {
	name, body string
	want       load.Want
}

func sale() payload { return payload{"sale", saleV1, created(false)} }

func authorization() payload {
	return payload{"authorization", authorizationV1, load.Want{Status: 201, Contains: []byte(`"status":"authorized"`)}}
}

// dialects are those that P5 measures; another one is another entry.
func dialects() []dialect {
	return []dialect{
		{
			name: "provider-a XML", path: "/compat/provider-a/xml", headers: []string{"Content-Type: text/xml; charset=utf-8"}, body: saleXML,
			want: load.Want{Status: 200, Contains: []byte("<responseCode>1</responseCode>")}, bare: sale(), reach: true,
		},
		{
			name: "provider-a JSON", path: "/compat/provider-a/xml", headers: []string{"Content-Type: application/json"}, body: saleJSON,
			want: load.Want{Status: 200, Contains: []byte(`"responseCode":"1"`)}, bare: sale(),
		},
		{
			name: "provider-b JSON", path: "/compat/provider-b" + signedPath, headers: signedHeaders, body: authorizationJSON, signed: true,
			want: load.Want{Status: 201, Contains: []byte(`"status":"AUTHORIZED"`)}, bare: authorization(), reach: true,
		},
	}
}

// bares are the payments that the dialects are measured against, each once.
func bares() (all []payload) {
	for _, d := range dialects() {
		if place(all, d.bare) < 0 {
			all = append(all, d.bare)
		}
	}
	return all
}

func place(among []payload, p payload) int {
	return slices.IndexFunc(among, func(other payload) bool { return other.name == p.name })
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
	authorizationJSON = `{"clientReferenceInformation":{"code":"{slot}"},"processingInformation":{"capture":false,` +
		`"commerceIndicator":"internet"},"paymentInformation":{"card":{"number":"4111111111111111","expirationMonth":"12",` +
		`"expirationYear":"2031","securityCode":"123","type":"001"}},"orderInformation":{"amountDetails":{"totalAmount":"102.21",` +
		`"currency":"USD"},"billTo":{"firstName":"Ana","lastName":"Lopez","address1":"1 Main St","locality":"Austin",` +
		`"administrativeArea":"TX","postalCode":"73301","country":"US","email":"ana@example.com"}}}`
	// saleV1 and authorizationV1 are the same payments as v1 takes them, and saleKey is an Idempotency-Key as long as the one that compat-proxy sends.
	saleV1 = `{"amount":2450,"currency":"usd","payment_method":"card","card":{"number":"4111111111111111","exp_month":12,"exp_year":2032,` +
		`"cvc":"900"},"capture":"automatic","reference":"{slot}","description":"Two mugs","billing":{"first_name":"Ana","last_name":"Ruiz",` +
		`"address":{"line1":"1 Elm St","postal_code":"98004"}},"metadata":{"client_reference":"ord-1001"}}`
	authorizationV1 = `{"amount":10221,"currency":"usd","payment_method":"card","card":{"number":"4111111111111111","exp_month":12,` +
		`"exp_year":2031,"cvc":"123"},"capture":"manual","reference":"{slot}","billing":{"first_name":"Ana","last_name":"Lopez",` +
		`"email":"ana@example.com","address":{"line1":"1 Main St","city":"Austin","state":"TX","postal_code":"73301","country":"US"}}}`
	saleKey = "once-000000000000000000000000000000{slot}"
)

// request is the dialect's payment, sent to a proxy at addr with the legacy login of s.
func (d dialect) request(addr string, s *server, now time.Time) (*load.Request, error) {
	login := strings.NewReplacer("{name}", s.Legacy.Name, "{key}", s.Legacy.TransactionKey)
	headers := d.headers
	if d.signed {
		headers = signedBy(s.Signer, headers, now)
	}
	r, err := load.NewRequest("POST", addr, d.path, headers, login.Replace(d.body), invoiceWidth)
	if err != nil || !d.signed {
		return r, err
	}
	return r, sign(r, addr, s.Signer, now)
}

// request is the payment in v1's own terms, sent to addr.
func (p payload) request(addr string, s *server) (*load.Request, error) {
	headers := []string{"Authorization: Bearer " + s.Key, "Content-Type: application/json", "Idempotency-Key: " + saleKey}
	return load.NewRequest("POST", addr, "/v1/transactions", headers, p.body, invoiceWidth)
}
