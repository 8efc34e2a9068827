package api_test

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// house is a service over HTTP. Each response is checked against the contract.
type house struct {
	*coretest.Service
	url    string
	client *http.Client
}

func openHouse(t *testing.T) *house {
	t.Helper()
	s := coretest.Open(t)
	server := httptest.NewServer(s.API)
	t.Cleanup(server.Close)
	return &house{s, server.URL, &http.Client{Transport: coretest.NewContract(t, http.DefaultTransport)}}
}

// scopedResponse is a response, with its code and message if it is a refusal.
type scopedResponse struct {
	status        int
	code, message string
	body          []byte
}

func (h *house) send(t *testing.T, key, method, path, body string) scopedResponse {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, h.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}}
	resp, err := h.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	read, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var e v1.ErrorBody
	if resp.StatusCode >= 400 {
		if err := json.Unmarshal(read, &e); err != nil {
			t.Fatal(err)
		}
	}
	return scopedResponse{resp.StatusCode, e.Error.Code, e.Error.Message, read}
}

// caller is a key of the table.
type caller struct {
	name   string
	kind   apikey.Kind
	live   bool
	scopes []string
	key    string
}

// callers are keys of both modes: secret keys with each single scope, with all and with none, and
// the publishable key. Further ones have compat:use and the scope of a legacy method.
func (h *house) callers(t *testing.T) []caller {
	t.Helper()
	var out []caller
	for _, live := range []bool{false, true} {
		for _, scope := range apikey.AllScopes() {
			out = append(out, caller{kind: apikey.Secret, live: live, scopes: []string{scope}})
		}
		for _, scope := range []string{"payments:authorize", "payments:capture", "refunds:create", "customers:write"} {
			out = append(out, caller{kind: apikey.Secret, live: live, scopes: []string{scope, "compat:use"}})
		}
		out = append(out, caller{kind: apikey.Secret, live: live, scopes: apikey.AllScopes()},
			caller{kind: apikey.Secret, live: live, scopes: []string{}},
			caller{kind: apikey.Publishable, live: live, scopes: apikey.DefaultScopes(apikey.Publishable)})
	}
	for i := range out {
		c := &out[i]
		c.name = fmt.Sprintf("%s live=%t %v", c.kind, c.live, c.scopes)
		c.key = h.MustKey(t, auth.KeySpec{Merchant: h.Tenant.Merchant, Live: c.live, Kind: c.kind, Scopes: c.scopes})
	}
	return out
}

var variable = regexp.MustCompile(`\{[a-z_]+\}`)

// broad has the routes that a narrow scope opens for some requests only. The request below is none
// of them: a list without its filter, or a refund without a transaction.
var broad = map[string]string{
	"GET /v1/transactions": "transactions:read", "GET /v1/customers": "customers:read", "POST /v1/refunds": "refunds:create",
}

// TestScopesTable calls every route with every kind of key. It reads the routes from the API, so it
// includes new ones.
func TestScopesTable(t *testing.T) {
	t.Parallel()
	h := openHouse(t)
	callers := h.callers(t)
	for _, r := range api.RouteTable() {
		need := cmp.Or(broad[r.Method+" "+r.Path], r.Scope)
		if r.Scope != "" && !apikey.ValidScope(apikey.Grantable(need)) {
			t.Errorf("%s %s requires the scope %q, which no key can have", r.Method, r.Path, r.Scope)
		}
		path, body := variable.ReplaceAllString(r.Path, "x"), ""
		if r.Method != http.MethodGet && r.Method != http.MethodDelete {
			body = "{}"
		}
		for _, c := range callers {
			got := h.send(t, c.key, r.Method, path, body)
			where := r.Method + " " + r.Path + " by " + c.name
			// The permissions of public keys, as the specification states them.
			browser := r.Method == http.MethodPost && (r.Path == "/v1/tokens" || r.Path == "/v1/transactions/{id}/confirm")
			switch {
			case c.kind == apikey.Publishable && !browser:
				if got.status != 403 || got.code != "publishable_key_not_allowed" {
					t.Errorf("%s: got %d %s, want 403 publishable_key_not_allowed", where, got.status, got.code)
				}
			case need != "" && !apikey.Permits(c.kind, c.scopes, need):
				if got.status != 403 || got.code != "insufficient_scope" || !strings.Contains(got.message, apikey.Grantable(need)) {
					t.Errorf("%s: got %d %s %q, want 403 insufficient_scope of %s", where, got.status, got.code, got.message, need)
				}
			case got.status == 401 || got.code == "insufficient_scope" || got.code == "publishable_key_not_allowed":
				t.Errorf("%s: got %d %s, although the key may", where, got.status, got.code)
			case strings.HasPrefix(r.Path, "/v1/test_helpers/") && c.live && (got.status != 403 || got.code != "test_mode_only"):
				t.Errorf("%s: got %d %s, want 403 test_mode_only", where, got.status, got.code)
			}
		}
	}
	h.wantNoCalls(t)
}

// wantNoCalls checks that the acquirer of test mode got no request.
func (h *house) wantNoCalls(t *testing.T) {
	t.Helper()
	for _, verb := range []coretest.Verb{coretest.Authorize, coretest.Capture, coretest.Void, coretest.Refund, coretest.Inquire} {
		if calls := h.Acquirer.Calls(verb); len(calls) > 0 {
			t.Errorf("the acquirer of test mode was asked: %v", calls)
		}
	}
}

// bodiesOf makes one object of each collection.
func bodiesOf(txn string) map[string]string {
	return map[string]string{
		"transactions": `{"amount":100,"currency":"usd","payment_method":"pm_card_visa"}`, "refunds": `{"transaction":"` + txn + `","amount":1}`,
		"tokens":   `{"card":{"number":"4242424242424242","exp_month":12,"exp_year":2030}}`,
		"api_keys": `{"kind":"secret"}`, "customers": `{}`, "webhook_endpoints": `{"url":"https://example.com/hook","enabled_events":["*"]}`,
	}
}

// objects are real ids by collection.
func (h *house) objects(t *testing.T) map[string]string {
	t.Helper()
	var first struct {
		ID   string `json:"id"`
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	read := func(method, path, body string) string {
		if got := h.send(t, h.Key, method, path, body); got.status >= 400 || json.Unmarshal(got.body, &first) != nil {
			return ""
		}
		return first.ID
	}
	out := map[string]string{"transactions": read("POST", "/v1/transactions", bodiesOf("")["transactions"])}
	if out["transactions"] == "" {
		t.Fatal("no transaction could be made")
	}
	out["captures"] = id.Format(id.Capture, h.Number(t, "SELECT id FROM captures"))
	for _, r := range api.RouteTable() {
		name := strings.TrimPrefix(r.Path, "/v1/")
		if body, ok := bodiesOf(out["transactions"])[name]; ok && r.Method == http.MethodPost && out[name] == "" {
			out[name] = read("POST", r.Path, body)
		}
		if r.Method == http.MethodGet && r.Path == "/v1/events" {
			if read("GET", r.Path, ""); len(first.Data) > 0 {
				out[name] = first.Data[0].ID
			}
		}
	}
	return out
}

// moved returns how much follow-ups have moved.
func (h *house) moved() int64 {
	return h.Acquirer.Moved(coretest.Capture) + h.Acquirer.Moved(coretest.Void) + h.Acquirer.Moved(coretest.Refund)
}

// TestOthersObjectsAreNotThere: the objects of one tenant are not found by the key of another, even
// if it is the same merchant in the other mode.
func TestOthersObjectsAreNotThere(t *testing.T) {
	t.Parallel()
	h := openHouse(t)
	objects := h.objects(t)
	before := h.moved()
	stranger := h.IDs.Next()
	if err := h.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.InsertMerchant(stranger, "stranger") }); err != nil {
		t.Fatal(err)
	}
	keys := map[string]string{
		"another merchant": h.MustKey(t, auth.KeySpec{Merchant: stranger, Kind: apikey.Secret}),
		"the other mode":   h.MustKey(t, auth.KeySpec{Merchant: h.Tenant.Merchant, Live: true, Kind: apikey.Secret}),
	}
	for _, r := range api.RouteTable() {
		if !strings.Contains(r.Path, "{id}") {
			continue
		}
		collection := strings.Split(strings.TrimPrefix(strings.TrimPrefix(r.Path, "/v1/"), "test_helpers/"), "/")[0]
		object := objects[collection]
		if object == "" {
			object = "x" // such an object cannot be made here, so this checks only that no other object is found
		}
		path := variable.ReplaceAllString(strings.Replace(r.Path, "{id}", object, 1), "x")
		for who, key := range keys {
			got := h.send(t, key, r.Method, path, "")
			if got.status == 400 { // required fields are checked before the id
				continue
			}
			testOnly := who == "the other mode" && strings.HasPrefix(r.Path, "/v1/test_helpers/") && got.code == "test_mode_only"
			if !testOnly && (got.status != 404 || got.code != "not_found") {
				t.Errorf("%s %s by %s: got %d %s, want 404", r.Method, path, who, got.status, got.code)
			}
		}
	}
	for _, key := range keys {
		if got := h.send(t, key, "POST", "/v1/refunds", bodiesOf(objects["transactions"])["refunds"]); got.status != 404 {
			t.Errorf("refund: got %d %s, want 404", got.status, got.code)
		}
	}
	if got := h.moved(); got != before {
		t.Errorf("strangers moved money: %d, before them %d", got, before)
	}
}

// TestLiveNeverMeetsTheSimulator: a live request never reaches the simulator, even for an existing
// live transaction.
func TestLiveNeverMeetsTheSimulator(t *testing.T) {
	t.Parallel()
	h := openHouse(t)
	live := payment.Tenant{Merchant: h.Tenant.Merchant, Live: true}
	key := h.MustKey(t, auth.KeySpec{Merchant: live.Merchant, Live: true, Kind: apikey.Secret})
	held, taken := h.MustHold(t, live, payment.Authorized), h.MustHold(t, live, payment.Captured)
	const card = `{"number":"4242424242424242","exp_month":12,"exp_year":2030}`
	for _, c := range []struct{ path, body string }{
		{"/v1/transactions", `{"amount":1,"currency":"usd","payment_method":"card","card":` + card + `}`},
		{"/v1/transactions", `{"amount":1,"currency":"usd","payment_method":"card","capture":"manual","card":` + card + `}`},
		{"/v1/transactions/" + held + "/captures", ""},
		{"/v1/transactions/" + held + "/void", ""},
		{"/v1/transactions/" + taken + "/void", ""},
		{"/v1/refunds", `{"transaction":"` + taken + `"}`},
	} {
		if got := h.send(t, key, "POST", c.path, c.body); got.status != 503 || got.code != "acquirer_not_configured" {
			t.Errorf("%s: got %d %s, want 503 acquirer_not_configured", c.path, got.status, got.code)
		}
	}
	h.wantNoCalls(t)
}

// MustHold writes a transaction directly into the store, as if an acquirer had taken it.
func (h *house) MustHold(tb testing.TB, tenant payment.Tenant, status payment.Status) string {
	tb.Helper()
	t := payment.Transaction{
		ID: h.IDs.Next(), Tenant: tenant, Status: payment.Processing, Amount: 100, Currency: "usd", PaymentMethod: "card",
		Details: []byte("{}"), CreatedAt: coretest.Birth, UpdatedAt: coretest.Birth,
	}
	done := t
	done.Status, done.Authorized, done.Version = status, 100, 1
	if status == payment.Captured {
		done.Captured = 100
	}
	err := h.DB.Update(tb.Context(), func(tx *store.Tx) error {
		if _, err := tx.BeginPayment(&store.Intent{Transaction: &t}); err != nil {
			return err
		}
		return tx.ResolveTransaction(&done)
	})
	if err != nil {
		tb.Fatal(err)
	}
	return id.Format(id.Transaction, t.ID)
}
