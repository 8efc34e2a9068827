package mlefilter_test

import (
	"net/http"
	"strings"
	"testing"

	mlefilter "github.com/causeway-pay/causeway/mle-filter"
	"github.com/causeway-pay/causeway/mle-filter/internal/policy"
)

// strictPages requires encrypted bodies and responses on all routes.
func strictPages(c *mlefilter.Config) {
	c.Policy.Routes = []policy.Route{{Path: "/v1/**", MLE: policy.Required, Response: policy.Required}}
}

// exposed are the header fields that a page can read.
const exposed = "Request-Id, RateLimit, Retry-After, Causeway-Version"

// TestPages checks that a web page can read the responses of its three routes. Preflight requests
// need neither a key nor encryption.
func TestPages(t *testing.T) {
	t.Parallel()
	overHTTP := func(*mlefilter.Config) {}
	for name, place := range map[string]func(*mlefilter.Config){"over HTTP": overHTTP, "in process": inProcess} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			optional := open(t, place)
			required := open(t, func(c *mlefilter.Config) {
				place(c)
				strictPages(c)
			})
			fields := []string{"Origin", "https://shop.example"}
			jose := append(fields, "Content-Type", "application/jose", "X-SVC-MLE", "v1")
			for _, c := range []struct {
				f                  *filter
				method, path, body string
				fields             []string
				status             int
			}{
				{optional, "GET", "/v1/mle/keys/current", "", fields, 200},
				{optional, "GET", "/v1/mle/keys/current", "", append(fields, "Authorization", "Bearer x"), 401},
				{optional, "POST", "/v1/mle/keys/current", "", fields, 405},
				{optional, "POST", "/v1/tokens", "no JWE", jose, 400},
				{optional, "POST", "/v1/tokens", strings.Repeat("x", 1<<20), jose, 413},
				{required, "POST", "/v1/tokens", sale, fields, 400},
				{required, "POST", "/v1/transactions/txn_1/confirm", sale, fields, 400},
			} {
				g := c.f.send(t, c.f.Client(), c.method, c.path, c.body, c.fields...)
				if g.status != c.status || strings.Join(g.header["Access-Control-Allow-Origin"], "|") != "*" ||
					strings.Join(g.header["Access-Control-Expose-Headers"], "|") != exposed {
					t.Errorf("%s %s: got %d %v, want %d, readable by a page", c.method, c.path, g.status, g.header, c.status)
				}
			}
			other := optional.send(t, optional.Client(), "GET", "/v1/mle/keys", "", fields...)
			if other.header["Access-Control-Allow-Origin"] != nil {
				t.Errorf("another route: got %v, want no field for pages", other.header)
			}
			for _, path := range []string{"/v1/tokens", "/v1/transactions/txn_1/confirm", "/v1/mle/keys/current"} {
				if name == "in process" && path != "/v1/mle/keys/current" {
					continue // core responds, which has its own test
				}
				g := required.send(t, required.Client(), http.MethodOptions, path, "", "Authorization", "")
				if g.status != http.StatusNoContent || g.header.Get("Access-Control-Allow-Methods") == "" {
					t.Errorf("OPTIONS %s: got %d %v %s", path, g.status, g.header, g.body)
				}
			}
			if got := required.core.got(); len(got) > 0 {
				t.Errorf("core got %v, want nothing", got)
			}
		})
	}
}

// TestPagesBehindEnvoy checks the same for requests that Envoy carries to core.
func TestPagesBehindEnvoy(t *testing.T) {
	t.Parallel()
	f := open(t, strictPages)
	conn, end := f.behindEnvoy(t)
	defer end()
	preflight := judged(t, conn, ":method", "OPTIONS", ":path", "/v1/tokens")
	if !strings.Contains(preflight, "access-control-allow-methods POST") {
		t.Errorf("OPTIONS: got %s, want a response of the filter", preflight)
	}
	refused := judged(t, conn, ":path", "/v1/transactions/txn_1/confirm?x", "x-svc-mle-response", "sometimes")
	if !strings.Contains(refused, "access-control-allow-origin *") {
		t.Errorf("got %s, want a refusal that a page can read", refused)
	}
}
