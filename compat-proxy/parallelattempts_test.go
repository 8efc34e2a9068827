package compatproxy_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	compatproxy "github.com/causeway-pay/causeway/compat-proxy"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/secret"
)

// gathering is v1 that identifies API keys only after release is closed, and counts those requests.
type gathering struct {
	next    http.Handler
	release chan struct{}
	arrived atomic.Int64
}

func (g *gathering) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/v1/api_keys/current" {
		g.arrived.Add(1)
		<-g.release
	}
	g.next.ServeHTTP(w, r)
}

// TestParallelLoginAttempts: of many wrong secrets for one login that arrive at once, ten are judged.
// Requests with the right secret that arrive at once are all served.
func TestParallelLoginAttempts(t *testing.T) {
	t.Parallel()
	const hop, requests = "0123456789012345678901234567890123456789abc=", 40
	file := filepath.Join(t.TempDir(), "credentials.yaml")
	text := "provider_a: [{name: shop, transaction_key: theRightKey12345, api_key: " + apiKey + "}]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	xml := func(key string) string {
		return `<authenticateTestRequest xmlns="AnetApi/xml/v1/schema/AnetApiSchema.xsd"><merchantAuthentication>` +
			`<name>shop</name><transactionKey>` + key + `</transactionKey></merchantAuthentication></authenticateTestRequest>`
	}
	guess := func(i int) string { return fmt.Sprintf("sk_test_%d_wrong", i) }
	const atA, atB = "/compat/provider-a/xml", "/compat/provider-b/pts/v2/payments"
	for name, tt := range map[string]struct {
		path             string
		key              func(i int) string // the transactionKey
		bearer           func(i int) string // nil for no Authorization header
		judged, accepted int64              // judged by v1, at most
	}{
		"guesses":               {atA, guess, nil, 10, 0},
		"guesses in a header":   {atA, func(int) string { return "" }, guess, 10, 0},
		"guesses at provider-b": {atB, guess, guess, 10, 0},
		"the right key":         {atA, func(int) string { return "theRightKey12345" }, nil, requests, requests},
		"the API key itself":    {atA, func(int) string { return apiKey }, nil, requests, requests},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := &gathering{next: knowing(&v1{}), release: make(chan struct{})}
			o := mustOperate(t, v, func(c *compatproxy.Config) { c.Hop, c.Credentials = secret.New(hop), file })
			var all sync.WaitGroup
			var responded, accepted atomic.Int64
			for i := range requests {
				all.Go(func() {
					defer responded.Add(1)
					_, got := send(t, http.MethodPost, o.url+tt.path, strings.NewReader(xml(tt.key(i))), func(r *http.Request) {
						r.Header.Set(httpx.HopField, hop)
						r.Header.Set(httpx.ClientAddressField, "203.0.113.7")
						r.Header.Set("V-C-Merchant-Id", "shop")
						if tt.bearer != nil {
							r.Header.Set("Authorization", "Bearer "+tt.bearer(i))
						}
					})
					if strings.Contains(got, "I00001") {
						accepted.Add(1)
					}
				})
			}
			for tt.accepted == 0 && v.arrived.Load()+responded.Load() < requests {
				runtime.Gosched()
			}
			close(v.release)
			all.Wait()
			if got := v.arrived.Load(); got > tt.judged || got == 0 {
				t.Errorf("judged: got %d, want 1 to %d", got, tt.judged)
			}
			if got := accepted.Load(); got != tt.accepted {
				t.Errorf("accepted: got %d, want %d", got, tt.accepted)
			}
		})
	}
}

// TestEndedAttemptsReserveNothing: a client that logs in with one API key after the other is never
// blocked, because none of the attempts was refused.
func TestEndedAttemptsReserveNothing(t *testing.T) {
	t.Parallel()
	const hop = "0123456789012345678901234567890123456789abc="
	xml := `<authenticateTestRequest xmlns="AnetApi/xml/v1/schema/AnetApiSchema.xsd"><merchantAuthentication>` +
		`<name>shop</name><transactionKey>KEY</transactionKey></merchantAuthentication></authenticateTestRequest>`
	for name, path := range map[string]string{
		"provider-a": "/compat/provider-a/xml", "provider-b": "/compat/provider-b/pts/v2/payments",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := mustOperate(t, &v1{}, func(c *compatproxy.Config) { c.Hop = secret.New(hop) })
			for i := range 12 {
				key := fmt.Sprintf("sk_test_%d", i)
				body := strings.NewReader(strings.Replace(xml, "KEY", key, 1))
				_, got := send(t, http.MethodPost, o.url+path, body, func(r *http.Request) {
					r.Header.Set(httpx.HopField, hop)
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
