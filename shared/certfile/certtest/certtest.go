package certtest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/clock"
)

// Authority issues certificates.
type Authority struct {
	Certificate *x509.Certificate
	Key         crypto.Signer
	Above       []*x509.Certificate // this authority and its issuers without the root: the certificates that follow a leaf
}

// Root makes a self-signed authority. It applies each change to the certificate before it signs it.
func Root(tb testing.TB, changes ...func(*x509.Certificate)) *Authority {
	tb.Helper()
	return authority(tb, nil, "Test Root", changes)
}

// Intermediate makes an authority below.
func (a *Authority) Intermediate(tb testing.TB, changes ...func(*x509.Certificate)) *Authority {
	tb.Helper()
	return authority(tb, a, "Test Intermediate", changes)
}

func authority(tb testing.TB, issuer *Authority, name string, changes []func(*x509.Certificate)) *Authority {
	tb.Helper()
	template := plain(tb)
	template.Subject = pkix.Name{CommonName: name + " " + template.SerialNumber.Text(36)}
	template.NotAfter = template.NotBefore.AddDate(5, 0, 0)
	template.IsCA, template.KeyUsage, template.ExtKeyUsage = true, x509.KeyUsageCertSign, nil
	a := &Authority{Key: ECDSA(tb, elliptic.P256())}
	a.Certificate = sign(tb, template, issuer, a.Key, changes)
	if issuer != nil {
		a.Above = append([]*x509.Certificate{a.Certificate}, issuer.Above...)
	}
	return a
}

// Pool holds the authority's certificate alone.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.Certificate)
	return pool
}

// Issued is a server's certificate with its key.
type Issued struct {
	Leaf  *x509.Certificate
	Chain []*x509.Certificate // the leaf first
	Key   crypto.Signer
}

// Issue makes a certificate for localhost and 127.0.0.1, on P-256, that lives 90 days from an hour
// ago.
func (a *Authority) Issue(tb testing.TB, changes ...func(*x509.Certificate)) *Issued {
	tb.Helper()
	return a.IssueFor(tb, ECDSA(tb, elliptic.P256()), changes...)
}

// IssueFor is Issue for a key.
func (a *Authority) IssueFor(tb testing.TB, key crypto.Signer, changes ...func(*x509.Certificate)) *Issued {
	tb.Helper()
	leaf := sign(tb, plain(tb), a, key, changes)
	return &Issued{Leaf: leaf, Chain: append([]*x509.Certificate{leaf}, a.Above...), Key: key}
}

// SelfSigned makes a self-signed certificate of a server.
func SelfSigned(tb testing.TB, changes ...func(*x509.Certificate)) *Issued {
	tb.Helper()
	key := ECDSA(tb, elliptic.P256())
	leaf := sign(tb, plain(tb), nil, key, changes)
	return &Issued{Leaf: leaf, Chain: []*x509.Certificate{leaf}, Key: key}
}

// Hosts makes the certificate valid for exactly these names.
func Hosts(hosts ...string) func(*x509.Certificate) {
	return func(c *x509.Certificate) {
		c.DNSNames, c.IPAddresses = nil, nil
		for _, host := range hosts {
			if ip := net.ParseIP(host); ip != nil {
				c.IPAddresses = append(c.IPAddresses, ip)
				continue
			}
			c.DNSNames = append(c.DNSNames, host)
		}
	}
}

// Lives makes the certificate live from one time to another.
func Lives(from, to time.Time) func(*x509.Certificate) {
	return func(c *x509.Certificate) { c.NotBefore, c.NotAfter = from, to }
}

// ECDSA makes a key.
func ECDSA(tb testing.TB, curve elliptic.Curve) *ecdsa.PrivateKey {
	tb.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	return key
}

// RSA makes a key.
func RSA(tb testing.TB, bits int) *rsa.PrivateKey {
	tb.Helper()
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		tb.Fatal(err)
	}
	return key
}

// ChainPEM returns the content of the .crt file.
func (i *Issued) ChainPEM() []byte { return PEM(i.Chain...) }

// KeyPEM returns the content of the .key file.
func (i *Issued) KeyPEM(tb testing.TB) []byte {
	tb.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(i.Key)
	if err != nil {
		tb.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

// Pair returns the pair that certfile reads from these files.
func (i *Issued) Pair(tb testing.TB) *certfile.Pair {
	tb.Helper()
	p, err := certfile.Parse(certfile.Files{Chain: "test.crt", Key: "test.key"}, i.ChainPEM(), i.KeyPEM(tb))
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// Write writes stem.crt, then stem.key. It replaces each file atomically.
func (i *Issued) Write(tb testing.TB, folder, stem string) certfile.Files {
	tb.Helper()
	files := certfile.Files{Chain: filepath.Join(folder, stem+".crt"), Key: filepath.Join(folder, stem+".key")}
	Replace(tb, files.Chain, i.ChainPEM())
	Replace(tb, files.Key, i.KeyPEM(tb))
	return files
}

// Replace replaces a file atomically, by renaming.
func Replace(tb testing.TB, name string, data []byte) {
	tb.Helper()
	if err := os.WriteFile(name+".new", data, 0o600); err != nil {
		tb.Fatal(err)
	}
	if err := os.Rename(name+".new", name); err != nil {
		tb.Fatal(err)
	}
}

// PEM returns certificates, one after the other.
func PEM(certificates ...*x509.Certificate) []byte {
	var out []byte
	for _, c := range certificates {
		out = append(out, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})...)
	}
	return out
}

func plain(tb testing.TB) *x509.Certificate {
	tb.Helper()
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		tb.Fatal(err)
	}
	from := clock.System().Now().Truncate(time.Second).Add(-time.Hour)
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore:   from, NotAfter: from.AddDate(0, 0, 90), BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
}

func sign(tb testing.TB, template *x509.Certificate, issuer *Authority, key crypto.Signer,
	changes []func(*x509.Certificate),
) *x509.Certificate {
	tb.Helper()
	for _, change := range changes {
		change(template)
	}
	parent, signer := template, key
	if issuer != nil {
		parent, signer = issuer.Certificate, issuer.Key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		tb.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}
