package compatproxy_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	compatproxy "github.com/causeway-pay/causeway/compat-proxy"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/secret"
)

// TestLegacyField checks that every request to v1 reports whether the legacy request was encrypted,
// which only a hop with the hop secret can claim.
func TestLegacyField(t *testing.T) {
	t.Parallel()
	const hop = "a-hop-secret"
	for name, tt := range map[string]struct {
		fields map[string]string
		want   string
	}{
		"in the clear": {map[string]string{httpx.HopField: hop, httpx.ClientAddressField: "203.0.113.7"}, httpx.LegacyClear},
		"encrypted": {map[string]string{
			httpx.HopField: hop, httpx.ClientAddressField: "203.0.113.7", httpx.EncryptionField: "v1;kid=a;merchant=b",
		}, httpx.LegacyEncrypted},
		"a client's claim": {map[string]string{
			httpx.EncryptionField: "v1", httpx.LegacyField: "encrypted",
		}, httpx.LegacyClear},
		"a wrong secret": {map[string]string{
			httpx.HopField: "another", httpx.EncryptionField: "v1",
		}, httpx.LegacyClear},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			seen := map[string]int{} // guarded by mu
			proxy := mustProxyOf(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				seen[strings.Join(r.Header[httpx.LegacyField], ",")+" "+r.Header.Get(httpx.HopField)]++
				mu.Unlock()
				(&v1{}).ServeHTTP(w, r)
			}), func(c *compatproxy.Config) { c.Hop = secret.New(hop) })
			_, body := send(t, http.MethodPost, proxy.URL+pathB, strings.NewReader(saleB), func(r *http.Request) {
				asB(r)
				for field, value := range tt.fields {
					r.Header.Set(field, value)
				}
			})
			if !strings.Contains(body, authorizedB) {
				t.Fatalf("got %s", body)
			}
			if want := tt.want + " " + hop; len(seen) != 1 || seen[want] < 2 {
				t.Errorf("got %v, want only %q", seen, want)
			}
		})
	}
}
