package compatproxy_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	compatproxy "github.com/causeway-pay/causeway/compat-proxy"
)

// dying loses every call after some calls. The first lost one reaches v1 if after is set.
type dying struct {
	http.Handler

	left  atomic.Int64
	after bool
}

func (d *dying) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	left := d.left.Add(-1)
	if left >= 0 {
		d.Handler.ServeHTTP(w, r)
		return
	}
	if d.after && left == -1 {
		d.Handler.ServeHTTP(httptest.NewRecorder(), r)
	}
	panic(http.ErrAbortHandler)
}

// TestStoredChargeSurvivesTheProxy loses the proxy's calls to v1 from each one on. A retry of the
// charge at another proxy leaves one payment, with and without an Idempotency-Key. The first
// response is never a decline, and is an approval only if the payment exists.
func TestStoredChargeSurvivesTheProxy(t *testing.T) {
	t.Parallel()
	const calls = 8 // the API key, three about the name, the payment method, the payment, and two for the response
	body := keyedCases()["a, stored sale"].body
	for at := range calls {
		for _, after := range []bool{false, true} {
			for _, key := range []string{"", "k"} {
				t.Run(fmt.Sprintf("call %d, after v1 %t, key %q", at, after, key), func(t *testing.T) {
					t.Parallel()
					f := &keeping{kept: map[string]keptResponse{}, customers: map[string]map[string]any{}}
					dies := &dying{Handler: f, after: after}
					dies.left.Store(int64(at))
					post := func(upstream http.Handler, limit time.Duration) string {
						t.Helper()
						proxy := mustProxyOf(t, upstream, func(c *compatproxy.Config) { c.TotalTimeout = limit })
						_, response := send(t, http.MethodPost, proxy.URL+path, strings.NewReader(body), func(r *http.Request) {
							if key != "" {
								keyed(key)(r)
							}
						})
						return response
					}
					first := post(dies, 300*time.Millisecond)
					if strings.Contains(first, `"directResponse":"2,`) || strings.Contains(first, "I00001") && f.done() != 1 {
						t.Errorf("the first request: got %s with %d payments", first, f.done())
					}
					again := post(f, 0)
					if f.done() != 1 || !strings.Contains(again, "I00001") && !strings.Contains(again, `"directResponse":"3,1,11,`) {
						t.Errorf("the retry: got %d payments and %s after %s", f.done(), again, first)
					}
				})
			}
		}
	}
}
