package specification_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// method is a row of the specification's tables of compatibility methods.
type method struct {
	provider, name, path, mapsTo, effect, scopes string
}

var methods = []method{
	{
		"provider-a", "createTransactionRequest", "/compat/provider-a/xml",
		"payment.authorize, payment.capture, payment.void, payment.refund", "money_movement",
		"payments:authorize, compat:use",
	},
	{
		"provider-a", "getTransactionDetailsRequest", "/compat/provider-a/xml", "transaction.get", "read_only",
		"transactions:read, compat:use",
	},
	{
		"provider-a", "createCustomerProfileRequest", "/compat/provider-a/xml", "customer.create, token.create", "write_safe",
		"customers:write, compat:use",
	},
	{
		"provider-b", "createPayment", "/compat/provider-b/pts/v2/payments", "payment.authorize, payment.capture",
		"money_movement", "payments:authorize, compat:use",
	},
	{
		"provider-b", "capturePayment", "/compat/provider-b/pts/v2/payments/{id}/captures", "payment.capture",
		"money_movement", "payments:capture, compat:use",
	},
	{
		"provider-b", "reversePayment", "/compat/provider-b/pts/v2/payments/{id}/reversals", "payment.void",
		"money_movement", "payments:authorize, compat:use",
	},
	{
		"provider-b", "refundPayment", "/compat/provider-b/pts/v2/payments/{id}/refunds", "payment.refund",
		"money_movement", "refunds:create, compat:use",
	},
}

// methodNamed returns the row of a method.
func methodNamed(name string) method {
	return methods[slices.IndexFunc(methods, func(m method) bool { return m.name == name })]
}

// TestCompat has the rows of the compatibility endpoints.
func TestCompat(t *testing.T) {
	t.Parallel()
	run(t, []row{
		{"Method | Maps to | Side effect class | Scopes required", testMethods},
		{"All three methods share one REST endpoint: `POST /compat/provider-a/xml`", testProviderA},
		{"Each also has an RPC name `compat.provider-a.<method>`", testRPC},
		{"`{id}` is the identifier of the payment (string path segment)", testProviderB},
		{"Every API request is authenticated with a key sent as `Authorization: Bearer <API_KEY>`", testBearer},
		{"Compatibility methods additionally require the scopes …, including `compat:use`", testScopes},
		{"A POST request may carry the header `Idempotency-Key` with a unique value", testIdempotencyKeys},
	})
}

// testMethods compares the published methods with the specification's.
func testMethods(s *service) {
	type published struct {
		Provider   string   `json:"provider"`
		Name       string   `json:"name"`
		Method     string   `json:"http_method"`
		Path       string   `json:"path"`
		RPC        string   `json:"rpc"`
		MapsTo     []string `json:"maps_to"`
		SideEffect string   `json:"side_effect"`
		Scopes     []string `json:"scopes"`
		Available  bool     `json:"available"`
	}
	got := decode[struct {
		Data []published `json:"data"`
	}](s.get("/compat/methods", "").want(http.StatusOK)).Data
	for _, m := range methods {
		i := slices.IndexFunc(got, func(p published) bool { return p.Provider == m.provider && p.Name == m.name })
		if i < 0 {
			s.Errorf("%s is not published", m.name)
			continue
		}
		p := got[i]
		shown := method{p.Provider, p.Name, p.Path, strings.Join(p.MapsTo, ", "), p.SideEffect, strings.Join(p.Scopes, ", ")}
		if shown != m || p.Method != http.MethodPost || p.RPC != "compat."+m.provider+"."+m.name || !p.Available {
			s.Errorf("got %+v, want %+v", p, m)
		}
	}
}

// requestA returns a request of provider-a. Its body has the API key.
func requestA(name, key, members string) string {
	return fmt.Sprintf(`{%q:{"merchantAuthentication":{"name":"shop","transactionKey":%q},%s}}`, name, key, members)
}

const cardA = `"payment":{"creditCard":{"cardNumber":"4111111111111111","expirationDate":"2031-04"}}`

// transactionA returns the members of a createTransactionRequest.
func transactionA(kind, members string) string {
	return fmt.Sprintf(`"transactionRequest":{"transactionType":%q,%s}`, kind, members)
}

// transactionID returns the number of a transaction in a response of provider-a.
func transactionID(r response) string {
	r.Helper()
	got := decode[struct {
		Response struct {
			ID string `json:"transId"`
		} `json:"transactionResponse"`
	}](r).Response.ID
	if got == "" || got == "0" {
		r.Fatalf("got %s, want a transId", r.body)
	}
	return got
}

// testProviderA runs the three methods, and each kind of transaction, with keys that have exactly
// the scopes of the method.
func testProviderA(s *service) {
	key := s.scoped(methodNamed("createTransactionRequest").scopes)
	transact := func(kind, members string) response {
		s.Helper()
		return s.post("/compat/provider-a/xml", key, requestA("createTransactionRequest", key, transactionA(kind, members))).
			want(http.StatusOK, `"responseCode":"1"`)
	}
	held := transactionID(transact("authOnlyTransaction", `"amount":"21.00",`+cardA))
	transact("priorAuthCaptureTransaction", `"refTransId":"`+held+`"`)
	transact("voidTransaction", `"refTransId":"`+held+`"`)
	sold := transactionID(transact("authCaptureTransaction", `"amount":"22.00",`+cardA))
	for more := true; more; { // a run on a busy machine leaves captures to the next one
		settled := s.post("/v1/test_helpers/settlement_runs", s.Keys.SKTest, "").want(http.StatusOK)
		more = decode[v1.SettlementRun](settled).HasMore
	}
	transact("refundTransaction", `"amount":"2.00",`+cardA+`,"refTransId":"`+sold+`"`)
	read := s.scoped(methodNamed("getTransactionDetailsRequest").scopes)
	s.post("/compat/provider-a/xml", read, requestA("getTransactionDetailsRequest", read, `"transId":"`+sold+`"`)).
		want(http.StatusOK, `"transId":"`+sold+`"`, `"resultCode":"Ok"`)
	customers := s.scoped(methodNamed("createCustomerProfileRequest").scopes)
	s.post("/compat/provider-a/xml", customers, requestA("createCustomerProfileRequest", customers,
		`"profile":{"email":"ana@example.org","paymentProfiles":[{`+cardA+`}]}`)).
		want(http.StatusOK, `"customerProfileId":`, `"resultCode":"Ok"`)
	inXML := `<?xml version="1.0" encoding="utf-8"?>` +
		`<getTransactionDetailsRequest xmlns="AnetApi/xml/v1/schema/AnetApiSchema.xsd">` +
		`<merchantAuthentication><name>shop</name><transactionKey>` + read + `</transactionKey></merchantAuthentication>` +
		`<transId>` + sold + `</transId></getTransactionDetailsRequest>`
	s.post("/compat/provider-a/xml", read, inXML, "Content-Type", "text/xml").
		want(http.StatusOK, "<transId>"+sold+"</transId>", "<resultCode>Ok</resultCode>")
}

// testBearer runs a request of each API with a key in the header only. An invalid key is refused.
func testBearer(s *service) {
	const pathA = "/compat/provider-a/xml"
	sale := transactionA("authCaptureTransaction", `"amount":"24.00",`+cardA)
	inXML := `<createTransactionRequest xmlns="AnetApi/xml/v1/schema/AnetApiSchema.xsd"><transactionRequest>` +
		`<transactionType>authCaptureTransaction</transactionType><amount>25.00</amount><payment><creditCard>` +
		`<cardNumber>4111111111111111</cardNumber><expirationDate>2031-04</expirationDate></creditCard></payment>` +
		`</transactionRequest></createTransactionRequest>`
	rpc := `{"jsonrpc":"2.0","id":1,"method":"compat.provider-a.createCustomerProfileRequest","params":` +
		`{"profile":{"email":"ida@example.org"}}}`
	for _, c := range []struct{ path, body, accepted, refused string }{
		{"/v1/transactions", payment, `"status":"captured"`, `"code":"invalid_api_key"`},
		{"/compat/provider-b/pts/v2/payments", paymentB(24, true), `"status":"AUTHORIZED"`, "Authentication Failed"},
		{pathA, `{"createTransactionRequest":{` + sale + `}}`, `"responseCode":"1"`, "E00007"},
		{pathA, inXML, "<responseCode>1</responseCode>", "E00007"},
		{pathA, `{"getTransactionDetailsRequest":{"transId":"1"}}`, "E00040", "E00007"},
		{
			pathA, `{"createCustomerProfileRequest":{"profile":{"email":"leo@example.org"}}}`, `"customerProfileId":`,
			"E00007",
		},
		{"/compat/rpc", rpc, `"customerProfileId":`, "E00007"},
	} {
		if got := s.post(c.path, s.Keys.SKTest, c.body); !strings.Contains(got.body, c.accepted) {
			s.Errorf("%s: got %d %s, want %s", c.path, got.status, got.body, c.accepted)
		}
		if got := s.post(c.path, "sk_test_unknown", c.body); !strings.Contains(got.body, c.refused) {
			s.Errorf("%s with an invalid key: got %d %s, want %s", c.path, got.status, got.body, c.refused)
		}
	}
}

// testRPC runs provider-a's methods by their RPC names.
func testRPC(s *service) {
	call := func(name, members, want string) response {
		s.Helper()
		return s.post("/compat/rpc", s.Keys.SKTest,
			fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"compat.provider-a.%s","params":{%s}}`, name, members)).
			want(http.StatusOK, want)
	}
	sold := decode[struct {
		Result struct {
			Response struct {
				ID string `json:"transId"`
			} `json:"transactionResponse"`
		} `json:"result"`
	}](call("createTransactionRequest", transactionA("authCaptureTransaction", `"amount":"23.00",`+cardA),
		`"responseCode":"1"`))
	call("getTransactionDetailsRequest", `"transId":"`+sold.Result.Response.ID+`"`, `"settleAmount":23.0`)
	call("createCustomerProfileRequest", `"profile":{"email":"eva@example.org"}`, `"customerProfileId":`)
}

// testProviderB runs the four methods, with keys that have exactly the scopes of the method.
func testProviderB(s *service) {
	step := func(name, id, body, want string) string {
		s.Helper()
		m := methodNamed(name)
		key := s.scoped(m.scopes)
		path := strings.Replace(m.path, "{id}", id, 1)
		return s.post(path, key, body).want(http.StatusCreated, `"status":"`+want+`"`).id()
	}
	held := step("createPayment", "", paymentB(31, false), "AUTHORIZED")
	step("capturePayment", held, amountB(31), "PENDING")
	step("refundPayment", held, amountB(1), "PENDING")
	other := step("createPayment", "", paymentB(32, false), "AUTHORIZED")
	step("reversePayment", other, reversalB(32), "REVERSED")
	step("createPayment", "", paymentB(33, true), "AUTHORIZED")
}

// paymentB returns a payment of provider-b in US dollars, with or without its capture.
func paymentB(dollars int, capture bool) string {
	return fmt.Sprintf(`{"processingInformation":{"capture":%t},`+
		`"orderInformation":{"amountDetails":{"totalAmount":"%d.00","currency":"USD"},`+
		`"billTo":{"firstName":"Ana","lastName":"Ruiz","address1":"1 Main","locality":"Foster City",`+
		`"administrativeArea":"CA","postalCode":"94404","country":"US","email":"ana@example.org"}},"paymentInformation":`+
		`{"card":{"number":"4111111111111111","expirationMonth":"04","expirationYear":"2031"}}}`, capture, dollars)
}

// reversalB returns the reversal of an amount.
func reversalB(dollars int) string {
	return fmt.Sprintf(`{"reversalInformation":{"amountDetails":{"totalAmount":"%d.00","currency":"USD"}}}`, dollars)
}

// amountB returns the amount of a capture or refund.
func amountB(dollars int) string {
	return fmt.Sprintf(`{"orderInformation":{"amountDetails":{"totalAmount":"%d.00","currency":"USD"}}}`, dollars)
}

// testScopes sends the methods with keys that lack one of their scopes.
func testScopes(s *service) {
	id := s.post("/compat/provider-b/pts/v2/payments", s.Keys.SKTest, paymentB(41, false)).want(http.StatusCreated).id()
	bodies := map[string]string{
		"createTransactionRequest":     transactionA("authCaptureTransaction", `"amount":"42.00",`+cardA),
		"getTransactionDetailsRequest": `"transId":"` + id + `"`,
		"createCustomerProfileRequest": `"profile":{"email":"bo@example.org"}`,
		"createPayment":                paymentB(43, false),
		"capturePayment":               amountB(41), "refundPayment": amountB(41),
		"reversePayment": reversalB(41),
	}
	for _, m := range methods {
		for _, missing := range strings.Split(m.scopes, ", ") {
			left := slices.DeleteFunc(strings.Split(m.scopes, ", "), func(scope string) bool { return scope == missing })
			key := s.scoped(strings.Join(left, ", "))
			body, path := bodies[m.name], strings.Replace(m.path, "{id}", id, 1)
			if m.provider == "provider-a" {
				s.post(path, key, requestA(m.name, key, body)).want(http.StatusOK, `"resultCode":"Error"`)
			} else if got := s.post(path, key, body).status; got != http.StatusForbidden && got != http.StatusUnauthorized {
				s.Errorf("%s without %s: got %d", m.name, missing, got)
			}
		}
	}
}

// testIdempotencyKeys sends payments twice with one Idempotency-Key. Each is paid once. The
// providers and v1 have separate keys.
func testIdempotencyKeys(s *service) {
	inA := requestA("createTransactionRequest", s.Keys.SKTest, transactionA("authCaptureTransaction", `"amount":"51.00",`+
		cardA+`,"transactionSettings":{"setting":{"settingName":"duplicateWindow","settingValue":"0"}}`))
	rpc := `{"jsonrpc":"2.0","id":1,"method":"compat.provider-b.createPayment","params":` + paymentB(53, true) + `}`
	for _, c := range []struct{ path, body, amount, key string }{
		{"/compat/provider-a/xml", inA, `"amount":5100`, "once"},
		{"/compat/provider-b/pts/v2/payments", paymentB(52, true), `"amount":5200`, "once"},
		{"/v1/transactions", strings.Replace(payment, "1250", "5400", 1), `"amount":5400`, "once"},
		{"/compat/rpc", rpc, `"amount":5300`, "once by RPC"},
	} {
		first := s.post(c.path, s.Keys.SKTest, c.body, "Idempotency-Key", c.key)
		again := s.post(c.path, s.Keys.SKTest, c.body, "Idempotency-Key", c.key)
		if first.status >= http.StatusBadRequest || again.status != first.status {
			s.Errorf("%s: got %d %s, then %d %s", c.path, first.status, first.body, again.status, again.body)
		}
		if n := strings.Count(s.get("/v1/transactions?limit=100", s.Keys.SKTest).body, c.amount+","); n != 1 {
			s.Errorf("%s: %d payments for one key", c.path, n)
		}
	}
}
