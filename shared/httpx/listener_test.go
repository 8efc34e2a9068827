package httpx_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// malformed are requests that reach no handler.
var malformed = map[string]struct {
	request string
	status  int
	code    string
}{
	"no HTTP":              {"nonsense\r\n\r\n", 400, "invalid_request"},
	"HTTP/0.9":             {"GET /\r\n\r\n", 400, "invalid_request"},
	"no Host":              {"GET / HTTP/1.1\r\n\r\n", 400, "invalid_request"},
	"two Hosts":            {"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, "invalid_request"},
	"malformed Host":       {"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400, "invalid_request"},
	"malformed name":       {"GET / HTTP/1.1\r\nHost: a\r\nb c: d\r\n\r\n", 400, "invalid_request"},
	"malformed value":      {"GET / HTTP/1.1\r\nHost: a\r\nb: \x00\r\n\r\n", 400, "invalid_request"},
	"malformed length":     {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: b\r\n\r\n", 400, "invalid_request"},
	"malformed path":       {"GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400, "invalid_request"},
	"HTTP/1.0 with faults": {"GET / HTTP/1.0\r\nb c: d\r\n\r\n", 400, "invalid_request"},
	"unknown Expect":       {"GET / HTTP/1.1\r\nHost: a\r\nExpect: a\r\n\r\n", 417, "invalid_request"},
	"HTTP/1.0 with Expect": {"POST / HTTP/1.0\r\nExpect: a\r\nContent-Length: 1\r\n\r\n1", 417, "invalid_request"},
	"large header": {
		"GET / HTTP/1.1\r\nHost: a\r\nb: " + strings.Repeat("c", 32<<10) + "\r\n\r\n", 431, "headers_too_large",
	},
	"transfer encoding": {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 501, "invalid_request"},
	"HTTP/3.0":          {"GET / HTTP/3.0\r\nHost: a\r\n\r\n", 505, "invalid_request"},
	"a handler's text":  {"GET /text HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 400, ""},
}

// TestServerRefusesInV1sForm checks the responses of net/http itself: each has v1's error body, and
// over TLS also HSTS.
func TestServerRefusesInV1sForm(t *testing.T) {
	t.Parallel()
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/text" {
			t.Errorf("%s reached the handler", r.URL.Path)
		}
		http.Error(w, "400 Bad Request", http.StatusBadRequest)
	})
	policy, roots := testPolicy(t)
	plain := mustStart(t, httpx.NewServer(httpx.Options{Handler: handler}))
	secure := mustStart(t, httpx.NewServer(httpx.Options{Handler: handler, TLS: policy}))
	for name, c := range malformed {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := sendRaw(t, plain, nil, c.request)
			wantV1Error(t, got, c.status, c.code)
			if hsts := got.header.Values(tlspolicy.HSTSHeader); len(hsts) > 0 {
				t.Errorf("plain: got HSTS %q, want none", hsts)
			}
			got = sendRaw(t, secure, roots, c.request)
			wantV1Error(t, got, c.status, c.code)
			if hsts := got.header.Values(tlspolicy.HSTSHeader); !slices.Equal(hsts, []string{tlspolicy.HSTS}) {
				t.Errorf("TLS: got HSTS %q", hsts)
			}
		})
	}
	t.Run("plain HTTP to TLS", func(t *testing.T) {
		t.Parallel()
		got := sendRaw(t, secure, nil, "DELETE / HTTP/1.1\r\nHost: a\r\n\r\n")
		wantV1Error(t, got, 400, "invalid_request")
		if !strings.Contains(got.body, "https://") {
			t.Errorf("got %s, want the scheme to use", got.body)
		}
		if hsts := got.header.Values(tlspolicy.HSTSHeader); len(hsts) > 0 {
			t.Errorf("got HSTS %q, want none", hsts)
		}
	})
}

// testPolicy returns settings for a server of TLS, and the authority of its certificate.
func testPolicy(t *testing.T) (*tls.Config, *x509.CertPool) {
	t.Helper()
	fixture := httptest.NewUnstartedServer(nil)
	fixture.StartTLS()
	t.Cleanup(fixture.Close)
	cert := fixture.TLS.Certificates[0]
	roots := x509.NewCertPool()
	roots.AddCert(fixture.Certificate())
	return tlspolicy.Server(func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &cert, nil }), roots
}

// sendRaw sends a text on a connection and reads the response until the server closes the
// connection. roots are nil for plain HTTP.
func sendRaw(t *testing.T, at string, roots *x509.CertPool, text string) rawResponse {
	t.Helper()
	var d net.Dialer
	c, err := d.DialContext(t.Context(), "tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	if roots != nil {
		c = tls.Client(c, &tls.Config{RootCAs: roots, ServerName: "example.com", NextProtos: []string{"http/1.1"}})
	}
	defer func() { _ = c.Close() }() // all was read
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(c)
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(in); err != nil || len(rest) > 0 {
		t.Errorf("after the response: got %q, %v, want its end", rest, err)
	}
	return rawResponse{resp.StatusCode, resp.Header, string(body)}
}

// rawResponse is a response without more to read.
type rawResponse struct {
	status int
	header http.Header
	body   string
}

// wantV1Error checks a response for v1's error body. The code "" stands for a text.
func wantV1Error(t *testing.T, got rawResponse, status int, code string) {
	t.Helper()
	if got.status != status {
		t.Errorf("got %d, want %d", got.status, status)
	}
	if code == "" {
		if got.body != "400 Bad Request\n" {
			t.Errorf("got %q, want the handler's text", got.body)
		}
		return
	}
	if origin := got.header.Get(httpx.AllowOriginField); origin != httpx.AllowOrigin {
		t.Errorf("got %s %q, want %s", httpx.AllowOriginField, origin, httpx.AllowOrigin)
	}
	var decoded v1.ErrorBody
	if err := json.Unmarshal([]byte(got.body), &decoded); err != nil {
		t.Fatalf("%q: %v", got.body, err)
	}
	e := decoded.Error
	if e.Type != v1.ErrorTypeInvalidRequestError || e.Code != code || e.Status != status || e.Message == "" {
		t.Errorf("got %+v, want the code %s", e, code)
	}
	if _, err := id.Parse(id.Request, e.RequestID); err != nil || got.header.Get("Request-Id") != e.RequestID {
		t.Errorf("got the request ids %q and %q", e.RequestID, got.header.Get("Request-Id"))
	}
	if got.header.Get("Content-Type") != "application/json" || got.header.Get("Cache-Control") != "no-store" ||
		got.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("got %v", got.header)
	}
}

// TestServerReadsUntilTheClientHasTheRefusal checks that a client that is still sending a large
// header can read the response.
func TestServerReadsUntilTheClientHasTheRefusal(t *testing.T) {
	t.Parallel()
	policy, roots := testPolicy(t)
	for name, o := range map[string]httpx.Options{"plain": {Handler: hello}, "TLS": {Handler: hello, TLS: policy}} {
		trust := roots
		if o.TLS == nil {
			trust = nil
		}
		at := mustStart(t, httpx.NewServer(o))
		got := sendRaw(t, at, trust, "GET / HTTP/1.1\r\nHost: a\r\nb: "+strings.Repeat("c", 256<<10))
		if got.status != 431 || !strings.Contains(got.body, "headers_too_large") {
			t.Errorf("%s: got %d %s", name, got.status, got.body)
		}
	}
}

// TestRefuseText checks errors that http.ServeMux and http.Error write, and that other responses
// stay.
func TestRefuseText(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /failed", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "private", http.StatusInternalServerError)
	})
	mux.HandleFunc("GET /json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "{}")
	})
	mux.HandleFunc("GET /text", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "fine") })
	h := httpx.RefuseText(httpx.Recover(respondToPanic, slog.New(slog.DiscardHandler), mux))
	for request, want := range map[string]struct {
		status int
		text   string
	}{
		"GET /none":    {404, `"code":"route_not_found"`},
		"POST /text":   {405, `"code":"method_not_allowed"`},
		"GET /failed":  {500, `"code":"internal_error"`},
		"GET /json":    {503, "{}"},
		"GET /text":    {200, "fine"},
		"DELETE /json": {405, `"status":405`},
	} {
		method, path, _ := strings.Cut(request, " ")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, nil))
		body := w.Body.String()
		if w.Code != want.status || !strings.Contains(body, want.text) || strings.Contains(body, "private") {
			t.Errorf("%s: got %d %s, want %v", request, w.Code, body, want)
		}
		requestID := w.Header().Get("Request-Id")
		if _, err := id.Parse(id.Request, requestID); err != nil ||
			strings.HasPrefix(body, `{"error"`) != strings.Contains(body, requestID) {
			t.Errorf("%s: got the request id %q in %v", request, requestID, body)
		}
		if allow := w.Header().Get("Allow"); (w.Code == 405) != (allow == "GET, HEAD") {
			t.Errorf("%s: got Allow %q", request, allow)
		}
	}
}
