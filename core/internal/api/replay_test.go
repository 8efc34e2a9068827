package api_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/operator"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// The replayed requests are sent before the end of a month and again after it, within 24 hours.
var (
	beforeMonthEnd = time.Date(2026, time.November, 30, 13, 0, 0, 0, time.UTC)
	afterMonthEnd  = time.Date(2026, time.December, 1, 12, 30, 0, 0, time.UTC)
)

// lastMonth is the part of a card or network token that expires between the two.
const lastMonth = `"number":"4242424242424242","exp_month":11,"exp_year":2026`

// keyedCall is a request that is sent twice under one Idempotency-Key.
type keyedCall struct {
	name, operation    string
	method, path, body string
	options            []option
	want               int // status of both responses
}

// TestReplayOfACardThatExpired: a payment is not refused when its card has expired since.
func TestReplayOfACardThatExpired(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.clock.Set(time.Date(2026, time.December, 1, 11, 59, 30, 0, time.UTC))
	body := paid("card", `,"card":{`+lastMonth+`}`)
	first := b.post(t, "/v1/transactions", body, keyed("k"))
	MustDecode[v1.Transaction](t, first, 201)
	b.clock.Advance(time.Minute)
	wantReplay(t, b.post(t, "/v1/transactions", body, keyed("k")), first)
	wantRefusal(t, b.post(t, "/v1/transactions", body, keyed("l")), invalid("expired_card", "card.exp_year"))
	reused := paid("card", `,"card":{`+lastMonth+`},"reference":"other"`)
	wantKeyReused(t, b.post(t, "/v1/transactions", reused, keyed("k")))
}

// TestReplayWhateverChanged sends every POST and PATCH of the contract twice under one key. Between
// the two, everything that the requests depend on ends: cards and tokens expire, objects are
// deleted, settings are withdrawn, the API key is rolled. Both responses are the same bytes.
func TestReplayWhateverChanged(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.clock.Set(beforeMonthEnd)
	w := newReplayWorld(t, b)
	calls := slices.Concat(w.payments(t), w.steps(t), w.stored(t), w.settings(t))
	wantEachOperation(t, calls)
	firsts := make([]response, len(calls))
	for i, c := range calls {
		firsts[i] = b.do(t, c.method, c.path, c.body, append(c.options, keyed(c.name))...)
		if firsts[i].status != c.want || firsts[i].header.Get("Idempotent-Replayed") != "" {
			t.Fatalf("%s: got %d %s, want %d", c.name, firsts[i].status, firsts[i].body, c.want)
		}
	}
	w.change(t)
	before := w.made(t)
	for i, c := range calls {
		again := b.do(t, c.method, c.path, c.body, append(c.options, keyed(c.name))...)
		if again.status != firsts[i].status || string(again.body) != string(firsts[i].body) {
			t.Errorf("%s: got %d %s\nwant %d %s", c.name, again.status, again.body, firsts[i].status, firsts[i].body)
		}
		if again.header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("%s: the response is not marked as replayed", c.name)
		}
	}
	if got := w.made(t); !slices.Equal(got, before) {
		t.Errorf("rows: got %v, want %v", got, before)
	}
}

// wantEachOperation checks that each POST and PATCH that core serves is among the calls.
func wantEachOperation(t *testing.T, calls []keyedCall) {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(v1.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if method != "POST" && method != "PATCH" || elsewhere(path) {
				continue
			}
			if !slices.ContainsFunc(calls, func(c keyedCall) bool { return c.operation == op.OperationID }) {
				t.Errorf("%s is not replayed", op.OperationID)
			}
		}
	}
}

// replayWorld holds the objects that the replayed requests need.
type replayWorld struct {
	*bundle
	customer, method string // with a stored card, the default
	endpoint         string
	apiKey           v1.APIKey // the API key of the requests
}

func newReplayWorld(t *testing.T, b *bundle) *replayWorld {
	t.Helper()
	b.MustAllow(t, true)
	w := &replayWorld{bundle: b, customer: b.mustCustomer(t), endpoint: b.mustEndpoint(t)}
	w.method = b.MustAttach(t, w.customer, visa).ID
	MustDecode[v1.Customer](t, b.setDefault(t, w.customer, w.method), 200)
	w.apiKey = MustDecode[v1.APIKey](t, b.get(t, "/v1/api_keys/current"), 200)
	return w
}

// made counts the rows that requests make; background work writes others.
func (w *replayWorld) made(t *testing.T) (rows []int64) {
	t.Helper()
	for _, table := range []string{
		"transactions", "captures", "refunds", "tokens", "customers", "payment_methods", "api_keys",
		"webhook_endpoints WHERE status <> 'deleted'", "idempotency_keys",
	} {
		rows = append(rows, w.number(t, "SELECT COUNT(*) FROM "+table))
	}
	return rows
}

// payments returns the calls that name a payment source.
func (w *replayWorld) payments(t *testing.T) []keyedCall {
	t.Helper()
	sale := func(name, body string) keyedCall {
		return keyedCall{name, "createTransaction", "POST", "/v1/transactions", body, nil, 201}
	}
	confirm := func(name string, u unconfirmed, body string, options ...option) keyedCall {
		return keyedCall{name, "confirmTransaction", "POST", "/v1/transactions/" + u.id + "/confirm", body, options, 200}
	}
	refund := func(name, body string) keyedCall {
		return keyedCall{name, "createRefund", "POST", "/v1/refunds", body, nil, 201}
	}
	declined := sale("sale: declined", paid("pm_card_declined", ""))
	declined.want = 402
	return []keyedCall{
		sale("sale: card", paid("card", `,"card":{`+lastMonth+`,"cvc":"900"}`)),
		sale("sale: network token", paid("network_token", `,"network_token":{`+lastMonth+`}`)),
		sale("sale: token", paid(w.MustToken(t, visa).Value.Reveal(), "")),
		sale("sale: stored card", paid(w.method, `,"customer":"`+w.customer+`"`+typedAgain("900"))),
		sale("sale: default", byCustomer(w.customer, typedAgain("900"))),
		sale("sale: prior authorization", byCustomer(w.customer, `,"prior_authorization":{"code":"A1"}`)),
		sale("sale: confirmed later", waiting(`,"payment_method":"`+w.method+`"`)),
		sale("sale: confirmed later by default", waiting(`,"customer":"`+w.customer+`"`)),
		declined,
		confirm("confirm: card", w.MustPrepare(t, ""), `{"payment_method":"card","card":{`+lastMonth+`}}`),
		confirm("confirm: stored card", w.MustPrepare(t, ""), by(w.method)),
		confirm("confirm: default", w.MustPrepare(t, `,"customer":"`+w.customer+`"`), `{"card_cvc":"900"}`),
		w.payerConfirms(t, confirm),
		refund("refund: card", giving(500, "usd", "card", `,"card":{`+lastMonth+`}`)),
		refund("refund: token", giving(500, "usd", w.MustToken(t, visa).Value.Reveal(), "")),
		refund("refund: stored card", giving(500, "usd", w.method, "")),
	}
}

// payerConfirms returns the confirmation that a payer sends with a publishable key.
func (w *replayWorld) payerConfirms(
	t *testing.T, confirm func(string, unconfirmed, string, ...option) keyedCall,
) keyedCall {
	t.Helper()
	u := w.MustPrepare(t, "")
	return confirm("confirm: payer", u, u.proven(`,"payment_method":"card","card":{`+lastMonth+`}`), w.publishable(t))
}

// steps returns the calls on a transaction.
func (w *replayWorld) steps(t *testing.T) []keyedCall {
	t.Helper()
	on := func(name, operation, more, step, body string, want int) keyedCall {
		return keyedCall{name, operation, "POST", "/v1/" + step + w.MustCreate(t, 100, more).ID + body, "", nil, want}
	}
	capture := on("capture", "createCapture", manual, "transactions/", "/captures", 201)
	taken := w.MustCreate(t, 100, "").ID
	return []keyedCall{
		capture,
		on("void", "voidTransaction", manual, "transactions/", "/void", 200),
		{
			"transaction: change", "updateTransaction", "PATCH", "/v1/transactions/" + taken, `{"description":"a mug"}`, nil, 200,
		},
		{
			"transaction: refused change", "updateTransaction", "PATCH", "/v1/transactions/" + taken, `{"amount":5}`, nil, 409,
		},
		on("refused capture", "createCapture", "", "transactions/", "/captures", 409),
		{"refund", "createRefund", "POST", "/v1/refunds", `{"transaction":"` + taken + `","amount":60}`, nil, 201},
		{"refund of the rest", "createRefund", "POST", "/v1/refunds", `{"transaction":"` + taken + `"}`, nil, 201},
		on("settle", "settleTransaction", "", "test_helpers/transactions/", "/settle", 200),
		on("expire", "expireTransaction", manual, "test_helpers/transactions/", "/expire", 200),
		{"settlement run", "runSettlement", "POST", "/v1/test_helpers/settlement_runs", "", nil, 200},
		{"test clock", "advanceTestClock", "POST", "/v1/test_helpers/clock/advance", `{"seconds":60}`, nil, 200},
	}
}

// stored returns the calls on tokens, customers and payment methods.
func (w *replayWorld) stored(t *testing.T) []keyedCall {
	t.Helper()
	body := `{"card":{` + lastMonth + `,"cvc":"900"}}`
	customer := "/v1/customers/" + w.customer
	return []keyedCall{
		{"token", "createToken", "POST", "/v1/tokens", body, nil, 201},
		{"token: payer", "createToken", "POST", "/v1/tokens", body, []option{w.publishable(t)}, 201},
		{"customer", "createCustomer", "POST", "/v1/customers", ann, nil, 201},
		{"customer: change", "updateCustomer", "PATCH", customer, `{"phone":"1"}`, nil, 200},
		{"customer: default", "updateCustomer", "PATCH", customer, `{"default_payment_method":"` + w.method + `"}`, nil, 200},
		{
			"payment method: change", "updatePaymentMethod", "PATCH", customer + "/payment_methods/" + w.method,
			`{"card":{"exp_month":1,"exp_year":2031}}`, nil, 200,
		},
		{"address", "createShippingAddress", "POST", customer + "/shipping_addresses", `{"first_name":"Ann"}`, nil, 201},
		{
			"address: change", "updateShippingAddress", "PATCH",
			customer + "/shipping_addresses/" + w.MustShipTo(t, w.customer, "{}").ID, `{"phone":"1"}`, nil, 200,
		},
		{
			"attach", "attachPaymentMethod", "POST", customer + "/payment_methods",
			`{"token":"` + w.MustToken(t, visa).Value.Reveal() + `"}`, nil, 201,
		},
	}
}

// settings returns the calls on API keys, events and webhook endpoints.
func (w *replayWorld) settings(t *testing.T) []keyedCall {
	t.Helper()
	rolled, _ := w.createKey(t, `{"kind":"secret"}`)
	event := w.listEvents(t, "")[0].ID
	endpoint := "/v1/webhook_endpoints/" + w.endpoint
	return []keyedCall{
		{"API key", "createAPIKey", "POST", "/v1/api_keys", `{"kind":"secret","expires_at":"2026-12-01T00:00:00Z"}`, nil, 201},
		{"reservation", "reserveIdempotencyKey", "POST", "/v1/idempotency_keys", `{"purpose":"a nonce"}`, nil, 201},
		{"API key: roll", "rollAPIKey", "POST", "/v1/api_keys/" + rolled.ID + "/roll", `{"expires_in":60}`, nil, 201},
		{
			"redelivery", "redeliverEvent", "POST", "/v1/events/" + event + "/redeliver", `{"endpoint":"` + w.endpoint + `"}`, nil, 201,
		},
		{
			"endpoint", "createWebhookEndpoint", "POST", "/v1/webhook_endpoints",
			`{"url":"https://hooks.example.com/other","enabled_events":["*"]}`, nil, 201,
		},
		{"endpoint: change", "updateWebhookEndpoint", "PATCH", endpoint, `{"description":"a"}`, nil, 200},
		{"endpoint: secret", "rollWebhookSecret", "POST", endpoint + "/roll_secret", "", nil, 200},
	}
}

// change ends everything that the calls depended on. The rest of the test uses the rolled API key.
func (w *replayWorld) change(t *testing.T) {
	t.Helper()
	MustDecode[v1.Deleted](t, w.do(t, "DELETE", "/v1/customers/"+w.customer, ""), 200)
	MustDecode[v1.Deleted](t, w.do(t, "DELETE", "/v1/webhook_endpoints/"+w.endpoint, ""), 200)
	w.MustAllow(t, false)
	next := MustDecode[v1.APIKey](t, w.post(t, "/v1/api_keys/"+w.apiKey.ID+"/roll", `{"expires_in":0}`), 201)
	w.key = next.Secret.Reveal()
	w.clock.Set(afterMonthEnd)
}

// TestOperatorReplayWhateverChanged: an operator's requests under a key are replayed like a
// merchant's, also PATCH.
func TestOperatorReplayWhateverChanged(t *testing.T) {
	t.Parallel()
	b, p := operated(t)
	path := merchants + "/" + b.merchant
	expiring := `{"mode":"test","kind":"secret","expires_at":"2026-11-21T10:00:00Z"}`
	key := p.post(t, path+"/api_keys", expiring, keyed("key"))
	MustDecode[v1.APIKey](t, key, 201)
	change := p.do(t, "PATCH", path, `{"name":"First"}`, keyed("change"))
	MustDecode[operator.Merchant](t, change, 200)
	b.clock.Advance(time.Hour)
	MustDecode[operator.Merchant](t, p.do(t, "PATCH", path, `{"name":"Second"}`), 200)
	wantReplay(t, p.post(t, path+"/api_keys", expiring, keyed("key")), key)
	wantReplay(t, p.do(t, "PATCH", path, `{"name":"First"}`, keyed("change")), change)
	if got := MustDecode[operator.Merchant](t, p.get(t, path), 200).Name; got != "Second" {
		t.Errorf("name after the replay: got %q, want Second", got)
	}
	wantKeyReused(t, p.do(t, "PATCH", path, `{"name":"Third"}`, keyed("change")))
}

// TestDeleteTakesNoKey: DELETE accepts an Idempotency-Key, of any form, and does not use it.
func TestDeleteTakesNoKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first, second := b.mustCustomer(t), b.mustCustomer(t)
	for _, customer := range []string{first, second} {
		MustDecode[v1.Deleted](t, b.do(t, "DELETE", "/v1/customers/"+customer, "", keyed("k")), 200)
	}
	a := b.do(t, "DELETE", "/v1/customers/"+first, "", keyed("k"))
	wantRefusal(t, a, refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "id"})
	MustDecode[v1.Deleted](t, b.do(t, "DELETE", "/v1/customers/"+b.mustCustomer(t), "", keyed(`""`)), 200)
	MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", create(5, ""), keyed("k")), 201)
}

// TestRefusalStaysUnderItsKey: a refusal by time or stored state is the response to its key. An
// equal request that passes the check has no effect afterwards. For example, a core with a slower
// clock serves it, or it stalled between its checks and the claim of the key.
func TestRefusalStaysUnderItsKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	w := newReplayWorld(t, b)
	bare := b.mustCustomer(t)
	allow := func(t *testing.T, on bool) { t.Helper(); b.MustAllow(t, on) }
	at := func(now time.Time) func(*testing.T) { return func(*testing.T) { b.clock.Set(now) } }
	for _, c := range []struct {
		name, path, body string
		before, after    func(t *testing.T) // the request is refused before, and would pass after
		want             refusal
	}{
		{
			"expired card", "/v1/transactions", paid("card", `,"card":{`+lastMonth+`}`),
			at(afterMonthEnd), at(beforeMonthEnd),
			invalid("expired_card", "card.exp_year"),
		},
		{
			"expired card of a token", "/v1/tokens", `{"card":{` + lastMonth + `}}`,
			at(afterMonthEnd), at(beforeMonthEnd),
			invalid("expired_card", "card.exp_year"),
		},
		{
			"unlinked refund", "/v1/refunds", `{"amount":5,"currency":"usd","payment_method":"card"}`,
			func(t *testing.T) { t.Helper(); allow(t, false) }, func(t *testing.T) { t.Helper(); allow(t, true) },
			refusal{403, v1.ErrorTypePermissionError, "unlinked_refunds_not_allowed", ""},
		},
		{
			"no default", "/v1/transactions", `{"amount":5,"currency":"usd","customer":"` + bare + `"}`,
			func(*testing.T) {}, func(t *testing.T) {
				t.Helper()
				MustDecode[v1.Customer](t, b.setDefault(t, bare, b.MustAttach(t, bare, visa).ID), 200)
			}, invalid("missing_field", "payment_method"),
		},
		{
			"default of another kind", "/v1/transactions",
			`{"amount":5,"currency":"usd","customer":"` + w.customer + `","card_cvc":"1234"}`,
			func(*testing.T) {}, func(t *testing.T) {
				t.Helper()
				amex := b.MustAttach(t, w.customer, `{"card":{"number":"378282246310005","exp_month":12,"exp_year":2030}}`)
				MustDecode[v1.Customer](t, b.setDefault(t, w.customer, amex.ID), 200)
			}, invalid("invalid_cvc", "card_cvc"),
		},
	} {
		c.before(t)
		first := b.post(t, c.path, c.body, keyed(c.name))
		wantRefusal(t, first, c.want)
		c.after(t)
		wantReplay(t, b.post(t, c.path, c.body, keyed(c.name)), first)
		got := MustDecode[v1.IdempotencyKeyRecord](t, b.lookUp(t, c.name), 200)
		if *got.HTTPStatus != c.want.status || got.Resource != nil {
			t.Errorf("%s: got %+v, want the refusal", c.name, got)
		}
		if a := b.post(t, c.path, c.body, keyed(c.name+" passes")); a.status != 201 {
			t.Errorf("%s under another key: got %d %s, want 201", c.name, a.status, a.body)
		}
	}
}

// TestRefusalOfAUsedTokenStays: a payment is refused because another payment has used its token.
// Then the other payment returns the token. An equal payment that stalled before its claim of the
// idempotency key must not charge the card.
func TestRefusalOfAUsedTokenStays(t *testing.T) {
	t.Parallel()
	b := setupScripted(t)
	status, got, _ := b.post(t, "/v1/tokens", `{"card":{"number":"4111111111111111","exp_month":12,"exp_year":2030}}`, "token")
	var token v1.Token
	if err := json.Unmarshal(got, &token); err != nil || status != 201 {
		t.Fatalf("got %d %s, %v", status, got, err)
	}
	body := fmt.Sprintf(`{"amount":1,"currency":"usd","payment_method":%q}`, token.Value.Reveal())
	var refused []byte
	b.Acquirer.Before = func(context.Context, coretest.Call) error {
		b.Acquirer.Before = nil
		status, refused, _ = b.post(t, "/v1/transactions", body, "k") //nolint:contextcheck // another request
		return acquirer.ErrUnavailable
	}
	if other, got, _ := b.post(t, "/v1/transactions", body, "other"); other != 503 || status != 400 {
		t.Fatalf("got %d %s and %d %s, want 503 and 400", other, got, status, refused)
	}
	status, got, header := b.post(t, "/v1/transactions", body, "k")
	if status != 400 || !bytes.Equal(got, refused) || header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("got %d %s, want %s again", status, got, refused)
	}
	if status, got, _ := b.post(t, "/v1/transactions", body, "new"); status != 201 {
		t.Errorf("the returned token: got %d %s, want 201", status, got)
	}
}
