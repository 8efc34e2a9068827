package edge_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/deploy/test/browser"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestBrowserPays pays in core's sample page through an Envoy.
func TestBrowserPays(t *testing.T) {
	t.Parallel()
	r := newDeployment(t)
	r.serve(t)
	client := r.client(t, nil)
	first := browser.Start(t, "MAP "+host+":443 "+r.https())
	browser.Pay(t, first.NewTab(t), browser.Service{
		URL: "https://" + host, Client: client, Secret: r.key, Publishable: r.newKey(t, client, `{"kind":"publishable"}`),
	})
}

// newKey creates an API key.
func (r *deployment) newKey(t *testing.T, client *http.Client, body string) string {
	t.Helper()
	made := r.api(t, client, http.MethodPost, "/v1/api_keys", body)
	var key v1.APIKey
	if err := json.Unmarshal([]byte(made.body), &key); err != nil || key.Secret == nil {
		t.Fatalf("a key: got %d %s, %v", made.status, made.body, err)
	}
	return key.Secret.Reveal()
}

// testPages sends the requests of a web page of another origin. The page can read each response,
// whichever program wrote it. Each field is written once: a browser rejects a repeated one.
func testPages(t *testing.T, r *deployment) {
	t.Helper()
	client := r.client(t, onlyHTTP2)
	key := r.newKey(t, client, `{"kind":"publishable"}`)
	const tokens, confirm, current = "/v1/tokens", "/v1/transactions/txn_1/confirm", "/v1/mle/keys/current"
	const card = `{"card":{"number":"4111111111111111","exp_month":4,"exp_year":2031}}`
	for name, c := range map[string]struct {
		method, path, body, contentType string
		status                          int
	}{
		"core: a token":           {"POST", tokens, card, "application/json", 201},
		"core: a refusal":         {"POST", confirm, card, "application/json", 404},
		"core: a preflight":       {"OPTIONS", tokens, "", "", 204},
		"mle-filter: a refusal":   {"POST", tokens, "no JWE", "application/jose", 400},
		"mle-filter: a key":       {"GET", current, "", "", 200},
		"mle-filter: a preflight": {"OPTIONS", current, "", "", 204},
		"Envoy: a refusal":        {"POST", tokens, strings.Repeat("x", 2<<20), "application/json", 413},
	} {
		fields := []string{
			"Origin", "https://shop.example", "Content-Type", c.contentType, "Authorization", "Bearer " + key,
		}
		if c.contentType == "application/jose" {
			fields = append(fields, "X-SVC-MLE", "v1")
		}
		if c.method == http.MethodOptions {
			fields = []string{"Origin", "https://shop.example", "Access-Control-Request-Method", "POST"}
		}
		got := send(t, client, c.method, "https://"+host+c.path, c.body, fields...)
		allowed := got.header["Access-Control-Allow-Origin"]
		if got.status != c.status || len(allowed) != 1 || allowed[0] != "*" {
			t.Errorf("%s: got %d %v %s, want %d, once for any origin", name, got.status, got.header, got.body, c.status)
		}
		exposed := got.header["Access-Control-Expose-Headers"]
		if c.method != http.MethodOptions && len(exposed) != 1 {
			t.Errorf("%s: got %v, want the fields that the page can read", name, got.header)
		}
	}
	r.testOtherPages(t, client, tokens, current)
	got := send(t, client, http.MethodPost, "https://"+host+tokens, card, "Origin", "https://shop.example", "Content-Type",
		"application/json", "Authorization", "Bearer "+r.key)
	if got.status != http.StatusForbidden || !strings.Contains(got.body, "secret_key_in_browser") ||
		got.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("a secret key: got %d %v %s, want a refusal that the page can read", got.status, got.header, got.body)
	}
}

// testOtherPages is testPages with a key for the pages of another origin.
func (r *deployment) testOtherPages(t *testing.T, client *http.Client, tokens, current string) {
	t.Helper()
	elsewhere := r.newKey(t, client, `{"kind":"publishable","allowed_origins":["https://other.example"]}`)
	for path, method := range map[string]string{tokens: http.MethodPost, current: http.MethodGet} {
		got := send(t, client, method, "https://"+host+path, "", "Origin", "https://shop.example",
			"Authorization", "Bearer "+elsewhere)
		if allowed := got.header["Access-Control-Allow-Origin"]; got.status != http.StatusForbidden ||
			!strings.Contains(got.body, "origin_not_allowed") || len(allowed) != 1 || allowed[0] != "*" {
			t.Errorf("%s: got %d %v %s, want a refusal that the page can read", path, got.status, got.header, got.body)
		}
	}
}
