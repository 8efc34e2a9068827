package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/httpx"
)

// pageRoutes are routes for paths that web pages can call. Envoy refuses requests there.
const pageRoutes = `routes:
  - {path: /v1/mle/keys/current, upstream: gone, mle: off}
  - {path: /v1/**, upstream: core}
`

// TestPages checks that a web page can read Envoy's own responses on the routes of publishable
// keys, and on no others. Core and mle-filter write the fields of their responses.
func TestPages(t *testing.T) {
	t.Parallel()
	b := newTestbed(t)
	b.configure(t, "limits: {max_body: 1024}\n"+pageRoutes)
	b.run(t)
	b.envoy(t).Listeners(t)
	long := strings.Repeat("x", 1025)
	for name, client := range map[string]*http.Client{"HTTP1": b.client(), "HTTP2": b.http2()} {
		for _, c := range []struct {
			method, path, body string
			fields             []string
			status             int
			want               string
		}{
			{"POST", "/v1/tokens", long, nil, 413, "*"},
			{"POST", "/v1/tokens?x", long, nil, 413, "*"},
			{"POST", "/v1/transactions/txn_1/confirm", long, nil, 413, "*"},
			{"POST", "/v1/tokens", "{}", []string{"Expect", "200-ok"}, 417, "*"},
			{"GET", "/v1/mle/keys/current", "", nil, 503, "*"},
			{"GET", "/v1/mle/keys/current?alg=x", "", nil, 503, "*"},
			{"GET", "/v1/mle/keys/current", "", []string{"X-SVC-MLE", "v1"}, 400, "*"},

			{"POST", "/v1/tokens/x", long, nil, 413, ""},
			{"POST", "/v1/transactions", long, nil, 413, ""},
			{"POST", "/v1/transactions/confirm", long, nil, 413, ""},
			{"POST", "/v1/transactions/a/b/confirm", long, nil, 413, ""},
			{"POST", "/v1/transactions/txn_1/void", long, nil, 413, ""},
			{"GET", "/v2/tokens", "", nil, 404, ""},
			{"POST", "/v1/tokens", "{}", nil, 200, ""},
		} {
			fields := append(c.fields, "Origin", "https://shop.example")
			got := b.send(t, client, c.method, "https://"+host+c.path, c.body, fields...)
			exposed := ""
			if c.want != "" {
				exposed = "Request-Id, RateLimit, Retry-After, Causeway-Version"
			}
			if got.status != c.status || strings.Join(got.header["Access-Control-Allow-Origin"], "|") != c.want ||
				strings.Join(got.header["Access-Control-Expose-Headers"], "|") != exposed {
				t.Errorf("%s %s %s: got %d %v, want %d with %q", name, c.method, c.path, got.status, got.header, c.status, c.want)
			}
		}
	}
	for _, malformed := range []string{"NONSENSE\r\n\r\n", "GET /v1/tokens HTTP/1.1\r\n\r\n"} {
		if got := b.raw(t, malformed); got.status != 400 || got.header.Get("Access-Control-Allow-Origin") == "-" {
			t.Errorf("%q: got %d %v", malformed, got.status, got.header)
		}
	}
	b.refusesLongHeads(t)
	if got := b.send(t, b.client(), "OPTIONS", "https://"+host+"/v1/tokens", ""); got.body != "core /v1/tokens" {
		t.Errorf("OPTIONS: got %d %s, want core's response", got.status, got.body)
	}
}

// refusesLongHeads checks that a page can read the 431 of Envoy. Envoy does not read the path of
// such a request, so it can be one of a page's.
func (b *testbed) refusesLongHeads(t *testing.T) {
	t.Helper()
	for _, long := range []string{
		"GET /v1/tokens?" + strings.Repeat("x", 20<<10) + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n",
		"GET /v1/tokens HTTP/1.1\r\nHost: " + host + "\r\n" + strings.Repeat("X-A: b\r\n", 100) + "\r\n",
	} {
		got := b.raw(t, long)
		if got.status != 431 || strings.Join(got.header["Access-Control-Allow-Origin"], "|") != "*" ||
			strings.Join(got.header["Access-Control-Expose-Headers"], "|") != httpx.ExposeHeaders {
			t.Errorf("%.20q: got %d %v, want a refusal that the page can read", long, got.status, got.header)
		}
	}
}

// TestPagesOverTheRate checks that preflight requests count towards the rate limit of their
// address, and that a page can read its refusals.
func TestPagesOverTheRate(t *testing.T) {
	t.Parallel()
	b := newTestbed(t)
	b.configure(t, "limits: {rate: 1, burst: 3}")
	b.run(t)
	b.envoy(t).Listeners(t)
	for range 10 {
		got := b.send(t, b.client(), "OPTIONS", "https://"+host+"/v1/tokens", "")
		if got.status == 200 {
			continue
		}
		if got.status != 429 || got.header.Get("Access-Control-Allow-Origin") != "*" ||
			got.header.Get("Access-Control-Expose-Headers") == "" || got.header.Get("Retry-After") != "1" {
			t.Errorf("got %d %v", got.status, got.header)
		}
		return
	}
	t.Error("ten preflight requests were accepted")
}
