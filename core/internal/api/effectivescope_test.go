package api_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// scopedRequest is a request, with the status for a key whose scopes permit it.
type scopedRequest struct {
	method, path, body string
	status             int
}

// scopedRequests returns requests that move money or read, by a name.
func (b *bundle) scopedRequests(t *testing.T) map[string]scopedRequest {
	t.Helper()
	customer := b.MustCustomer(t, `{"reference":"c-1","email":"ana@example.org"}`).ID
	method, address := b.MustAttach(t, customer, visa).ID, b.MustShipTo(t, customer, "{}").ID
	held, sold := b.MustCreate(t, 100, manual).ID, b.MustCreate(t, 100, `,"reference":"r-1"`).ID
	captured := MustDecode[v1.Capture](t, b.post(t, "/v1/transactions/"+b.MustCreate(t, 100, manual).ID+"/captures", ""), 201).ID
	refund := MustDecode[v1.Refund](t, b.post(t, "/v1/refunds", `{"transaction":"`+sold+`","amount":1}`, keyed("used")), 201).ID
	token := b.MustToken(t, visa).ID
	return map[string]scopedRequest{
		"authorize":            {"POST", "/v1/transactions", create(1, ""), 201},
		"capture":              {"POST", "/v1/transactions/" + held + "/captures", `{"amount":1}`, 201},
		"linked refund":        {"POST", "/v1/refunds", `{"transaction":"` + sold + `","amount":1}`, 201},
		"unlinked refund":      {"POST", "/v1/refunds", giving(1, "usd", "card", payeeCard), 201},
		"store":                {"POST", "/v1/customers", "{}", 201},
		"token":                {"POST", "/v1/tokens", `{"card":{"number":"4242424242424242","exp_month":12,"exp_year":2030}}`, 201},
		"transaction":          {"GET", "/v1/transactions/" + sold, "", 200},
		"captures":             {"GET", "/v1/transactions/" + sold + "/captures", "", 200},
		"capture by id":        {"GET", "/v1/captures/" + captured, "", 200},
		"refund by id":         {"GET", "/v1/refunds/" + refund, "", 200},
		"token by id":          {"GET", "/v1/tokens/" + token, "", 200},
		"customer":             {"GET", "/v1/customers/" + customer, "", 200},
		"payment method":       {"GET", "/v1/customers/" + customer + "/payment_methods/" + method, "", 200},
		"shipping address":     {"GET", "/v1/customers/" + customer + "/shipping_addresses/" + address, "", 200},
		"use of a key":         {"GET", "/v1/idempotency_keys/used", "", 200},
		"by reference":         {"GET", "/v1/transactions?reference=r-1", "", 200},
		"customers by email":   {"GET", "/v1/customers?email=ana@example.org", "", 200},
		"customers by name":    {"GET", "/v1/customers?reference=c-1", "", 200},
		"all transactions":     {"GET", "/v1/transactions", "", 200},
		"by status":            {"GET", "/v1/transactions?status=captured&reference=", "", 400},
		"all refunds":          {"GET", "/v1/refunds", "", 200},
		"refunds of one":       {"GET", "/v1/refunds?transaction=" + sold, "", 200},
		"all captures":         {"GET", "/v1/captures", "", 200},
		"captures of one":      {"GET", "/v1/captures?transaction=" + sold, "", 200},
		"all customers":        {"GET", "/v1/customers", "", 200},
		"customers by nothing": {"GET", "/v1/customers?reference=", "", 400},
		"all payment methods":  {"GET", "/v1/customers/" + customer + "/payment_methods", "", 200},
		"events":               {"GET", "/v1/events", "", 200},
		"keys":                 {"GET", "/v1/api_keys", "", 200},
	}
}

// TestEffectiveScopesOfRequests: a key may send the requests that its effective scopes permit, and
// no others.
func TestEffectiveScopesOfRequests(t *testing.T) {
	t.Parallel()
	b := setupGiving(t)
	requests := b.scopedRequests(t)
	read := []string{"transaction", "captures", "capture by id"}
	stored := []string{"customer", "payment method", "shipping address"}
	for scopes, may := range map[string][]string{
		"payments:authorize": append([]string{"authorize"}, read...),
		"payments:capture":   append([]string{"capture"}, read...),
		"payments:confirm":   read,
		"refunds:create":     append([]string{"linked refund", "unlinked refund", "refund by id"}, read...),
		"customers:write":    append([]string{"store", "token"}, stored...),
		"tokens:create":      {"token", "token by id"},
		"compat:use":         nil,
		"keys:write":         {"keys"},
		"payments:authorize compat:use": slices.Concat(read, stored, []string{
			"authorize", "capture", "linked refund", "refund by id", "by reference", "use of a key",
		}),
		"payments:capture compat:use": append([]string{"capture", "refund by id", "use of a key"}, read...),
		"refunds:create compat:use": append(
			[]string{"linked refund", "unlinked refund", "refund by id", "use of a key"}, read...),
		"customers:write compat:use": append([]string{
			"store", "token", "customers by email", "customers by name", "all payment methods", "use of a key",
		}, stored...),
		"customers:read": append(
			[]string{"all customers", "customers by email", "customers by name", "customers by nothing", "all payment methods"},
			stored...),
	} {
		key := as(b.keyOf(t, "secret", strings.Fields(scopes)...))
		for name, r := range requests {
			got, want := b.do(t, r.method, r.path, r.body, key), 403
			if slices.Contains(may, name) {
				want = r.status
			}
			if got.status != want || want == 403 && !strings.Contains(string(got.body), `"insufficient_scope"`) {
				t.Errorf("%s with %s: got %d %s, want %d", name, scopes, got.status, got.body, want)
			}
		}
	}
	whole, publishable := as(b.key), as(b.keyOf(t, "publishable"))
	for name, r := range requests {
		if got := b.do(t, r.method, r.path, r.body, whole); got.status != r.status {
			t.Errorf("%s with every scope: got %d %s, want %d", name, got.status, got.body, r.status)
		}
		if got := b.do(t, r.method, r.path, r.body, publishable); name != "token" && got.status != 403 {
			t.Errorf("%s with a publishable key: got %d %s, want 403", name, got.status, got.body)
		}
	}
}

// keyOf makes a key with the scopes; its default ones without any.
func (b *bundle) keyOf(t *testing.T, kind string, scopes ...string) string {
	t.Helper()
	return coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "test", Kind: kind, Scopes: scopes})
}

// TestUnlinkedRefundNeedsItsScopeForARetry: a key for linked refunds repeats the unlinked refund of
// another key. It gets no stored response. A refusal leaves its Idempotency-Key free.
func TestUnlinkedRefundNeedsItsScopeForARetry(t *testing.T) {
	t.Parallel()
	b := setupGiving(t)
	body := giving(500, "usd", "card", payeeCard)
	first := b.post(t, "/v1/refunds", body, keyed("k"))
	lacks := refusal{403, v1.ErrorTypePermissionError, "insufficient_scope", ""}
	legacy := as(b.keyOf(t, "secret", "payments:authorize", "compat:use"))
	for _, name := range []string{"k", "free"} {
		if e := wantRefusal(t, b.post(t, "/v1/refunds", body, keyed(name), legacy), lacks); !strings.Contains(e.Message, "refunds:create.") {
			t.Errorf("the message does not name the scope: %s", e.Message)
		}
	}
	wantReplay(t, b.post(t, "/v1/refunds", body, keyed("k")), first)
	if got := b.post(t, "/v1/refunds", body, keyed("free")); got.status != 201 {
		t.Errorf("after the refusal: got %d %s, want 201", got.status, got.body)
	}
}

// TestEffectiveScopesAreShown: the key itself shows them; no key can be granted by them.
func TestEffectiveScopesAreShown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	granted := []string{"payments:authorize", "keys:write", "compat:use"}
	key := b.keyOf(t, "secret", granted...)
	got := MustDecode[v1.APIKey](t, b.get(t, "/v1/api_keys/current", as(key)), 200)
	want := []string{
		"payments:authorize", "payments:capture", "keys:write", "compat:use", "transactions:read_one", "transactions:find",
		"refunds:read_one", "refunds:create_linked", "customers:read_one", "idempotency_keys:read", "idempotency_keys:reserve",
	}
	if got.EffectiveScopes == nil || !slices.Equal(*got.EffectiveScopes, want) || !slices.Equal(got.Scopes, granted) {
		t.Errorf("got %v of %v, want %v of %v", got.EffectiveScopes, got.Scopes, want, granted)
	}
	before := b.rows(t)
	lacks := refusal{403, v1.ErrorTypePermissionError, "insufficient_scope", "scopes"}
	wantRefusal(t, b.post(t, "/v1/api_keys", `{"kind":"secret","scopes":["payments:capture"]}`, as(key)), lacks)
	wantRefusal(t, b.post(t, "/v1/api_keys", `{"kind":"secret","scopes":["refunds:create_linked"]}`, as(key)), invalid("invalid_value", "scopes"))
	capturing := b.keyOf(t, "secret", "payments:capture")
	if got, want := b.rows(t), before; got == want {
		t.Error("rows: the other key was not made")
	}
	before = b.rows(t)
	wantRefusal(t, b.post(t, "/v1/api_keys/"+b.currentID(t, capturing)+"/roll", "", as(key)), lacks)
	wantRefusal(t, b.do(t, "DELETE", "/v1/api_keys/"+b.currentID(t, capturing), "", as(key)), lacks)
	if got, want := b.rows(t), before; got != want {
		t.Errorf("rows: got %s, want %s", got, want)
	}
	made, _ := b.createKey(t, `{"kind":"secret"}`, as(key))
	if !slices.Equal(made.Scopes, granted) || made.EffectiveScopes != nil {
		t.Errorf("a new key by default: got %v with %v, want %v", made.Scopes, made.EffectiveScopes, granted)
	}
	next := MustDecode[v1.APIKey](t, b.post(t, "/v1/api_keys/"+b.currentID(t, key)+"/roll", "", as(key)), 201)
	if !slices.Equal(next.Scopes, granted) {
		t.Errorf("the rolled key: got %v, want %v", next.Scopes, granted)
	}
}
