package specification_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestTransport has the rows of transport security.
func TestTransport(t *testing.T) {
	t.Parallel()
	run(t, []row{
		{"TLS 1.2 is the minimum; TLS 1.3 is negotiated by default", func(s *service) {
			if state, err := s.handshake(&tls.Config{}); err != nil || state.Version != tls.VersionTLS13 {
				s.Errorf("got %s, %v", tls.VersionName(state.Version), err)
			}
			state, err := s.handshake(&tls.Config{MaxVersion: tls.VersionTLS12})
			if err != nil || state.Version != tls.VersionTLS12 {
				s.Errorf("got %s, %v", tls.VersionName(state.Version), err)
			}
		}},
		{"TLS 1.1 and below are rejected at the edge", func(s *service) {
			for _, version := range []uint16{tls.VersionTLS10, tls.VersionTLS11} {
				if _, err := s.handshake(&tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: version}); err == nil {
					s.Errorf("%s is accepted", tls.VersionName(version))
				}
			}
		}},
		{"Cipher policy: AEAD only (AES-GCM, ChaCha20-Poly1305) with ECDHE key exchange", testCiphers},
		{"HSTS is enforced on all hostnames", func(s *service) {
			client := &http.Client{
				Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: s.roots()}},
				Timeout:   programtest.Patience,
			}
			over := &service{s.T, s.Ready, client}
			over.HTTP = s.HTTPS
			for _, path := range []string{"/v1/health", "/v1/transactions", "/compat/methods", "/nowhere", "/pts/v2/payments"} {
				if got := over.get(path, "").header.Get("Strict-Transport-Security"); !strings.HasPrefix(got, "max-age=") {
					s.Errorf("%s: got %q", path, got)
				}
			}
		}},
	})
}

// roots returns the authority of the service.
func (s *service) roots() *x509.CertPool {
	s.Helper()
	pem, err := os.ReadFile(s.CA)
	if err != nil {
		s.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		s.Fatal("no authority")
	}
	return roots
}

// handshake connects over TLS.
func (s *service) handshake(policy *tls.Config) (tls.ConnectionState, error) {
	s.Helper()
	policy.RootCAs = s.roots()
	conn, err := (&tls.Dialer{Config: policy}).DialContext(s.Context(), "tcp", strings.TrimPrefix(s.HTTPS, "https://"))
	if err != nil {
		return tls.ConnectionState{}, err
	}
	defer func() { _ = conn.Close() }()
	return conn.(*tls.Conn).ConnectionState(), nil
}

// testCiphers offers one cipher suite of TLS 1.2 at a time.
func testCiphers(s *service) {
	var accepted []string
	for _, suite := range slices.Concat(tls.CipherSuites(), tls.InsecureCipherSuites()) {
		if !slices.Contains(suite.SupportedVersions, tls.VersionTLS12) {
			continue
		}
		if _, err := s.handshake(&tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{suite.ID}}); err == nil {
			accepted = append(accepted, suite.Name)
			if !strings.HasPrefix(suite.Name, "TLS_ECDHE_") ||
				!strings.Contains(suite.Name, "_GCM_") && !strings.Contains(suite.Name, "_CHACHA20_POLY1305") {
				s.Errorf("%s is accepted", suite.Name)
			}
		}
	}
	if len(accepted) < 3 {
		s.Errorf("got %q, want AES-GCM and ChaCha20-Poly1305", accepted)
	}
}
