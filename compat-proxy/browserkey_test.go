package compatproxy_test

import (
	"net/http"
	"strings"
	"testing"

	compatproxy "github.com/causeway-pay/causeway/compat-proxy"
)

// TestSecretKeyInBrowser: a secret API key with an Origin header comes from a web page. Like v1,
// every dialect refuses it in every form of login, and executes nothing. Legacy logins are
// accepted.
func TestSecretKeyInBrowser(t *testing.T) {
	t.Parallel()
	const (
		rpcA             = `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + payment + `}}`
		rpcB             = `{"jsonrpc":"2.0","id":1,"method":"compat.provider-b.createPayment","params":` + saleB + `}`
		deniedA, deniedB = "E00011", `"type":"FORBIDDEN"`
		paidA            = "This transaction has been approved."
	)
	bearer := func(r *http.Request) { asB(r) }
	for name, tt := range map[string]struct {
		path, body   string
		change       func(*http.Request)
		denied, paid string
		status       int
	}{
		"provider-a, key in the body":   {path, sale, nil, deniedA, paidA, http.StatusOK},
		"provider-a, key in the header": {path, sale, bearer, deniedA, paidA, http.StatusOK},
		"provider-a by RPC":             {rpcPath, rpcA, bearer, deniedA, paidA, http.StatusOK},
		"provider-b":                    {pathB, saleB, bearer, deniedB, authorizedB, http.StatusForbidden},
		"provider-b at its own path":    {"/pts/v2/payments", saleB, bearer, deniedB, authorizedB, http.StatusForbidden},
		"provider-b by RPC":             {rpcPath, rpcB, bearer, deniedB, authorizedB, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &v1{}
			proxy := mustProxy(t, s, func(c *compatproxy.Config) { c.DropInPaths = true })
			for _, origin := range []string{"https://shop.example", "null", ""} {
				resp, body := send(t, http.MethodPost, proxy.URL+tt.path, strings.NewReader(tt.body), func(r *http.Request) {
					if tt.change != nil {
						tt.change(r)
					}
					r.Header["Origin"] = []string{origin}
				})
				if resp.status != tt.status || !strings.Contains(body, tt.denied) || !strings.Contains(body, "Origin") {
					t.Errorf("from %q: got %d %s, want %d with %s", origin, resp.status, body, tt.status, tt.denied)
				}
			}
			if got := s.creates.Load(); got != 0 {
				t.Errorf("got %d payments, want none", got)
			}
			_, got := send(t, http.MethodPost, proxy.URL+tt.path, strings.NewReader(tt.body), tt.change)
			if !strings.Contains(got, tt.paid) {
				t.Errorf("without an Origin: got %s, want %s", got, tt.paid)
			}
		})
	}
}
