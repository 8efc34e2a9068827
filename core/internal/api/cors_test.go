package api_test

import (
	"net/http"
	"strings"
	"testing"
)

// fromPage sends a request as a browser does for a page of another origin.
var fromPage = header("Origin", "https://shop.example")

// TestPagesOfOtherOrigins: a browser lets a page read the responses to its tokens and
// confirmations, refusals included.
func TestPagesOfOtherOrigins(t *testing.T) {
	t.Parallel()
	b := setup(t)
	pk, u := b.publishable(t), b.MustPrepare(t, "")
	strict := openBundle(t, &bundle{rateLimit: -1, filter: proof})
	narrow := openBundle(t, &bundle{rateLimit: 1})
	for len(narrow.get(t, "/v1/transactions").header["Retry-After"]) == 0 {
		continue // until the limit refuses
	}
	for name, c := range map[string]struct {
		got    response
		status int
	}{
		"a token":             {b.post(t, "/v1/tokens", visa, pk, fromPage), 201},
		"no key":              {b.post(t, "/v1/tokens", visa, header("Authorization"), fromPage), 401},
		"a secret key":        {b.post(t, "/v1/tokens", visa, fromPage), 403},
		"without the filter":  {strict.post(t, "/v1/tokens", visa, fromPage), 403},
		"over the limit":      {narrow.post(t, "/v1/tokens", visa), 429},
		"no JSON":             {b.post(t, "/v1/tokens", "{", pk, fromPage), 400},
		"too large":           {b.post(t, "/v1/tokens", strings.Repeat(" ", 300<<10), pk, fromPage), 413},
		"encrypted":           {b.post(t, "/v1/tokens", visa, pk, fromPage, header("Content-Type", "application/jose")), 415},
		"another method":      {b.do(t, http.MethodPut, "/v1/tokens", visa, pk, fromPage), 405},
		"a wrong secret":      {b.confirm(t, u.id, `{"client_secret":"x","payment_method":"pm_card_visa"}`, pk, fromPage), 403},
		"a confirmation":      {b.confirm(t, u.id, u.proven(`,"payment_method":"pm_card_visa"`), pk, fromPage), 200},
		"no MLE in this core": {b.get(t, "/v1/mle/keys/current", pk, fromPage), 404},
	} {
		h := c.got.header
		if c.got.status != c.status || h.Get("Access-Control-Allow-Origin") != "*" ||
			h.Get("Access-Control-Expose-Headers") != "Request-Id, RateLimit, Retry-After, Causeway-Version" {
			t.Errorf("%s: got %d %v, want %d, readable by a page", name, c.got.status, h, c.status)
		}
	}
	for _, path := range []string{"/v1/transactions", "/v1/api_keys/current", "/v1/health"} {
		if got := b.get(t, path, pk, fromPage); len(got.header["Access-Control-Allow-Origin"]) > 0 {
			t.Errorf("%s: got %v, want no field for pages", path, got.header)
		}
	}
}

// TestPreflight: before the request of a page, a browser sends a preflight request without a key.
// It succeeds for the routes of publishable keys alone, and counts towards no key.
func TestPreflight(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for path, method := range map[string]string{
		"/v1/tokens": "POST", "/v1/transactions/txn_1/confirm": "POST", "/v1/mle/keys/current": "GET", "/v1/transactions": "",
		"/v1/transactions/txn_1": "",
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodOptions, b.server.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{
			"Origin": {"https://shop.example"}, "Access-Control-Request-Method": {"POST"},
			"Access-Control-Request-Headers": {"authorization,content-type,idempotency-key"},
		}
		got, err := b.server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = got.Body.Close()
		status := http.StatusNoContent
		if method == "" {
			status = http.StatusMethodNotAllowed
		}
		if h := got.Header; got.StatusCode != status || h.Get("Access-Control-Allow-Methods") != method ||
			h.Get("Request-Id") == "" || h.Get("RateLimit") != "" {
			t.Errorf("%s: got %d %v, want %d", path, got.StatusCode, h, status)
		}
	}
	if log := b.logs.String(); strings.Count(log, `"route":"OPTIONS /v1/`) != 3 {
		t.Errorf("got the log %s, want a line for each preflight request", log)
	}
}
