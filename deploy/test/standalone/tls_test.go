package standalone_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/tlspolicy"
	"github.com/causeway-pay/causeway/shared/tlspolicy/tlspolicytest"
)

func TestHTTPSObeysThePolicy(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	tlspolicytest.Obeys(t, mustHost(t, p.HTTPS), "ECDSA", tlspolicy.Policy{})
	for _, proto := range []string{"h2", "http/1.1"} {
		policy := &tls.Config{MinVersion: tls.VersionTLS10, NextProtos: []string{proto}}
		trusting(t, p, policy)
		conn, err := (&tls.Dialer{Config: policy}).DialContext(t.Context(), "tcp", mustHost(t, p.HTTPS))
		if err != nil {
			t.Fatal(err)
		}
		state := conn.(*tls.Conn).ConnectionState()
		_ = conn.Close()
		if state.Version != tls.VersionTLS13 || state.CurveID != tls.X25519MLKEM768 || state.NegotiatedProtocol != proto {
			t.Errorf("%s: got %s, %v, %s", proto, tls.VersionName(state.Version), state.CurveID, state.NegotiatedProtocol)
		}
	}
}

func TestEveryHTTPSResponseHasHSTS(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	sale := `{"amount":100,"currency":"usd","payment_method":"card","card":{"number":"4111111111111111","exp_month":12,` +
		`"exp_year":2031,"cvc":"900"}}`
	calls := []struct {
		method, path, key, body string
		status                  int
	}{
		{http.MethodGet, "/v1/health", "", "", http.StatusOK},
		{http.MethodGet, "/docs", "", "", http.StatusOK},
		{http.MethodPost, "/v1/transactions", p.Keys.SKTest, sale, http.StatusCreated},
		{http.MethodPost, "/v1/transactions", p.Keys.SKTest, "{", http.StatusBadRequest},
		{http.MethodPost, "/v1/transactions", "", sale, http.StatusUnauthorized},
		{http.MethodPost, "/v1/transactions", p.Keys.PKTest, sale, http.StatusForbidden},
		{http.MethodGet, "/nowhere", "", "", http.StatusNotFound},
		{http.MethodDelete, "/v1/health", "", "", http.StatusMethodNotAllowed},
		{
			http.MethodPost, "/v1/transactions", p.Keys.SKTest, `"` + strings.Repeat("a", 1<<20) + `"`,
			http.StatusRequestEntityTooLarge,
		},
		{http.MethodPost, "/v1/transactions", p.Keys.SKLive, sale, http.StatusServiceUnavailable}, // no acquirer
		{http.MethodGet, "/v1/mle/keys", "", "", http.StatusUnauthorized},                         // of the filter
		{http.MethodGet, "/compat/provider-a/xml", "", "", http.StatusMethodNotAllowed},           // of the proxy
		{http.MethodPost, "/pts/v2/payments", "", "{}", http.StatusUnauthorized},
		{http.MethodGet, "/tms/v1/paymentinstruments/1", "", "", http.StatusUnauthorized},
		{http.MethodGet, "/compat/nowhere", "", "", http.StatusNotFound},
	}
	for _, protocol := range []string{"HTTP/2.0", "HTTP/1.1"} {
		client := trusting(t, p, &tls.Config{MinVersion: tls.VersionTLS12})
		client.Transport.(*http.Transport).ForceAttemptHTTP2 = protocol == "HTTP/2.0"
		for _, c := range calls {
			got := mustCall(t, client, p.HTTPS+c.path, c.method, c.key, c.body)
			if got.status != c.status || got.proto != protocol {
				t.Errorf("%s %s: got %s %d, want %s %d", c.method, c.path, got.proto, got.status, protocol, c.status)
			}
			if want := []string{tlspolicy.HSTS}; !slices.Equal(got.hsts, want) {
				t.Errorf("%s %s %s: got HSTS %q, want %q", protocol, c.method, c.path, got.hsts, want)
			}
		}
	}
	for _, c := range calls {
		if got := mustCall(t, merchantOf(t, p).http, p.HTTP+c.path, c.method, c.key, c.body).hsts; got != nil {
			t.Errorf("plain %s %s: got HSTS %q, want none", c.method, c.path, got)
		}
	}
}

// TestMalformedHTTPS sends malformed requests. Each response has HSTS and the body of v1's errors.
func TestMalformedHTTPS(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	for text, status := range map[string]int{
		"nonsense\r\n\r\n":                                                            400,
		"GET /v1/health HTTP/1.1\r\n\r\n":                                             400,
		"POST /compat/provider-a/xml HTTP/0.8\r\n\r\n":                                505,
		"POST / HTTP/1.1\r\nHost: a\r\nExpect: b\r\n\r\n":                             417,
		"GET / HTTP/1.1\r\nHost: a\r\nb: " + strings.Repeat("c", 32<<10) + "\r\n\r\n": 431,
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n":               501,
		"GET /none HTTP/1.0\r\n\r\n":                                                  404,
	} {
		policy := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
		trusting(t, p, policy)
		conn, err := (&tls.Dialer{Config: policy}).DialContext(t.Context(), "tcp", mustHost(t, p.HTTPS))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatal(err)
		}
		got, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%.40q: %v", text, err)
		}
		body, err := io.ReadAll(got.Body)
		if err := errors.Join(err, got.Body.Close(), conn.Close()); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf(`"status":%d,"request_id":%q,"doc_url":"/docs#error-`, status, got.Header.Get("Request-Id"))
		if got.StatusCode != status || !strings.Contains(string(body), want) ||
			!regexp.MustCompile("^req_[0-9a-hjkmnp-tv-z]{13}$").MatchString(got.Header.Get("Request-Id")) {
			t.Errorf("%.40q: got %d %s, want %s", text, got.StatusCode, body, want)
		}
		if hsts := got.Header.Values(tlspolicy.HSTSHeader); !slices.Equal(hsts, []string{tlspolicy.HSTS}) {
			t.Errorf("%.40q: got HSTS %q", text, hsts)
		}
	}
}

// TestTLSAuditOfHTTPS lets independent programs check the listener.
func TestTLSAuditOfHTTPS(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	addr := mustHost(t, p.HTTPS)
	t.Run("testssl.sh", func(t *testing.T) {
		t.Parallel()
		for _, flaw := range tlspolicytest.Flaws(tlspolicytest.Audit(t, addr)) {
			t.Error(flaw)
		}
	})
	for name, tt := range map[string]struct {
		args  []string
		wants []string // lines of s_client's output
	}{
		"openssl": {
			[]string{"-alpn", "h2"},
			[]string{"New, TLSv1.3, Cipher is TLS_AES_", "ALPN protocol: h2", "Verify return code: 0 (ok)"},
		},
		"openssl 1.2": {
			[]string{"-tls1_2", "-alpn", "http/1.1"},
			[]string{"New, TLSv1.2, Cipher is ECDHE-ECDSA-", "ALPN protocol: http/1.1", "Server Temp Key: X25519"},
		},
		"openssl 1.1": {
			[]string{"-tls1_1", "-cipher", "ALL:@SECLEVEL=0"},
			[]string{"Cipher is (NONE)", "alert protocol version"},
		},
		"openssl CBC": {
			[]string{"-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA:@SECLEVEL=0"},
			[]string{"Cipher is (NONE)", "alert handshake failure"},
		},
		"openssl SHA-1": {
			[]string{"-tls1_2", "-sigalgs", "ECDSA+SHA1", "-cipher", "ALL:@SECLEVEL=0"},
			[]string{"Cipher is (NONE)", "alert handshake failure"},
		},
		"openssl tickets": {[]string{"-tls1_2"}, []string{"New, TLSv1.2", "Verify return code: 0 (ok)"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"s_client", "-connect", addr, "-servername", "localhost", "-CAfile", p.CA}, tt.args...)
			cmd := exec.CommandContext(t.Context(), "openssl", args...) // it ends with its input, which is empty
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			_ = cmd.Run() // its output is checked
			for _, want := range tt.wants {
				if !strings.Contains(out.String(), want) {
					t.Errorf("got\n%s\nwant %s", &out, want)
				}
			}
			if strings.Contains(out.String(), "TLS session ticket:") {
				t.Errorf("got\n%s\nwant no ticket", &out)
			}
		})
	}
}

func mustHost(t *testing.T, base string) string {
	t.Helper()
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

// head has the status and the fields of a response.
type head struct {
	proto  string
	status int
	hsts   []string
}

func mustCall(t *testing.T, client *http.Client, target, method, key, body string) head {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatalf("%s %s: %v", method, target, err)
	}
	_ = resp.Body.Close() // only the head matters
	return head{resp.Proto, resp.StatusCode, resp.Header.Values(tlspolicy.HSTSHeader)}
}
