package api_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func TestRateLimit(t *testing.T) {
	t.Parallel()
	b := openBundle(t, &bundle{rateLimit: 2})
	limited := refusal{429, v1.ErrorTypeRateLimitError, "rate_limited", ""}
	for _, want := range []string{`"key";r=3;t=1`, `"key";r=2;t=1`, `"key";r=1;t=2`} {
		a := b.get(t, "/v1/transactions")
		MustDecode[page](t, a, 200)
		if got, policy := a.header.Get("RateLimit"), a.header.Get("RateLimit-Policy"); got != want || policy != `"key";q=4;w=2` {
			t.Errorf("got %s of %s, want %s", got, policy, want)
		}
	}
	if a := b.get(t, "/v1/captures/x"); a.header.Get("RateLimit") != `"key";r=0;t=2` {
		t.Errorf("on a refusal: got %d %s", a.status, a.header.Get("RateLimit"))
	}
	before := b.rows(t)
	a := b.post(t, "/v1/transactions", create(5, ""), keyed("k"))
	wantRefusal(t, a, limited)
	if got := a.header.Get("Retry-After"); got != "1" || a.header.Get("RateLimit") != `"key";r=0;t=2` {
		t.Errorf("retry after %q, limit %s", got, a.header.Get("RateLimit"))
	}
	if got, want := b.rows(t), before; got != want {
		t.Errorf("rows: got %s, want %s", got, want)
	}
	// Another key has its own bucket. Requests without a key have none.
	other := coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "test", Kind: "secret"})
	MustDecode[page](t, b.get(t, "/v1/transactions", as(other)), 200)
	for range 10 {
		if a := b.get(t, "/v1/health", header("Authorization")); a.status != 200 || a.header.Get("RateLimit") != "" {
			t.Errorf("health: got %d %s", a.status, a.header.Get("RateLimit"))
		}
		wantRefusal(t, b.get(t, "/v1/transactions", as("sk_test_x")), refusal{401, v1.ErrorTypeAuthenticationError, "invalid_api_key", ""})
	}
	b.clock.Advance(500 * time.Millisecond)
	MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", create(5, ""), keyed("k")), 201) // the refusal was not stored
	wantRefusal(t, b.get(t, "/v1/transactions"), limited)
	operations := httptest.NewServer(b.core.Operations())
	t.Cleanup(operations.Close)
	if series, _ := read(t, operations.URL+"/metrics"); !strings.Contains(series, "causeway_refused_requests_total{reason=\"rate_limited\"} 2\n") {
		t.Errorf("two were turned away, and the metrics are\n%s", series)
	}
}

// TestPayersHaveShares: a client that reads the publishable key of a page leaves the key's limit to
// other payers, with all addresses of its network. Requests for which the key lacks the right do
// not count towards the key's limit.
func TestPayersHaveShares(t *testing.T) {
	t.Parallel()
	b := openBundle(t, &bundle{rateLimit: 20, hop: strings.Repeat("h", 43)})
	payer := b.MustSender(t, "publishable", "")
	at := func(address string) option { return from(&sender{secret: payer.secret, address: address, hop: b.hop}) }
	limited := refusal{429, v1.ErrorTypeRateLimitError, "rate_limited", ""}
	forbidden := refusal{403, v1.ErrorTypePermissionError, "publishable_key_not_allowed", ""}
	for want := 3; want >= 0; want-- {
		a := b.get(t, "/v1/transactions", at("203.0.113.7"))
		wantRefusal(t, a, forbidden)
		if got := a.header.Get("RateLimit"); !strings.HasPrefix(got, fmt.Sprintf(`"address";r=%d;`, want)) {
			t.Errorf("got %s, want %d left", got, want)
		}
	}
	const path, body = "/v1/tokens", `{"card":{"number":"4242424242424242","exp_month":12,"exp_year":2031}}`
	for range 40 {
		wantRefusal(t, b.get(t, "/v1/transactions", at("203.0.113.7")), limited)
		a := b.post(t, path, body, at("203.0.113.7"))
		wantRefusal(t, a, limited)
		if a.header.Get("RateLimit-Policy") != `"address";q=4;w=2` || a.header.Get("Retry-After") != "1" {
			t.Errorf("got %v", a.header)
		}
	}
	for i := range 40 {
		a := b.get(t, "/v1/transactions", at(fmt.Sprintf("2001:db8:0:%x::1", i)))
		if i < 8 {
			wantRefusal(t, a, forbidden)
			continue
		}
		wantRefusal(t, a, limited)
		if got := a.header.Get("RateLimit-Policy"); got != `"network";q=8;w=2` {
			t.Errorf("got %s", got)
		}
	}
	for i := range 40 { // all of the key's budget is left
		a := b.post(t, path, body, at(fmt.Sprintf("198.%d.0.1", i)))
		MustDecode[v1.Token](t, a, 201)
		if want := fmt.Sprintf(`"key";r=%d;`, 39-i); !strings.HasPrefix(a.header.Get("RateLimit"), want) {
			t.Errorf("got %s, want %s", a.header.Get("RateLimit"), want)
		}
	}
}

// TestProxyIsNoPayer: without a hop secret, all payers have the private address of the proxy in
// front. Only the key's limit applies.
func TestProxyIsNoPayer(t *testing.T) {
	t.Parallel()
	b := openBundle(t, &bundle{rateLimit: 20})
	pk := b.publicKey(t)
	for want := 39; want >= 0; want-- {
		a := b.get(t, "/v1/transactions", as(pk))
		if got := a.header.Get("RateLimit"); a.status != 403 || !strings.HasPrefix(got, fmt.Sprintf(`"key";r=%d;`, want)) {
			t.Errorf("got %d and %s, want %d left", a.status, got, want)
		}
	}
}

func TestDefaultRateLimit(t *testing.T) {
	t.Parallel()
	b := openBundle(t, &bundle{hop: strings.Repeat("h", 43)})
	want := fmt.Sprintf(`"key";q=%d;w=2`, 2*core.DefaultRateLimit)
	if got := b.get(t, "/v1/api_keys/current").header.Get("RateLimit-Policy"); got != want {
		t.Errorf("by default: got %s, want %s", got, want)
	}
	limit := b.get(t, "/v1/transactions", as(b.publicKey(t))).header.Get("RateLimit-Policy")
	if want := fmt.Sprintf(`"address";q=%d;w=2`, core.DefaultRateLimit/5); limit != want {
		t.Errorf("of a payer by default: got %s, want %s", limit, want)
	}
	for path, pattern := range map[string]string{
		"../../docs/api-keys.md": `may make ([\d,]+) requests a second, and twice as many after a pause`,
		"../../../CHANGELOG.md":  "`--rate-limit`; ([\\d,]+) requests a second",
	} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(pattern).FindSubmatch(text)
		if found == nil || strings.ReplaceAll(string(found[1]), ",", "") != strconv.Itoa(core.DefaultRateLimit) {
			t.Errorf("%s names another default than %d: %q", path, core.DefaultRateLimit, found)
		}
	}
	if got := setup(t).get(t, "/v1/api_keys/current").header.Get("RateLimit-Policy"); got != "" {
		t.Errorf("without a limit: got %s", got)
	}
}
