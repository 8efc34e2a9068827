package httpx_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

// responses are all ways in which a handler can respond, or fail to respond.
var responses = map[string]http.HandlerFunc{
	"nothing written": func(http.ResponseWriter, *http.Request) {},
	"a body alone":    func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "a") },
	"a flush first": func(w http.ResponseWriter, _ *http.Request) {
		_ = http.NewResponseController(w).Flush()
		_, _ = io.WriteString(w, "a")
	},
	"a 503":            func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
	"an early hint":    func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusEarlyHints) },
	"http.Error":       func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "a", http.StatusTeapot) },
	"ServeMux's 404":   http.NewServeMux().ServeHTTP,
	"a panic":          func(http.ResponseWriter, *http.Request) { panic("a") },
	"a cleared header": func(w http.ResponseWriter, _ *http.Request) { clear(w.Header()); w.WriteHeader(http.StatusOK) },
	"another's header": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(tlspolicy.HSTSHeader, "max-age=0")
	},
	"the header, twice": func(w http.ResponseWriter, _ *http.Request) {
		w.Header()[tlspolicy.HSTSHeader] = []string{"a", "b"}
	},
	"a 404": http.NotFound,
}

func TestServerSendsHSTSOverTLSAlone(t *testing.T) {
	t.Parallel()
	fixture := httptest.NewUnstartedServer(nil) // for its certificate
	fixture.StartTLS()
	t.Cleanup(fixture.Close)
	cert := fixture.TLS.Certificates[0]
	roots := x509.NewCertPool()
	roots.AddCert(fixture.Certificate())
	policy := tlspolicy.Server(func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &cert, nil })
	for name, handler := range responses {
		handler := httpx.Recover(respondToPanic, slog.New(slog.DiscardHandler), handler)
		secure := "https://" + mustStart(t, httpx.NewServer(httpx.Options{Handler: handler, TLS: policy}))
		plain := "http://" + mustStart(t, httpx.NewServer(httpx.Options{Handler: handler}))
		for _, protos := range [][]string{{"h2"}, {"http/1.1"}} {
			t.Run(name+" "+protos[0], func(t *testing.T) {
				t.Parallel()
				var protocols http.Protocols
				protocols.SetHTTP1(protos[0] != "h2")
				protocols.SetHTTP2(protos[0] == "h2")
				client := &http.Client{Transport: &http.Transport{TLSClientConfig: tlspolicy.Client(roots), Protocols: &protocols}}
				defer client.CloseIdleConnections()
				resp := mustGet(t, client, secure)
				_ = resp.Body.Close()
				if got, want := resp.Header.Values(tlspolicy.HSTSHeader), []string{tlspolicy.HSTS}; !slices.Equal(got, want) {
					t.Errorf("%s %s: got %q, want %q", resp.Proto, resp.Status, got, want)
				}
			})
		}
		t.Run(name+" plain", func(t *testing.T) {
			t.Parallel()
			if name == "another's header" || name == "the header, twice" {
				return // it is the handler's own
			}
			resp := mustGet(t, &http.Client{Transport: &http.Transport{}}, plain)
			_ = resp.Body.Close()
			if got := resp.Header.Values(tlspolicy.HSTSHeader); len(got) > 0 {
				t.Errorf("got %q, want none", got)
			}
		})
	}
}
