package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func TestUnknownRoutesAndMethods(t *testing.T) {
	t.Parallel()
	b := setup(t)
	txn := b.MustCreate(t, 100, "").ID
	for _, path := range []string{"/v1", "/v1/", "/v2/transactions", "/v1/transactions/", "//v1/transactions", "/v1/transactions/" + txn + "/", "/v1/transactions/" + txn + "/refunds", "/v1/Transactions", "/v1/transactions/../health", "/metrics"} {
		wantRefusal(t, b.get(t, path, header("Authorization")), refusal{404, v1.ErrorTypeInvalidRequestError, "route_not_found", ""})
	}
	for _, c := range []struct{ method, path, allow string }{
		{http.MethodDelete, "/v1/transactions", "GET, POST"},
		{http.MethodPut, "/v1/transactions/" + txn, "GET, PATCH"},
		{http.MethodOptions, "/v1/transactions/" + txn, "GET, PATCH"},
		{http.MethodGet, "/v1/transactions/" + txn + "/void", "POST"},
		{http.MethodPatch, "/v1/transactions/" + txn + "/captures", "GET, POST"},
		{http.MethodPost, "/v1/captures/x", "GET"},
		{http.MethodDelete, "/v1/refunds", "GET, POST"},
		{http.MethodPost, "/v1/refunds/x", "GET"},
		{http.MethodPost, "/v1/api_keys/current", "GET"},
		{http.MethodGet, "/v1/test_helpers/transactions/" + txn + "/settle", "POST"},
		{http.MethodGet, "/v1/tokens", "OPTIONS, POST"},
		{http.MethodGet, "/v1/transactions/" + txn + "/confirm", "OPTIONS, POST"},
		{http.MethodPost, "/v1/health", "GET, HEAD"},
		{"BREW", "/v1/health", "GET, HEAD"},
	} {
		a := b.do(t, c.method, c.path, "")
		wantRefusal(t, a, refusal{405, v1.ErrorTypeInvalidRequestError, "method_not_allowed", ""})
		if got, want := a.header.Get("Allow"), c.allow; got != want {
			t.Errorf("%s %s: allow: got %q, want %q", c.method, c.path, got, want)
		}
	}
}

// TestEncodedSlash: an encoded slash is part of the id. As a separator, it once selected another
// route and caused a void.
func TestEncodedSlash(t *testing.T) {
	t.Parallel()
	b := setup(t)
	txn := b.MustCreate(t, 100, manual).ID
	gone := refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "id"}
	wantRefusal(t, b.get(t, "/v1/transactions/"+txn+"%2Fvoid"), gone)
	wantRefusal(t, b.post(t, "/v1/transactions/"+txn+"%2Fx/void", ""), gone)
	wantRefusal(t, b.post(t, "/v1/transactions%2F"+txn+"/void", ""), refusal{404, v1.ErrorTypeInvalidRequestError, "route_not_found", ""})
	wantRefusal(t, b.post(t, "/v1/transactions/"+txn+"%2Fvoid", ""), refusal{405, v1.ErrorTypeInvalidRequestError, "method_not_allowed", ""})
	if a := b.get(t, "/v1/transactions/"+strings.Replace(txn, "_", "%5F", 1)); a.status != 200 {
		t.Errorf("an encoded underscore: got %d %s", a.status, a.body)
	}
	if a := b.void(t, txn); a.status != 200 {
		t.Errorf("void: got %d %s", a.status, a.body)
	}
}

// TestEncodedID: each route that reads an id of its path other than the first, or a name, finds the
// object by the percent-encoded id. The log line has the decoded id.
func TestEncodedID(t *testing.T) {
	t.Parallel()
	b, p := operated(t)
	txn := b.MustCreate(t, 100, "").ID
	MustDecode[v1.Transaction](t, b.get(t, "/v1/transactions/"+encoded(txn)), 200)
	if want := `"addressed":"` + txn + `"`; !strings.Contains(b.logs.String(), want) {
		t.Errorf("no log line with %s", want)
	}
	customer := b.MustCustomer(t, ann).ID
	method := "/v1/customers/" + encoded(customer) + "/payment_methods/" + encoded(b.MustAttach(t, customer, visa).ID)
	MustDecode[v1.PaymentMethod](t, b.get(t, method), 200)
	MustDecode[v1.Deleted](t, b.do(t, http.MethodDelete, method, ""), 200)
	address := "/v1/customers/" + encoded(customer) + "/shipping_addresses/" + encoded(b.MustShipTo(t, customer, "{}").ID)
	MustDecode[v1.ShippingAddress](t, b.get(t, address), 200)
	keys := merchants + "/" + encoded(b.merchant) + "/api_keys"
	key := MustDecode[v1.APIKey](t, p.post(t, keys, `{"mode":"live","kind":"secret"}`), 201)
	rolled := MustDecode[v1.APIKey](t, p.post(t, keys+"/"+encoded(key.ID)+"/roll", ""), 201)
	MustDecode[v1.APIKey](t, p.do(t, http.MethodDelete, keys+"/"+encoded(rolled.ID)+"?force=true", ""), 200)
}

// encoded returns an id with its underscores percent-encoded.
func encoded(id string) string { return strings.ReplaceAll(id, "_", "%5F") }

// TestNamesThatMustNotBeRepeated: if a client sends a card number or key as the name of a field,
// param does not repeat it.
func TestNamesThatMustNotBeRepeated(t *testing.T) {
	t.Parallel()
	b := setup(t)
	key := coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "test", Kind: "secret"})
	for _, name := range []string{"4111111111111111", "4111-1111-1111-1111", key, strings.Repeat("long", 60)} {
		for _, a := range []response{
			b.post(t, "/v1/transactions", `{"`+name+`":1}`),
			b.post(t, "/v1/transactions", create(1, `,"card":{"`+name+`":1}`)),
			b.post(t, "/v1/transactions", create(1, `,"metadata":{"`+name+`":1}`)),
			b.get(t, "/v1/transactions?"+name+"=1"),
		} {
			if a.status != 400 || strings.Contains(string(a.body), name) || !strings.Contains(string(a.body), `"param":"[redacted]"`) {
				t.Errorf("%s: got %d %s", name, a.status, a.body)
			}
		}
	}
}

// TestQueryOnPost: an unknown query parameter is refused like an unknown field.
func TestQueryOnPost(t *testing.T) {
	t.Parallel()
	b := setup(t)
	wantRefusal(t, b.post(t, "/v1/transactions?x=1", create(1, "")), refusal{400, v1.ErrorTypeInvalidRequestError, "unknown_parameter", ""})
}

func TestBadIdempotencyKeys(t *testing.T) {
	t.Parallel()
	b := setup(t)
	txn := b.MustCreate(t, 100, manual).ID
	MustDecode[v1.Capture](t, b.capture(t, txn, `{"amount":10}`), 201)
	var cases []badInput
	for name, lines := range map[string][]string{
		"two lines": {"a", "b"}, "two equal lines": {"a", "a"}, "empty": {""}, "256 bytes": {strings.Repeat("k", 256)},
		"a tab": {"a\tb"}, "not ASCII": {"clé"}, "a list is one key, but this is not ASCII": {"a,\x80"},
	} {
		cases = append(cases, badInput{name, "", invalid("invalid_idempotency_key", "Idempotency-Key"), []option{header("Idempotency-Key", lines...)}})
	}
	for path, body := range map[string]string{
		"/v1/transactions": create(1, ""), "/v1/transactions/" + txn + "/captures": `{"amount":1}`, "/v1/transactions/" + txn + "/void": "{}",
		"/v1/refunds": `{"transaction":"` + txn + `"}`, "/v1/test_helpers/transactions/" + txn + "/settle": "{}",
	} {
		for i := range cases {
			cases[i].body = body
		}
		b.wantRefused(t, path, cases)
	}
	long := strings.Repeat("~", 255)
	MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", create(1, ""), keyed(long)), 201)
	MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", create(2, ""), keyed(long[:254])), 201)
}
