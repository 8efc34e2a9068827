package api_test

import (
	"net/http"
	"strings"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestAPIVersion: each response names the version, and a request for another one is refused before
// it has an effect. A page can read that refusal, and may name a version.
func TestAPIVersion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const this = "2026-11-01"
	for name, got := range map[string]response{
		"none":        b.get(t, "/v1/transactions"),
		"this one":    b.get(t, "/v1/transactions", header("Causeway-Version", this)),
		"a refusal":   b.get(t, "/v1/transactions", header("Authorization")),
		"no endpoint": b.get(t, "/v1/none"),
		"health":      b.get(t, "/v1/health"),
	} {
		if named := got.header.Values("Causeway-Version"); len(named) != 1 || named[0] != this {
			t.Errorf("%s: got a response by %q, want one by %s", name, named, this)
		}
	}
	for _, other := range []string{"2026-10-31", "2027-01-01", "v1", "", this + ", " + this} {
		got := b.pay(t, "pm_card_visa", "", header("Causeway-Version", other), keyed("k"))
		wantRefusal(t, got, invalid("unknown_version", "Causeway-Version"))
		if named := got.header.Get("Causeway-Version"); named != this {
			t.Errorf("%q: got a refusal by %q, want one by %s", other, named, this)
		}
	}
	paid := MustDecode[v1.Transaction](t, b.pay(t, "pm_card_visa", "", header("Causeway-Version", this), keyed("k")), 201)
	if list := MustDecode[v1.TransactionList](t, b.get(t, "/v1/transactions"), 200); len(list.Data) != 1 || list.Data[0].ID != paid.ID {
		t.Errorf("got %d transactions, want the one of this version", len(list.Data))
	}
	page := header("Origin", "https://shop.example")
	if got := b.post(t, "/v1/tokens", visa, b.publishable(t), page, header("Causeway-Version", "x")); got.status != 400 ||
		got.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("from a page: got %d %v, want a refusal that it can read", got.status, got.header)
	}
	preflight, err := http.NewRequestWithContext(t.Context(), http.MethodOptions, b.server.URL+"/v1/tokens", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	got, err := b.server.Client().Do(preflight)
	if err != nil {
		t.Fatal(err)
	}
	_ = got.Body.Close()
	if allowed := got.Header.Get("Access-Control-Allow-Headers"); !strings.Contains(allowed, "Causeway-Version") {
		t.Errorf("a page may send %s, want also Causeway-Version", allowed)
	}
}
