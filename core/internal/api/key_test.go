package api_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/admin"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func TestCurrentKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	few := []string{"transactions:read", "refunds:create"}
	for _, c := range []struct {
		spec   core.KeySpec
		prefix string
		scopes int
	}{
		{core.KeySpec{Mode: "test", Kind: "secret"}, "sk_test_", 13},
		{core.KeySpec{Mode: "live", Kind: "secret"}, "sk_live_", 13},
		{core.KeySpec{Mode: "test", Kind: "secret", Scopes: few}, "sk_test_", 2},
		{core.KeySpec{Mode: "test", Kind: "secret", Scopes: []string{}}, "sk_test_", 0},
	} {
		c.spec.Merchant = b.merchant
		key := coretest.MustCreateKey(t, b.core.Admin(), c.spec)
		if !strings.HasPrefix(key, c.prefix) {
			t.Errorf("%+v: the key does not begin with %s", c.spec, c.prefix)
		}
		got := MustDecode[v1.APIKey](t, b.get(t, "/v1/api_keys/current", as(key)), 200)
		if string(got.Mode) != c.spec.Mode || string(got.Kind) != c.spec.Kind || got.Merchant != b.merchant || len(got.Scopes) != c.scopes {
			t.Errorf("%+v: got %+v", c.spec, got)
		}
		if got, want := got.Hint, key[len(key)-4:]; got != want {
			t.Errorf("hint: got %s, want %s", got, want)
		}
		if want := birth.Truncate(time.Minute); got.Status != v1.APIKeyStatusActive || got.LastUsedAt == nil || !got.LastUsedAt.Equal(want) {
			t.Errorf("status %s, last used at %v, want active and %s", got.Status, got.LastUsedAt, want)
		}
		if c.spec.Scopes != nil && !slices.Equal(got.Scopes, c.spec.Scopes) {
			t.Errorf("scopes: got %v, want %v", got.Scopes, c.spec.Scopes)
		}
	}
}

func TestKeySpecsThatAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	before := b.rows(t)
	for _, s := range []core.KeySpec{
		{Merchant: b.merchant, Mode: "prod", Kind: "secret"},
		{Merchant: b.merchant, Mode: "test", Kind: "private"},
		{Merchant: b.merchant, Mode: "test", Kind: "secret", Scopes: []string{"everything"}},
		{Merchant: b.merchant, Mode: "test", Kind: "publishable", Scopes: []string{"refunds:create"}},
		{Merchant: "mer_0000000000001", Mode: "test", Kind: "secret"},
		{Merchant: "shop", Mode: "test", Kind: "secret"},
	} {
		if k, err := b.core.Admin().CreateKey(t.Context(), s); err == nil || k.Reveal() != "" {
			t.Errorf("%+v: got a key", s)
		}
	}
	for _, name := range []string{"", strings.Repeat("n", 201)} {
		if _, err := b.core.Admin().CreateMerchant(t.Context(), name); err == nil {
			t.Errorf("merchant %q was made", name)
		}
	}
	if got, want := b.rows(t), before; got != want {
		t.Errorf("rows: got %s, want %s", got, want)
	}
}

type operation struct{ method, path, body string }

// operations returns one call of every route that needs a scope.
func operations(txn string) map[string][]operation {
	get := func(path string) operation { return operation{"GET", path, ""} }
	post := func(path, body string) operation { return operation{"POST", path, body} }
	return map[string][]operation{
		"payments:authorize": {post("/v1/transactions", create(1, "")), post("/v1/transactions/"+txn+"/void", "")},
		"payments:capture": {
			post("/v1/transactions/"+txn+"/captures", ""), post("/v1/test_helpers/transactions/"+txn+"/settle", ""),
		},
		"events:read": {get("/v1/events"), get("/v1/events/x")},
		"webhooks:write": {
			post("/v1/webhook_endpoints", hook(somewhere, "")), get("/v1/webhook_endpoints"), get("/v1/webhook_endpoints/x"),
			{"PATCH", "/v1/webhook_endpoints/x", "{}"},
			{"DELETE", "/v1/webhook_endpoints/x", ""},
			post("/v1/webhook_endpoints/x/roll_secret", ""),
			get("/v1/webhook_endpoints/x/deliveries"), post("/v1/events/x/redeliver", ""),
		},
		"refunds:create": {post("/v1/refunds", `{"transaction":"`+txn+`"}`)},
		"transactions:read": {
			get("/v1/transactions"), get("/v1/transactions/" + txn), get("/v1/transactions/" + txn + "/captures"),
			get("/v1/captures/x"), get("/v1/refunds"), get("/v1/refunds/x"), get("/v1/tokens/x"),
		},
		"customers:write": {
			post("/v1/customers", "{}"),
			{"PATCH", "/v1/customers/x", "{}"},
			{"DELETE", "/v1/customers/x", ""},
			post("/v1/customers/x/payment_methods", "{}"),
			{"DELETE", "/v1/customers/x/payment_methods/x", ""},
		},
		"customers:read": {
			get("/v1/customers"), get("/v1/customers/x"), get("/v1/customers/x/payment_methods"), get("/v1/customers/x/payment_methods/x"),
		},
	}
}

func TestScopes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	txn := b.MustCreate(t, 100, manual).ID
	publishable := as(coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "test", Kind: "publishable"}))
	used := operations(txn)
	including := map[string][]string{ // the scopes that read objects by id, because they change them
		"transactions:read": {"payments:authorize", "payments:capture", "refunds:create"}, "customers:read": {"customers:write"},
	}
	for scope, calls := range used {
		var others []string
		for s := range used {
			if s != scope && !slices.Contains(including[scope], s) {
				others = append(others, s)
			}
		}
		lacking := as(coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "test", Kind: "secret", Scopes: others}))
		before := b.rows(t)
		for _, call := range calls {
			e := wantRefusal(t, b.do(t, call.method, call.path, call.body, lacking), refusal{403, v1.ErrorTypePermissionError, "insufficient_scope", ""})
			if !strings.Contains(e.Message, scope) {
				t.Errorf("%s: the message does not name it: %s", scope, e.Message)
			}
			wantRefusal(t, b.do(t, call.method, call.path, call.body, publishable), refusal{403, v1.ErrorTypePermissionError, "publishable_key_not_allowed", ""})
		}
		if got, want := b.rows(t), before; got != want {
			t.Errorf("rows: got %s, want %s", got, want)
		}
		only := as(coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "test", Kind: "secret", Scopes: []string{scope}}))
		for _, call := range calls {
			if a := b.do(t, call.method, call.path, call.body, only); a.status == 401 || a.status == 403 {
				t.Errorf("%s alone: got %d %s", scope, a.status, a.body)
			}
		}
	}
}

func TestLiveKeys(t *testing.T) {
	t.Parallel()
	b := setup(t)
	txn := b.MustCreate(t, 100, "").ID
	live := as(coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "live", Kind: "secret"}))
	none := refusal{503, v1.ErrorTypeAPIError, "acquirer_not_configured", ""}
	card := `,"card":{"number":"4242424242424242","exp_month":12,"exp_year":2030}}`
	before := b.rows(t)
	for range 2 {
		wantRefusal(t, b.post(t, "/v1/transactions", `{"amount":1,"currency":"usd","payment_method":"card"`+card, live, keyed("k")), none)
	}
	// A transaction of the other mode is not found, before an acquirer is selected for the step.
	gone := refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "id"}
	wantRefusal(t, b.capture(t, txn, "", live), gone)
	wantRefusal(t, b.void(t, txn, live), gone)
	gone.param = "transaction"
	wantRefusal(t, b.refund(t, txn, "", live), gone)
	bad := refusal{400, v1.ErrorTypeInvalidRequestError, "unknown_payment_method", "payment_method"}
	wantRefusal(t, b.post(t, "/v1/transactions", create(1, ""), live), bad)
	bad.code, bad.param = "missing_field", "card"
	wantRefusal(t, b.post(t, "/v1/transactions", `{"amount":1,"currency":"usd","payment_method":"card"}`, live), bad)
	wantRefusal(t, b.post(t, "/v1/test_helpers/transactions/"+txn+"/settle", "", live),
		refusal{403, v1.ErrorTypePermissionError, "test_mode_only", ""})
	if got, want := b.rows(t), before; got != want {
		t.Errorf("rows: got %s, want %s", got, want)
	}
}

func TestKeyMadeWhileTheServiceRuns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a, err := admin.Open(t.Context(), b.config())
	if err != nil {
		t.Fatal(err)
	}
	key := coretest.MustCreateKey(t, a, core.KeySpec{Merchant: coretest.MustCreateMerchant(t, a), Mode: "test", Kind: "secret"})
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", create(1, ""), as(key)), 201)
	b.restart(t)
	got := MustDecode[page](t, b.get(t, "/v1/transactions", as(key)), 200)
	if len(got.Data) != 1 {
		t.Errorf("after a restart: got %d transactions, want 1", len(got.Data))
	}
}

// MustHealth waits until health responds 200. Each of its checks may take a second, which is too
// short on a busy machine. A response of any other kind fails the test.
func (b *bundle) MustHealth(t *testing.T) (a response) {
	t.Helper()
	programtest.WaitFor(t, "health responds 200", func() bool {
		if a = b.get(t, "/v1/health", header("Authorization")); a.status == 200 {
			return true
		}
		if checks := MustDecode[v1.Health](t, a, 503).Checks; len(checks) == 0 {
			t.Fatalf("health: got %s", a.body)
		}
		return false
	})
	return a
}

func TestHealth(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := MustDecode[v1.Health](t, b.MustHealth(t), 200)
	if got.Status != v1.HealthStatusOk || got.Checks["store_read"] != "ok" || got.Checks["store_write"] != "ok" {
		t.Errorf("got %+v", got)
	}
	if err := b.core.Admin().Close(); err != nil {
		t.Fatal(err)
	}
	b.clock.Advance(time.Second) // until the state of the writer is read again
	got = MustDecode[v1.Health](t, b.get(t, "/v1/health", header("Authorization")), 503)
	if got.Status != v1.HealthStatusFailing || got.Checks["store_write"] == "ok" {
		t.Errorf("with the store closed: got %+v", got)
	}
}

func TestOpenSQLite(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if c, err := core.Open(t.Context(), core.Config{Data: b.dir}); err == nil {
		t.Errorf("a second service opened on the folder: %v", c.Close())
	}
	MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", create(1, "")), 201)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if c, err := core.Open(ended, core.Config{Data: t.TempDir()}); err == nil {
		t.Errorf("opened under an ended context: %v", c.Close())
	}
	if c, err := core.Open(t.Context(), core.Config{Data: t.TempDir(), Simulator: "/nonexistent"}); err == nil {
		t.Errorf("opened without its catalogue: %v", c.Close())
	}
	if err := b.core.Close(); err != nil {
		t.Error(err)
	}
	if err := b.core.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}

// TestSecretKeyInABrowser: a secret key with an Origin header is refused on every kind of route and
// changes nothing. A publishable key works from a page of any origin.
func TestSecretKeyInABrowser(t *testing.T) {
	t.Parallel()
	b := setup(t)
	pk := b.publishable(t)
	before := b.rows(t)
	in := refusal{403, v1.ErrorTypePermissionError, "secret_key_in_browser", ""}
	for _, origin := range []string{"https://shop.example", "null", ""} {
		page := header("Origin", origin)
		wantRefusal(t, b.get(t, "/v1/api_keys/current", page), in)
		wantRefusal(t, b.get(t, "/v1/transactions", page), in)
		wantRefusal(t, b.post(t, "/v1/tokens", visa, page, keyed("k")), in)
		wantRefusal(t, b.do(t, "DELETE", "/v1/api_keys/"+b.currentID(t, b.key), "", page), in)
	}
	if got, want := b.rows(t), before; got != want {
		t.Errorf("rows: got %s, want %s", got, want)
	}
	MustDecode[v1.Token](t, b.post(t, "/v1/tokens", visa, pk, header("Origin", "https://shop.example")), 201)
	MustDecode[v1.Token](t, b.post(t, "/v1/tokens", visa, keyed("k")), 201) // the refusal is not stored
}
