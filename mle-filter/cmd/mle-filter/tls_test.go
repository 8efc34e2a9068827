package main

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
	"github.com/causeway-pay/causeway/shared/tlspolicy/tlspolicytest"
)

func TestHTTPSObeysThePolicy(t *testing.T) {
	t.Parallel()
	m, roots := overTLS(t, mustECDSA(t))
	public, _, stop := run(t, m)
	defer stop()
	addr := strings.TrimPrefix(public, "http://")
	tlspolicytest.Obeys(t, addr, "ECDSA", tlspolicy.Policy{})
	transport := &http.Transport{TLSClientConfig: tlspolicy.Client(roots)}
	defer transport.CloseIdleConnections()
	for path, want := range map[string]int{"/v1/health": 200, "/v1/mle/keys": 401, "/v1/mle/nothing": 404} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+addr+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if got := resp.Header.Values(tlspolicy.HSTSHeader); resp.StatusCode != want ||
			!slices.Equal(got, []string{tlspolicy.HSTS}) {
			t.Errorf("%s: got %s with HSTS %q, want %d with %q", path, resp.Status, got, want, tlspolicy.HSTS)
		}
	}
}

func TestRunRefusesAnEd25519Key(t *testing.T) {
	t.Parallel()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	m, _ := overTLS(t, key)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	m.Ready = func(net.Addr) { stop() } // if it starts
	var refusal *certfile.RefusalError
	if err := m.Run(ctx); !errors.As(err, &refusal) || !strings.Contains(err.Error(), "ed25519") {
		t.Errorf("got %v, want a refusal of the Ed25519 key", err)
	}
}

// overTLS returns a filter with a certificate for this key, and a pool that trusts it.
func overTLS(t *testing.T, key crypto.Signer) (*Main, *x509.CertPool) {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC), DNSNames: []string{"localhost"},
		IPAddresses: []net.IP{{127, 0, 0, 1}}, BasicConstraintsValid: true, IsCA: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	m := &Main{Stderr: io.Discard}
	args := []string{"--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--keys", filepath.Join(dir, "mle.db")}
	if err := m.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	m.Config.V1, m.Config.KEK = service(t).URL, kek
	m.Config.Certificate, m.Config.PrivateKey = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	for name, block := range map[string]*pem.Block{
		m.Config.Certificate: {Type: "CERTIFICATE", Bytes: der}, m.Config.PrivateKey: {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	roots := x509.NewCertPool()
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots.AddCert(leaf)
	return m, roots
}
