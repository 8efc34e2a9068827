package compatproxy_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	compatproxy "github.com/causeway-pay/causeway/compat-proxy"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/secret"
)

// gathering is a v1 that identifies API keys only after release is closed. It counts those
// requests.
type gathering struct {
	next    http.Handler
	release chan struct{}
	arrived atomic.Int64
	shared  bool // all attempts have one key, and one request may identify it for all
}

func (g *gathering) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/v1/api_keys/current" {
		g.arrived.Add(1)
		<-g.release
	}
	g.next.ServeHTTP(w, r)
}

const parallelHop = "0123456789012345678901234567890123456789abc="

// together sends n concurrent login attempts as "shop" from one address. The transactionKey of
// attempt i is key(i), and its Authorization header has bearer(i). "" omits either. V1 identifies
// no key before each attempt has arrived there or got its response. together returns how many
// provider-a accepted.
func (g *gathering) together(t *testing.T, url string, n int, key, bearer func(int) string) int {
	t.Helper()
	xml := `<authenticateTestRequest xmlns="AnetApi/xml/v1/schema/AnetApiSchema.xsd"><merchantAuthentication>` +
		`<name>shop</name><transactionKey>%s</transactionKey></merchantAuthentication></authenticateTestRequest>`
	g.release = make(chan struct{})
	before := g.arrived.Load()
	var all sync.WaitGroup
	var responded, accepted atomic.Int64
	for i := range n {
		all.Go(func() {
			defer responded.Add(1)
			_, got := send(t, http.MethodPost, url, strings.NewReader(fmt.Sprintf(xml, key(i))), func(r *http.Request) {
				r.Header.Set(httpx.HopField, parallelHop)
				r.Header.Set(httpx.ClientAddressField, "203.0.113.7")
				r.Header.Set("V-C-Merchant-Id", "shop")
				if carried := bearer(i); carried != "" {
					r.Header.Set("Authorization", "Bearer "+carried)
				}
			})
			if strings.Contains(got, "I00001") {
				accepted.Add(1)
			}
		})
	}
	awaited := int64(n)
	if g.shared {
		awaited = 1
	}
	for g.arrived.Load()-before+responded.Load() < awaited {
		runtime.Gosched()
	}
	close(g.release)
	all.Wait()
	return int(accepted.Load())
}

// each returns a different key for each attempt.
func each(form string) func(int) string { return func(i int) string { return fmt.Sprintf(form, i) } }

func always(text string) func(int) string { return func(int) string { return text } }

// TestParallelLoginAttempts: of many concurrent wrong secrets for one login, ten are judged.
// Concurrent requests with the right secret are all served. So are requests with right API keys of
// many merchants from one address, because the login of an API key is free text.
func TestParallelLoginAttempts(t *testing.T) {
	t.Parallel()
	const requests = 40
	file := filepath.Join(t.TempDir(), "credentials.yaml")
	text := "provider_a: [{name: shop, transaction_key: theRightKey12345, api_key: " + apiKey + "}]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	const atA, atB = "/compat/provider-a/xml", "/compat/provider-b/pts/v2/payments"
	none, merchants := always(""), each("sk_test_%d_right")
	for name, tt := range map[string]struct {
		path        string
		key, bearer func(i int) string
		accepted    int
		counted     string // how the attempts count
	}{
		"guesses":                  {atA, each("aWrongKey%d"), none, 0, `outcome="refused"} 10`},
		"guesses in a header":      {atA, none, each("aWrongKey%d"), 0, `outcome="refused"} 10`},
		"guesses at provider-b":    {atB, none, each("aWrongKey%d"), 0, `outcome="refused"} 10`},
		"the right key":            {atA, always("theRightKey12345"), none, requests, `outcome="accepted"} 40`},
		"the API key itself":       {atA, always(apiKey), none, requests, `outcome="accepted"} 40`},
		"API keys":                 {atA, merchants, none, requests, `outcome="accepted"} 40`},
		"API keys in a header":     {atA, none, merchants, requests, `outcome="accepted"} 40`},
		"API keys at provider-b":   {atB, none, merchants, 0, `outcome="accepted"} 40`},
		"wrong keys":               {atA, each("sk_test_%d_wrong"), none, 0, `outcome="refused"} 40`},
		"wrong keys at provider-b": {atB, none, each("sk_test_%d_wrong"), 0, `outcome="refused"} 40`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := &gathering{next: checkingKeys(&v1{}), shared: tt.key(0) == tt.key(1) && tt.bearer(0) == tt.bearer(1)}
			o := mustOperate(t, v, func(c *compatproxy.Config) { c.Hop, c.Credentials = secret.New(parallelHop), file })
			if got := v.together(t, o.url+tt.path, requests, tt.key, tt.bearer); got != tt.accepted {
				t.Errorf("accepted: got %d, want %d", got, tt.accepted)
			}
			o.wantSeries(t, regexp.QuoteMeta(`causeway_compat_login_attempts_total{`+tt.counted))
		})
	}
}

// TestParallelWrongAPIKeys: concurrent wrong API keys from one address are judged, up to the number
// of concurrent requests of the proxy. They block no API key of another client at that address.
func TestParallelWrongAPIKeys(t *testing.T) {
	t.Parallel()
	const concurrency, requests = 64, 100
	for name, path := range map[string]string{
		"provider-a": "/compat/provider-a/xml", "provider-b": "/compat/provider-b/pts/v2/payments",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := &gathering{next: checkingKeys(&v1{})}
			now := clock.NewFake(time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC))
			o := mustOperate(t, v, func(c *compatproxy.Config) {
				c.Hop, c.Concurrency, c.Clock = secret.New(parallelHop), concurrency, now
			})
			for _, keys := range []string{
				"sk_test_a%d_wrong", "sk_test_b%d_wrong", "sk_test_c%d_wrong", "sk_test_d%d_right",
			} {
				before := v.arrived.Load()
				v.together(t, o.url+path, requests, always(""), each(keys))
				if got := v.arrived.Load() - before; got == 0 || got > concurrency {
					t.Errorf("%s: judged %d, want 1 to %d", keys, got, concurrency)
				}
			}
		})
	}
}

// TestEndedAttemptsReserveNothing: a client that logs in with one API key after the other is never
// blocked, because none of the attempts was refused.
func TestEndedAttemptsReserveNothing(t *testing.T) {
	t.Parallel()
	xml := `<authenticateTestRequest xmlns="AnetApi/xml/v1/schema/AnetApiSchema.xsd"><merchantAuthentication>` +
		`<name>shop</name><transactionKey>KEY</transactionKey></merchantAuthentication></authenticateTestRequest>`
	for name, path := range map[string]string{
		"provider-a": "/compat/provider-a/xml", "provider-b": "/compat/provider-b/pts/v2/payments",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := mustOperate(t, &v1{}, func(c *compatproxy.Config) { c.Hop = secret.New(parallelHop) })
			for i := range 12 {
				key := fmt.Sprintf("sk_test_%d", i)
				body := strings.NewReader(strings.Replace(xml, "KEY", key, 1))
				_, got := send(t, http.MethodPost, o.url+path, body, func(r *http.Request) {
					r.Header.Set(httpx.HopField, parallelHop)
					r.Header.Set(httpx.ClientAddressField, "203.0.113.7")
					if name == "provider-b" {
						r.Header.Set("Authorization", "Bearer "+key)
						r.Header.Set("V-C-Merchant-Id", "shop")
					}
				})
				if strings.Contains(got, "E00007") || strings.Contains(got, "Authentication Failed") {
					t.Fatalf("attempt %d: got %s", i, got)
				}
			}
		})
	}
}
