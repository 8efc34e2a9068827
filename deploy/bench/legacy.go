package bench

import (
	"strings"
	"time"

	"github.com/causeway-pay/causeway/deploy/bench/load"
)

// invoiceWidth is the length of the invoice number. No two payments share it: provider-a would
// treat the second as a duplicate, provider-b as a retry.
const invoiceWidth = 20

// dialect is a legacy payment of P5, and the same payment of v1.
type dialect struct {
	name    string
	path    string
	headers []string
	body    string // with {slot} for the invoice number, {name} and {key} for the login
	want    load.Want
	signed  bool // by HTTP signature

	plain     string // the body of v1
	plainWant load.Want
}

// dialects returns the payments that P5 measures.
func dialects() []dialect {
	return []dialect{
		{
			name: "provider-a XML", path: "/compat/provider-a/xml",
			headers: []string{"Content-Type: text/xml; charset=utf-8"}, body: saleXML,
			want:  load.Want{Status: 200, Contains: []byte("<responseCode>1</responseCode>")},
			plain: saleV1, plainWant: created(false),
		},
		{
			name: "provider-b JSON", path: "/compat/provider-b" + signedPath,
			headers: signedHeaders, body: authorizationJSON, signed: true,
			want:  load.Want{Status: 201, Contains: []byte(`"status":"AUTHORIZED"`)},
			plain: authorizationV1, plainWant: load.Want{Status: 201, Contains: []byte(`"status":"authorized"`)},
		},
	}
}

const (
	saleXML = `<?xml version="1.0" encoding="utf-8"?>` +
		`<createTransactionRequest xmlns="AnetApi/xml/v1/schema/AnetApiSchema.xsd">` +
		`<merchantAuthentication><name>{name}</name><transactionKey>{key}</transactionKey></merchantAuthentication>` +
		`<refId>ord-1001</refId><transactionRequest>` +
		`<transactionType>authCaptureTransaction</transactionType><amount>24.50</amount><payment><creditCard>` +
		`<cardNumber>4111111111111111</cardNumber><expirationDate>2032-12</expirationDate>` +
		`<cardCode>900</cardCode></creditCard></payment><order><invoiceNumber>{slot}</invoiceNumber>` +
		`<description>Two mugs</description></order>` +
		`<billTo><firstName>Ana</firstName><lastName>Ruiz</lastName><address>1 Elm St</address><zip>98004</zip></billTo>` +
		`</transactionRequest></createTransactionRequest>`
	authorizationJSON = `{"clientReferenceInformation":{"code":"{slot}"},"processingInformation":{"capture":false,` +
		`"commerceIndicator":"internet"},"paymentInformation":{"card":{"number":"4111111111111111","expirationMonth":"12",` +
		`"expirationYear":"2031","securityCode":"123","type":"001"}},` +
		`"orderInformation":{"amountDetails":{"totalAmount":"102.21","currency":"USD"},"billTo":{"firstName":"Ana",` +
		`"lastName":"Lopez","address1":"1 Main St","locality":"Austin",` +
		`"administrativeArea":"TX","postalCode":"73301","country":"US","email":"ana@example.com"}}}`
	// saleV1 and authorizationV1 are the same payments in v1. saleKey is an Idempotency-Key as long
	// as the key that compat-proxy sends.
	saleV1 = `{"amount":2450,"currency":"usd","payment_method":"card",` +
		`"card":{"number":"4111111111111111","exp_month":12,"exp_year":2032,"cvc":"900"},"capture":"automatic",` +
		`"reference":"{slot}","description":"Two mugs",` +
		`"billing":{"first_name":"Ana","last_name":"Ruiz","address":{"line1":"1 Elm St","postal_code":"98004"}},` +
		`"metadata":{"client_reference":"ord-1001"}}`
	authorizationV1 = `{"amount":10221,"currency":"usd","payment_method":"card",` +
		`"card":{"number":"4111111111111111","exp_month":12,"exp_year":2031,"cvc":"123"},"capture":"manual",` +
		`"reference":"{slot}","billing":{"first_name":"Ana","last_name":"Lopez","email":"ana@example.com",` +
		`"address":{"line1":"1 Main St","city":"Austin","state":"TX","postal_code":"73301","country":"US"}}}`
	saleKey = "once-000000000000000000000000000000{slot}"
)

// request returns the legacy payment at compat-proxy, made at now.
func (d dialect) request(p *proxies, now time.Time) *load.Request {
	a, b := p.core.ProviderA, p.core.ProviderB
	headers := d.headers
	if d.signed {
		headers = signedBy(b, headers, now)
	}
	body := strings.NewReplacer("{name}", a.Name, "{key}", a.TransactionKey).Replace(d.body)
	r := must(load.NewRequest("POST", p.compat.addr, d.path, headers, body, invoiceWidth))
	if d.signed {
		sign(r, p.compat.addr, b, now)
	}
	return r
}

// plainRequest returns the payment of v1 at the other proxy.
func (d dialect) plainRequest(p *proxies) *load.Request {
	headers := []string{
		"Authorization: Bearer " + p.core.key, "Content-Type: application/json", "Idempotency-Key: " + saleKey,
	}
	return must(load.NewRequest("POST", p.bare.addr, "/v1/transactions", headers, d.plain, invoiceWidth))
}
