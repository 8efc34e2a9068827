package serve_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	resourcev3 "github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"google.golang.org/grpc/codes"

	"github.com/causeway-pay/causeway/deploy/edge/internal/serve"
)

// authority signs certificates for names.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"},
		NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC),
		IsCA:     true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{cert, key}
}

func (a *authority) sign(t *testing.T, name string) (chain, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), DNSNames: []string{name}, NotAfter: a.cert.NotAfter,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, private.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
}

func (a *authority) client(t *testing.T, name string, trusts *authority) *tls.Config {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(trusts.cert)
	out := &tls.Config{RootCAs: roots, ServerName: "xds.example", MinVersion: tls.VersionTLS12}
	if name != "" {
		pair, err := tls.X509KeyPair(a.sign(t, name))
		if err != nil {
			t.Fatal(err)
		}
		out.Certificates = []tls.Certificate{pair}
	}
	return out
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestMutualTLS checks that the certificate names the node, and that a new server certificate
// applies from the next handshake on.
func TestMutualTLS(t *testing.T) {
	t.Parallel()
	dir, first, second := t.TempDir(), newAuthority(t), newAuthority(t)
	crt, key, ca := filepath.Join(dir, "crt"), filepath.Join(dir, "key"), filepath.Join(dir, "ca")
	install := func(a *authority) {
		chain, private := a.sign(t, "xds.example")
		write(t, crt, chain)
		write(t, key, private)
		write(t, ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw}))
	}
	install(first)
	s, at := started(t, serve.MutualTLS(crt, key, ca), nil)
	set(t, s, made(t, "one"))

	c := connect(t, at, "n1", first.client(t, "n1", first))
	c.subscribe(resourcev3.ClusterType)
	c.ack(c.receive())
	other := connect(t, at, "n1", first.client(t, "n2", first))
	other.subscribe(resourcev3.ClusterType)
	other.refused(codes.PermissionDenied)
	for name, with := range map[string]*tls.Config{
		"no certificate":     first.client(t, "", first),
		"of another":         second.client(t, "n1", first),
		"we are not trusted": first.client(t, "n1", second),
		"TLS 1.2": func() *tls.Config {
			c := first.client(t, "n1", first)
			c.MaxVersion = tls.VersionTLS12
			return c
		}(),
	} {
		if !fails(t, at, with) {
			t.Errorf("%s: was let in", name)
		}
	}
	install(second)
	c = connect(t, at, "n1", second.client(t, "n1", second))
	c.subscribe(resourcev3.ClusterType)
	c.ack(c.receive())
}

// fails reports whether a node with this TLS gets no response.
func fails(t *testing.T, at string, with *tls.Config) bool {
	t.Helper()
	c := connectMaybe(t, at, with)
	if c == nil {
		return true
	}
	c.subscribe(resourcev3.ClusterType)
	_, err := c.stream.Recv()
	return err != nil
}
