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
	MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", create(5, ""), keyed("k")), 201) // the refusal was not kept
	wantRefusal(t, b.get(t, "/v1/transactions"), limited)
	operations := httptest.NewServer(b.core.Operations())
	t.Cleanup(operations.Close)
	if series, _ := read(t, operations.URL+"/metrics"); !strings.Contains(series, "causeway_refused_requests_total{reason=\"rate_limited\"} 2\n") {
		t.Errorf("two were turned away, and the metrics are\n%s", series)
	}
}

func TestDefaultRateLimit(t *testing.T) {
	t.Parallel()
	b := openBundle(t, &bundle{})
	want := fmt.Sprintf(`"key";q=%d;w=2`, 2*core.DefaultRateLimit)
	if got := b.get(t, "/v1/api_keys/current").header.Get("RateLimit-Policy"); got != want {
		t.Errorf("by default: got %s, want %s", got, want)
	}
	for path, pattern := range map[string]string{
		"../../README.md":       `may make ([\d,]+) requests a second, and twice as many at once`,
		"../../../CHANGELOG.md": "`--rate-limit`; ([\\d,]+) requests a second",
	} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		told := regexp.MustCompile(pattern).FindSubmatch(text)
		if told == nil || strings.ReplaceAll(string(told[1]), ",", "") != strconv.Itoa(core.DefaultRateLimit) {
			t.Errorf("%s tells another default than %d: %q", path, core.DefaultRateLimit, told)
		}
	}
	if got := setup(t).get(t, "/v1/api_keys/current").header.Get("RateLimit-Policy"); got != "" {
		t.Errorf("without a limit: got %s", got)
	}
}
