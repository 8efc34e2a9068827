package failover_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/pgtest/server"
)

// mustCertify writes a self-signed server.crt and server.key for this machine.
func mustCertify(t *testing.T, dir string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := clock.System().Now()
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "nodes"}, NotBefore: now.Add(-time.Hour),
		NotAfter:    now.Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"server.crt": {Type: "CERTIFICATE", Bytes: der},
		"server.key": {Type: "PRIVATE KEY", Bytes: private},
	} {
		mustWrite(t, filepath.Join(dir, name), pem.EncodeToMemory(block))
	}
}

// identify returns clients of etcd and of Patroni's API: one with the certificate in dir, and one
// without any.
func identify(t *testing.T, dir string) (known, stranger *http.Client) {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "server.crt"), filepath.Join(dir, "server.key"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(pair.Leaf)
	client := func(pairs ...tls.Certificate) *http.Client {
		c := &http.Client{Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: pairs, MinVersion: tls.VersionTLS12},
		}}
		t.Cleanup(c.CloseIdleConnections)
		return c
	}
	return client(pair), client()
}

// mustWrite writes a file that only the server's user can read.
func mustWrite(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := server.Give(path); err != nil {
		t.Fatal(err)
	}
}
