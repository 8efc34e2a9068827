package standalone_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestRESTSandbox sends the test requests of merchants to a sandbox in the REST dialect, and checks
// the responses.
func TestRESTSandbox(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	d := restClientOf(t, p)
	pay := withAddress(restPayment("102.21", "USD", false, ""))
	other := func(old, text string) string { return strings.Replace(pay, old, text, 1) }
	bank := func(number, routing string) string {
		return strings.Replace(strings.Replace(pay,
			`"card":{"number":"4111111111111111","expirationMonth":"12","expirationYear":"2031"}`,
			`"bank":{"account":{"type":"C","number":"`+number+`"},"routingNumber":"`+routing+`"}`, 1), `"billTo":{`,
			`"billTo":{"lastName":"Lopez",`, 1)
	}
	large := func(body string) string { return strings.Replace(body, "102.21", "5000.01", 1) }
	unnamed := strings.Replace(bank("4100", "121042882"), "billTo", "nobody", 1)
	for _, tt := range []struct{ name, body, want string }{
		{"Visa", pay, `"status":"AUTHORIZED"`},
		{"Mastercard", other("4111111111111111", "5555555555554444"), `"type":"002"`},
		{"Mastercard of the second range", other("4111111111111111", "2222420000001113"), `"type":"002"`},
		{"American Express", other("4111111111111111", "378282246310005"), `"type":"003"`},
		{"Discover", other("4111111111111111", "6011111111111117"), `"type":"004"`},
		{"JCB", other("4111111111111111", "3566111111111113"), `"type":"007"`},
		{"Maestro", other("4111111111111111", "50339619890917"), `"status":"AUTHORIZED"`},
		{"Maestro of 18 digits", other("4111111111111111", "586824160825533338"), `"status":"AUTHORIZED"`},
		{"UK Maestro", other("4111111111111111", "6759560045005727054"), `"status":"AUTHORIZED"`},
		{"Carnet", other("4111111111111111", "5062280000000002"), `"status":"AUTHORIZED"`},
		{"check digit", other("4111111111111111", "4111111111111112"), `"reason":"INVALID_ACCOUNT"`},
		{"21 digits", other("4111111111111111", "411111111111111111111"), `"reason":"INVALID_ACCOUNT"`},
		{"17 digits that pass", other("4111111111111111", "42423482938483873"), `"reason":"INVALID_ACCOUNT"`},
		{"no number", other(`"number":"4111111111111111",`, ""), `"reason":"MISSING_FIELD"`},
		{"below nothing", other("102.21", "-1"), `"reason":"INVALID_DATA"`},
		{"too much", other("102.21", "100000000000"), `"reason":"INVALID_DATA"`},
		{"month 13", other(`"expirationMonth":"12"`, `"expirationMonth":"13"`), `"reason":"INVALID_DATA"`},
		{"year 1998", other("2031", "1998"), `"reason":"EXPIRED_CARD"`},
		{"zero", other("102.21", "0.00"), `"authorizedAmount":"0.00"`},
		{"yen", strings.Replace(other("102.21", "100.00"), "USD", "JPY", 1), `"authorizedAmount":"100"`},
		{"dinar", strings.Replace(other("102.21", "6.4"), "USD", "JOD", 1), `"authorizedAmount":"6.400"`},
		{"ZIP 46282", other("73301", "46282"), `"reason":"PROCESSOR_DECLINED"`},
		{"address that does not match", other("73301", "46205"), `"status":"AUTHORIZED_PENDING_REVIEW"`},
		{"bank debit", bank("4100", "121042882"), `"status":"PENDING"`},
		{"bank debit over the simulator's limit", large(bank("4100", "121042882")), `"reason":"GENERAL_DECLINE"`},
		{"bank account without a name", unnamed, `"field":"orderInformation.billTo.country"`},
		{"bank account that declines", bank("550111", "121107882"), `"reason":"GENERAL_DECLINE"`},
	} {
		a, err := d.do(t.Context(), http.MethodPost, restPayments, tt.body)
		if err != nil || !strings.Contains(a.Body, tt.want) {
			t.Errorf("%s: got %d %s, error %v, want %s in it", tt.name, a.HTTP, a.Body, err, tt.want)
		}
	}
}
