package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

// TestHTTP10 checks requests of HTTP/1.0, as WordPress sends them. A response ends with its
// connection, without chunks. Nothing after the request reaches a service.
func TestHTTP10(t *testing.T) {
	t.Parallel()
	b := served(t)
	const head = " HTTP/1.0\r\nHost: " + host + "\r\n"
	for _, tt := range []struct{ name, sent, want string }{
		{"Length", "POST /compat/x" + head + "Content-Length: 2\r\n\r\n{}", "compat /compat/x"},
		{"NoBody", "GET /v1/x" + head + "\r\n", "core /v1/x"},
		{"Chunks", "GET /v1/long" + head + "\r\n", strings.Repeat("x", 200<<10)},
		// Without a length, only the end of the connection ends the response.
		{"Kept", "GET /v1/long" + head + "Connection: keep-alive\r\n\r\n", strings.Repeat("x", 200<<10)},
	} {
		text := b.exchange(t, tt.sent)
		fields, body, _ := strings.Cut(text, "\r\n\r\n")
		if !strings.HasPrefix(fields, "HTTP/1.0 200 ") || !strings.HasSuffix(body, tt.want) ||
			strings.Contains(strings.ToLower(fields), "transfer-encoding") {
			t.Errorf("%s: got %.600s", tt.name, text)
		}
	}
	kept := "GET /compat/x" + head + "Connection: keep-alive\r\n\r\nGET /compat/y" + head + "\r\n"
	if got := b.exchange(t, kept); strings.Count(got, "HTTP/1.0 200 ") != 2 || !strings.HasSuffix(got, "/compat/y") {
		t.Errorf("a kept connection: got %s", got)
	}
	if got := b.exchange(t, "GET /v1/x HTTP/1.0\r\n\r\n"); !strings.Contains(got, " 400 ") {
		t.Errorf("no host: got %s", got)
	}
	const smuggled = "GET /compat/smuggled HTTP/1.1\r\nHost: " + host + "\r\n\r\n"
	for name, sent := range map[string]string{
		"Pipelined": "GET /compat/x" + head + "\r\n" + smuggled,
		"Coding":    "POST /compat/x" + head + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled,
		"Both": "POST /compat/x" + head + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" +
			smuggled,
		"NoLength": "POST /compat/x" + head + "\r\n" + smuggled,
		"Lengths":  "POST /compat/x" + head + "Content-Length: 0\r\nContent-Length: 9\r\n\r\n" + smuggled,
	} {
		text := b.exchange(t, sent)
		if r, _ := b.compat.last(); strings.Count(text, "HTTP/1.") != 1 || r.URL.Path == "/compat/smuggled" {
			t.Errorf("%s: got %s, and compat got %s", name, text, r.URL.Path)
		}
	}
}

// exchange sends a text and returns all that Envoy sends until it ends the connection.
func (b *testbed) exchange(t *testing.T, text string) string {
	t.Helper()
	conn, err := b.handshake(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(conn)
	if err != nil {
		t.Errorf("%.80q: %v", text, err)
	}
	return string(got)
}

// TestForeignHosts checks that legacy routes serve every host name, unchanged, because legacy
// clients keep their provider's. All other routes serve only our hosts.
func TestForeignHosts(t *testing.T) {
	t.Parallel()
	b := newTestbed(t)
	b.routes = "  - {path: /pts/**, upstream: compat, mle: on_demand}\n"
	b.configure(t, "")
	b.run(t)
	b.envoy(t).Listeners(t)
	const foreign = "apitest.cybersource.com"
	for name, client := range map[string]*http.Client{"HTTP1": b.client(), "HTTP2": b.http2()} {
		for path, want := range map[string]struct {
			status int
			body   string
		}{
			"/pts/v2/payments?a=b":   {200, "compat /pts/v2/payments"},
			"/pts":                   {200, "compat /pts"},
			"/compat/provider-b/pts": {200, "compat /compat/provider-b/pts"},
			"/v1/x":                  {421, "misdirected_request"},
			"/v1/trust":              {421, "misdirected_request"},
			"/demand/x":              {421, "misdirected_request"},
			"/ptsd":                  {421, "misdirected_request"},
			"/pts/../v1/x":           {421, "misdirected_request"},
			"/risk/v1/decisions":     {421, `"message"`}, // not in the configuration
		} {
			got := b.send(t, client, "POST", "https://"+host+path, "{}", "Host", foreign)
			if got.status != want.status || !strings.Contains(got.body, want.body) {
				t.Errorf("%s %s: got %d %s", name, path, got.status, got.body)
			}
			if r, _ := b.compat.last(); r == nil && want.status == 200 || r != nil && r.Host != foreign {
				t.Errorf("%s %s: compat got %+v, want the host %s", name, path, r, foreign)
			}
		}
	}
	for _, client := range []*http.Client{b.client(), b.http2()} {
		got := b.send(t, client, "POST", "https://"+host+"/pts/x", "{}", "Host", foreign, "X-Svc-Mle", "v1")
		if got.status != 200 || b.filter.word("/pts/x") != "optional" {
			t.Errorf("encrypted: got %d %s, filter %q", got.status, got.body, b.filter.word("/pts/x"))
		}
	}
}

// dialectTestbed returns a testbed whose paths of each dialect lead to upstreams with faults.
func dialectTestbed(t *testing.T) *testbed {
	t.Helper()
	b := newTestbed(t)
	ended := make(chan struct{})
	t.Cleanup(func() { close(ended) })
	for name, misbehave := range map[string]func(net.Conn, int) bool{
		"resets": misbehaviours["resets"], "silent": func(net.Conn, int) bool { <-ended; return false },
	} {
		at := listen(t, func(c net.Conn) { serveConn(c, misbehave) }).Addr().String()
		b.upstreams += fmt.Sprintf(", %s: {address: %q}", name, at)
	}
	more := "limits: {timeout: 1s, rate: 1, burst: 3}\nroutes:\n"
	for path, upstream := range map[string]string{
		"/compat/provider-a/gone": "gone", "/compat/provider-a/resets": "resets", "/compat/provider-a/silent": "silent",
		"/xml/v1/request.api/**": "compat", "/compat/provider-b/**": "gone", "/pts/**": "gone", "/risk/**": "resets",
		"/tms/**": "silent", "/tss/**": "compat",
	} {
		more += fmt.Sprintf("  - {path: %q, upstream: %s, mle: off}\n", path, upstream)
	}
	b.configure(t, more)
	b.run(t)
	b.envoy(t).Listeners(t)
	return b
}

const (
	documentJSON = "\ufeff" + `{"messages":{"resultCode":"Error","message":[{"code":"%s","text":"%s"}]}}`
	documentXML  = "\ufeff" + `<?xml version="1.0" encoding="utf-8"?>` +
		`<ErrorResponse xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" ` +
		`xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns="AnetApi/xml/v1/schema/AnetApiSchema.xsd">` +
		`<messages><resultCode>Error</resultCode><message><code>%s</code><text>%s</text></message></messages>` +
		`</ErrorResponse>`
)

// TestDialects checks that Envoy's own responses on the paths of a dialect have its form. In
// provider-a's they have the status 200, without which its Node client never calls back. A request
// that may have had an effect gets neither a decline nor the fault of a request without one.
func TestDialects(t *testing.T) {
	t.Parallel()
	b := dialectTestbed(t)
	const processing, busy = "E00001 An error occurred during processing. Please try again.", "E00053 Server too busy"
	const malformed = "E00003 An error occurred while parsing the XML request."
	const inA = "/xml/v1/request.api"
	large := strings.Repeat("x", 256<<10+1)
	n := 0
	for _, tt := range []struct {
		path, body string
		status     int
		inXML      string // the code and text of provider-a
		inJSON     string
	}{
		{"/compat/provider-a/gone", "", 200, busy, busy},
		{"/compat/provider-a/resets", "", 200, processing, processing},
		{"/compat/provider-a/silent", "", 200, processing, processing},
		{"/compat/provider-a/none", "", 200, processing, processing},
		{inA, large, 200, malformed, processing},
		{inA + "/a%2Fb", "", 200, processing, processing},
	} {
		for contentType, want := range map[string]string{
			"": tt.inXML, "text/xml": tt.inXML, "application/xml; charset=utf-8": tt.inXML, "application/json": tt.inJSON,
			"text/JSON": tt.inJSON,
		} {
			n++
			got := b.sendA(t, n, tt.path, tt.body, contentType)
			b.wantFault(t, tt.path, got, contentType, tt.status, want)
		}
	}
	for _, contentType := range []string{"text/xml", "application/json"} {
		n++
		got := b.sendA(t, n, inA, "", contentType)
		for range 9 {
			if got.header.Get("Request-Id") == "" { // a response of the upstream
				got = b.sendA(t, n, inA, "", contentType)
			}
		}
		b.wantFault(t, "too many", got, contentType, 200, busy)
	}
}

// sendA sends a request of provider-a from the nth client address, in a network that no other
// request is from.
func (b *testbed) sendA(t *testing.T, n int, path, body, contentType string) response {
	t.Helper()
	client := b.clientAt(fmt.Sprintf("127.1.%d.1", n))
	return b.send(t, client, "POST", "https://"+host+path, body, "Content-Type", contentType)
}

// wantFault checks a response of Envoy in provider-a's dialect.
func (b *testbed) wantFault(t *testing.T, name string, got response, contentType string, status int, want string) {
	t.Helper()
	code, text, _ := strings.Cut(want, " ")
	document, sent := documentXML, "application/xml; charset=utf-8"
	if strings.Contains(strings.ToLower(contentType), "json") {
		document, sent = documentJSON, "application/json; charset=utf-8"
	}
	if got.status != status || got.body != fmt.Sprintf(document, code, text) || got.header.Get("Content-Type") != sent {
		t.Errorf("%s, %s: got %d %v %s, want %d %s", name, contentType, got.status, got.header, got.body, status, want)
	}
	if got.header.Get("Request-Id") == "" || got.header.Get("Access-Control-Allow-Origin") != "*" ||
		got.header.Get(tlspolicy.HSTSHeader) != tlspolicy.HSTS {
		t.Errorf("%s, %s: got %v", name, contentType, got.header)
	}
}

// TestDialectB is TestDialects for provider-b. Its clients read the status and the reason.
func TestDialectB(t *testing.T) {
	t.Parallel()
	b := dialectTestbed(t)
	const busy, lost = "503 SERVER_ERROR SYSTEM_ERROR", "502 SERVER_ERROR SERVER_TIMEOUT"
	large := strings.Repeat("x", 256<<10+1)
	n := 0
	send := func(path, body string) response {
		return b.send(t, b.clientAt(fmt.Sprintf("127.2.%d.1", n)), "POST", "https://"+host+path, body,
			"V-C-Correlation-Id", "mine")
	}
	wants := func(name string, got response, want string) {
		t.Helper()
		var body struct{ SubmitTimeUTC, Status, Reason, Message string }
		if err := json.Unmarshal([]byte(got.body), &body); err != nil || body.Message == "" {
			t.Errorf("%s: got %d %s", name, got.status, got.body)
		}
		shown := strings.TrimSpace(fmt.Sprintf("%d %s %s", got.status, body.Status, body.Reason))
		if shown != want || (body.Status == "") != (body.SubmitTimeUTC == "") {
			t.Errorf("%s: got %s: %s, want %s", name, shown, got.body, want)
		}
		if after := got.header.Get("Retry-After"); (after == "1") != (want == busy) || (after != "") != (want == busy) {
			t.Errorf("%s: got %s with Retry-After %q", name, want, after)
		}
		if got.header.Get("Content-Type") != "application/hal+json;charset=utf-8" ||
			got.header.Get("V-C-Correlation-Id") != "mine" || got.header.Get(tlspolicy.HSTSHeader) != tlspolicy.HSTS {
			t.Errorf("%s: got %v", name, got.header)
		}
	}
	for _, tt := range []struct{ path, body, want string }{
		{"/pts/v2/payments", "{}", busy},
		{"/pts", "{}", busy},
		{"/pts?a=b", "{}", busy},
		{"/compat/provider-b/pts/v2/payments", "{}", busy},
		{"/risk/v1/decisions", "{}", lost},
		{"/tms/v2/customers", "{}", lost},
		{"/pts/v2/payments", large, "413"},
		{"/tss/v2/transactions/a%2Fb", "", "400 INVALID_REQUEST INVALID_DATA"},
		{"/flex/v2/sessions", "", "404"}, // not in the configuration
	} {
		n++
		wants(tt.path, send(tt.path, tt.body), tt.want)
	}
	n++
	got := send("/tss/v2/transactions", "")
	for range 9 {
		if got.status == 200 {
			got = send("/tss/v2/transactions", "")
		}
	}
	wants("too many", got, busy)
}
