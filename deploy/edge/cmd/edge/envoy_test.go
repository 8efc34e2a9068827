package main

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// response is a response from Envoy.
type response struct {
	status int
	header http.Header
	body   string
}

func (b *testbed) send(t *testing.T, by *http.Client, method, url, body string, fields ...string) response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
		if fields[i] == "Host" {
			r.Host = fields[i+1]
		}
	}
	got, err := by.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close() //nolint:errcheck // it was read
	text, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response{got.StatusCode, got.Header, string(text)}
}

// raw sends the path unchanged; a Go client would normalise it.
func (b *testbed) raw(t *testing.T, text string) response {
	t.Helper()
	conn, err := b.handshake(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	got, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("%.80q: %v", text, err)
	}
	defer got.Body.Close() //nolint:errcheck // it was read
	body, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatalf("%.80q: %v", text, err)
	}
	return response{got.StatusCode, got.Header, string(body)}
}

// served returns a testbed with a control plane and a ready Envoy.
func served(t *testing.T) *testbed {
	t.Helper()
	b := newTestbed(t)
	b.run(t)
	b.envoy(t).Listeners(t)
	return b
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	b := served(t)
	for name, client := range map[string]*http.Client{"HTTP1": b.client(), "HTTP2": b.http2()} {
		for path, want := range map[string]struct {
			body, word string
			status     int
		}{
			"/compat/x":      {"compat /compat/x", "", 200},
			"/v1/x?a=b":      {"core /v1/x", "optional", 200},
			"/v1":            {"core /v1", "optional", 200},
			"/v1/special":    {"core /v1/special", "optional", 200},
			"/v1/special/no": {"core /v1/special/no", "optional", 200},
			"/v10":           {"route_not_found", "", 404},
			"/":              {"route_not_found", "", 404},
			"/calendar.ics":  {"route_not_found", "", 404}, // only on the trust host
			"/v1/trust/x":    {"route_not_found", "", 404}, // edge responds, and the filter does not see it
		} {
			got := b.send(t, client, "GET", "https://"+host+path, "")
			bare, _, _ := strings.Cut(path, "?")
			if got.status != want.status || !strings.Contains(got.body, want.body) || b.filter.word(bare) != want.word {
				t.Errorf("%s %s: got %d %s, filter %q", name, path, got.status, got.body, b.filter.word(bare))
			}
			if got.header.Get(tlspolicy.HSTSHeader) != tlspolicy.HSTS {
				t.Errorf("%s %s: HSTS: got %q", name, path, got.header.Values(tlspolicy.HSTSHeader))
			}
		}
	}
	for url, want := range map[string]int{
		"https://trust.example.com/calendar.ics": 200, "https://trust.example.com/v1/trust": 200,
		"https://trust.example.com/v1/x":             404,
		"https://" + host + "/v1/trust/fingerprints": 200,
	} {
		if got := b.send(t, b.client(), "GET", url, ""); got.status != want || got.header.Get(tlspolicy.HSTSHeader) == "" {
			t.Errorf("%s: got %d %v", url, got.status, got.header)
		}
	}
	// The doc_url of an error of the trust host is relative.
	docs := b.send(t, b.client(), "GET", "https://trust.example.com/docs", "")
	if want := "https://" + host + "/docs"; docs.status != 307 || docs.header.Get("Location") != want {
		t.Errorf("/docs of the trust host: got %d %v, want a redirect to %s", docs.status, docs.header, want)
	}
}

func (b *testbed) http2() *http.Client {
	c := b.client()
	if t, ok := c.Transport.(*http.Transport); ok {
		onlyHTTP2(t)
	}
	return c
}

// TestOnDemand checks that of a route on demand, only requests with encryption pass the filter.
func TestOnDemand(t *testing.T) {
	t.Parallel()
	b := served(t)
	for name, client := range map[string]*http.Client{"HTTP1": b.client(), "HTTP2": b.http2()} {
		for path, tt := range map[string]struct {
			fields []string
			word   string
		}{
			"clear": {}, "json": {fields: []string{"Content-Type", "application/json"}},
			"version":  {[]string{"X-SVC-MLE", "v1"}, "optional"},
			"response": {[]string{"X-Svc-Mle-Response", "required"}, "optional"},
			"kid":      {[]string{"x-svc-mle-response-kid", "k"}, "optional"},
			"type":     {[]string{"Content-Type", "Application/JOSE; a=b"}, "optional"},
		} {
			path = "/demand/" + name + "/" + path
			got := b.send(t, client, "POST", "https://"+host+path, "{}", tt.fields...)
			if got.status != 200 || !strings.Contains(got.body, "core "+path) || b.filter.word(path) != tt.word {
				t.Errorf("%s: got %d %s, filter %q, want %q", path, got.status, got.body, b.filter.word(path), tt.word)
			}
		}
	}
}

// TestLargeResponses checks that a v1 response of a megabyte passes the filter, over both versions
// of HTTP. It does so for each body of the request, and also if the filter encrypts the response.
func TestLargeResponses(t *testing.T) {
	t.Parallel()
	b := served(t)
	for name, client := range map[string]*http.Client{"HTTP1": b.client(), "HTTP2": b.http2()} {
		for method, body := range map[string]string{"GET": "", "POST": "{}", "PUT": strings.Repeat("x", 256<<10)} {
			for _, fields := range [][]string{
				nil, {"X-SVC-MLE-Response", "required"}, {"X-SVC-MLE", "v1", "X-SVC-MLE-Response", "required"},
			} {
				got := b.send(t, client, method, "https://"+host+"/v1/large", body, fields...)
				if got.status != 200 || len(got.body) < 1<<20 {
					t.Errorf("%s %s %v: got %d %.200s, %d bytes", name, method, fields, got.status, got.body, len(got.body))
				}
			}
		}
	}
}

// TestPaths checks that no spelling of a path reaches core without the filter, and that internal
// header fields of a client are removed.
func TestPaths(t *testing.T) {
	t.Parallel()
	b := served(t)
	for path, want := range map[string]struct {
		status int
		body   string // "UPSTREAM PATH", as the upstream saw it
	}{
		"/compat/../v1/x":         {200, "core /v1/x"}, // normalised to /v1/x, with the filter
		"/compat/%2e%2e/v1/x":     {200, "core /v1/x"},
		"/compat/.%2E/v1/x":       {200, "core /v1/x"},
		"/compat%2f..%2fv1/x":     {400, "invalid_request"},
		"/compat/..%2fv1/x":       {400, "invalid_request"},
		"/compat/..%5cv1/x":       {400, "invalid_request"},
		"//v1/x":                  {200, "core /v1/x"},
		"/V1/x":                   {404, "route_not_found"},
		"/compat//../v1/x":        {200, "compat /compat/v1/x"},
		"/compatx/../v1/x":        {200, "core /v1/x"},
		"/compat/%252e%252e/v1/x": {200, "compat /compat/%2e%2e/v1/x"},
		"/v1/special/../x":        {200, "core /v1/x"},
		"/v1/x/../special":        {200, "core /v1/special"},
		"/%76%31/x":               {200, "core /v1/x"},
		"/compat;/../v1/x":        {200, "core /v1/x"},
	} {
		_, before := b.core.last()
		got := b.raw(t, "GET "+path+" HTTP/1.1\r\nHost: "+host+
			"\r\nConnection: close\r\nX-Svc-Int-Proof: mine\r\nX-SVC-INT-Other: mine\r\n\r\n")
		r, after := b.core.last()
		if got.status != want.status || !strings.Contains(got.body, want.body) {
			t.Errorf("%s: got %d %s, want %v", path, got.status, got.body, want)
		}
		if after > before {
			if proof := r.Header.Values("X-Svc-Int-Proof"); len(proof) != 1 || proof[0] != "filter" ||
				r.Header.Get("X-Svc-Int-Other") != "" {
				t.Errorf("%s: core got %v", path, r.Header)
			}
		}
	}
	got := b.raw(t, "GET /compat/x HTTP/1.1\r\nHost: "+host+"\r\nConnection: close\r\nX-Svc-Int-Proof: mine\r\n\r\n")
	if r, _ := b.compat.last(); got.status != 200 || r.Header.Get("X-Svc-Int-Proof") != "" {
		t.Errorf("got %d, compat got %v", got.status, r.Header)
	}
}

// TestResponsesOfEnvoy checks HSTS and the body of v1's errors on each kind of Envoy's own
// responses.
func TestResponsesOfEnvoy(t *testing.T) {
	t.Parallel()
	b := served(t)
	client := b.client()
	url := "https://" + host
	head := "Host: " + host + "\r\nConnection: close\r\n"
	ids := map[string]struct{}{}
	for name, tt := range map[string]struct {
		got    response
		status int
		code   string
	}{
		"NoRoute":    {b.send(t, client, "GET", url+"/none", ""), 404, "route_not_found"},
		"OtherHost":  {b.send(t, client, "GET", url+"/v1/x", "", "Host", "other.example.com"), 421, "misdirected_request"},
		"WithPort":   {b.send(t, client, "GET", url+"/none", "", "Host", host+":8443"), 404, "route_not_found"},
		"Gone":       {b.send(t, client, "GET", url+"/gone", ""), 503, "service_unavailable"},
		"TooLarge":   {b.send(t, client, "POST", url+"/v1/x", strings.Repeat("x", 256<<10+1)), 413, "body_too_large"},
		"Underscore": {b.raw(t, "GET /v1/x HTTP/1.1\r\n"+head+"X_Svc: a\r\n\r\n"), 400, "invalid_request"},
		"Slashes":    {b.raw(t, "GET /v1%2fx HTTP/1.1\r\n"+head+"\r\n"), 400, "invalid_request"},
		"Codec":      {b.raw(t, "GET /v1/x HTTP/1.1\r\n"+head+"Content-Length: x\r\n\r\n"), 400, "invalid_request"},
		"NotHTTP":    {b.raw(t, "NONSENSE\r\n\r\n"), 400, "invalid_request"},
		"Escape":     {b.raw(t, "GET /v1/%zz HTTP/1.1\r\n"+head+"\r\n"), 400, "invalid_request"},
		"HalfEscape": {b.raw(t, "GET /v1/a%4?b=%41 HTTP/1.1\r\n"+head+"\r\n"), 400, "invalid_request"},
		"LastEscape": {b.raw(t, "GET /compat/%41%e9% HTTP/1.1\r\n"+head+"\r\n"), 400, "invalid_request"},
		"Expectation": {
			b.raw(t, "POST /v1/x HTTP/1.1\r\n"+head+"Expect: 200-ok\r\nContent-Length: 0\r\n\r\n"), 417,
			"invalid_request",
		},
		"Coding": {b.raw(t, "POST /v1/x HTTP/1.1\r\n"+head+"Transfer-Encoding: gzip\r\n\r\n"), 501, "invalid_request"},
		"NoPath": {b.raw(t, "OPTIONS * HTTP/1.1\r\n"+head+"\r\n"), 404, "route_not_found"},
		"BadChunk": {
			b.raw(t, "POST /compat/x HTTP/1.1\r\n"+head+"Transfer-Encoding: chunked\r\n\r\nnone\r\n"), 400,
			"invalid_request",
		},
		"HeaderLarge": {
			b.raw(t, "GET /v1/x HTTP/1.1\r\n"+head+"X-A: "+strings.Repeat("x", 20<<10)+"\r\n\r\n"), 431,
			"headers_too_large",
		},
		"Filter": {b.send(t, client, "GET", url+"/v1/x", "", "X-Svc-Refuse", "1"), 400, "mle_required"},
		"AskedFor": {
			b.send(t, client, "POST", url+"/compat/x", "{}", "X-Svc-Mle-Response", "required"), 400,
			"mle_not_supported",
		},
		"Encrypted": {b.send(t, client, "POST", url+"/compat/x", "a.b.c.d.e", "Content-Type",
			"Application/JOSE; charset=utf-8"), 400, "mle_not_supported"},
		"TrustAskedFor": {
			b.send(t, client, "GET", url+"/v1/trust/fingerprints", "", "X-Svc-Mle-Response", "required"), 400,
			"mle_not_supported",
		},
		"TrustHostAskedFor": {
			b.send(t, client, "GET", "https://trust.example.com/v1/trust", "", "X-Svc-Mle-Response", "required"), 400,
			"mle_not_supported",
		},
		"CalendarAskedFor": {
			b.send(t, client, "GET", "https://trust.example.com/calendar.ics", "", "X-Svc-Mle", "v1"), 400,
			"mle_not_supported",
		},
		"Core": {b.send(t, client, "GET", url+"/v1/unknown", ""), 401, ""},
	} {
		if tt.got.status != tt.status || tt.got.header.Get(tlspolicy.HSTSHeader) != tlspolicy.HSTS {
			t.Errorf("%s: got %d %v %s", name, tt.got.status, tt.got.header, tt.got.body)
		}
		var decoded struct {
			Error struct {
				Code, Message string
				RequestID     string `json:"request_id"`
				DocURL        string `json:"doc_url"`
				Status        int
			} `json:"error"`
		}
		if tt.code == "" {
			continue
		}
		if got := tt.got.header.Values(v1.VersionField); name != "Filter" && (len(got) != 1 || got[0] != v1.Version) {
			t.Errorf("%s: got a response by version %q", name, got)
		}
		if err := json.Unmarshal([]byte(tt.got.body), &decoded); err != nil || decoded.Error.Code != tt.code ||
			tt.got.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: got %v %s", name, tt.got.header, tt.got.body)
		}
		_, malformed := id.Parse(id.Request, decoded.Error.RequestID)
		if name != "Filter" && (decoded.Error.Status != tt.status || decoded.Error.DocURL != v1.DocURL(tt.code) ||
			decoded.Error.RequestID != tt.got.header.Get("Request-Id") || malformed != nil) {
			t.Errorf("%s: got %v %s", name, tt.got.header, tt.got.body)
		}
		if _, twice := ids[decoded.Error.RequestID]; twice {
			t.Errorf("%s: an earlier response has the same id: %s", name, decoded.Error.RequestID)
		}
		ids[decoded.Error.RequestID] = struct{}{}
	}
	for _, fine := range []string{
		"GET /v1/%41%e9 HTTP/1.1\r\n" + head, "GET /v1/x?a=%zz HTTP/1.1\r\n" + head,
		"POST /v1/x HTTP/1.1\r\n" + head + "Expect:\r\nContent-Length: 0\r\n",
	} {
		if got := b.raw(t, fine+"\r\n"); got.status != 200 {
			t.Errorf("%.40s: got %d %s", fine, got.status, got.body)
		}
	}
	if got := b.send(t, client, "POST", url+"/v1/x", strings.Repeat("x", 256<<10)); got.status != 200 {
		t.Errorf("a body of the limit: got %d %s", got.status, got.body)
	}
}

// TestTLS checks the refused and the negotiated TLS parameters.
func TestTLS(t *testing.T) {
	t.Parallel()
	b := served(t)
	for name, change := range map[string]func(*tls.Config){
		"TLS1.0": func(c *tls.Config) { c.MaxVersion = tls.VersionTLS10 },
		"TLS1.1": func(c *tls.Config) { c.MaxVersion = tls.VersionTLS11 },
		"CBC": func(c *tls.Config) {
			c.MaxVersion = tls.VersionTLS12
			c.CipherSuites = []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA}
		},
		"StaticRSA": func(c *tls.Config) {
			c.MaxVersion = tls.VersionTLS12
			c.CipherSuites = []uint16{tls.TLS_RSA_WITH_AES_128_GCM_SHA256}
		},
	} {
		if _, err := b.handshake(t, change); err == nil {
			t.Errorf("%s: was taken", name)
		}
	}
	conn, err := b.handshake(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s := conn.ConnectionState(); s.Version != tls.VersionTLS13 || s.CurveID != tls.X25519MLKEM768 {
		t.Errorf("got %#x, %s", s.Version, s.CurveID)
	}
	if conn, err := b.handshake(t, func(c *tls.Config) {
		c.MaxVersion = tls.VersionTLS12
		c.NextProtos = []string{"h2"}
	}); err != nil {
		t.Error(err)
	} else if s := conn.ConnectionState(); s.Version != tls.VersionTLS12 || s.NegotiatedProtocol != "h2" {
		t.Errorf("got %#x, %q", s.Version, s.NegotiatedProtocol)
	}
}
