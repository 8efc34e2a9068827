package devca

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/shared/durable"
)

const (
	caLife     = 365 * 24 * time.Hour
	leafLife   = 90 * 24 * time.Hour
	leafMargin = 30 * 24 * time.Hour // a leaf with less time left is replaced
	skew       = time.Hour           // certificates are valid from a little earlier, for clocks that differ
)

// Identity is the certificate of an HTTPS listener on this machine, with the authority that its
// clients must trust.
type Identity struct {
	CA          string // path of the authority's certificate, PEM
	Authority   *x509.Certificate
	Certificate tls.Certificate // leaf and key

	file string // has the certificate and its key
}

// Ensure returns the identity in dir, valid at now for localhost, 127.0.0.1, ::1 and the extra
// hosts. It creates dir with mode 0700 if needed.
//
// The authority can issue certificates for these hosts only, and lives for a year. Ensure makes
// another one if hosts has a further host, or 90 days before the end: a leaf lives as long.
//
// Each certificate and its key are in one file with mode 0600, so a crash cannot separate them.
// ca.pem is a public copy of the authority's certificate. Ensure returns an error for an invalid
// file and never replaces it, because a client may trust it.
func Ensure(dir string, now time.Time, hosts ...string) (*Identity, error) {
	if err := durable.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the certificate folder: %w", err)
	}
	hosts = Hosts(hosts...)
	authority, err := load(filepath.Join(dir, "ca-with-key.pem"))
	if errors.Is(err, fs.ErrNotExist) ||
		err == nil && (expired(authority.Leaf, now, leafLife) || !permits(authority.Leaf, hosts)) {
		authority, err = issue(filepath.Join(dir, "ca-with-key.pem"), authorityTemplate(now, hosts), nil)
	}
	if err != nil {
		return nil, err
	}
	public := filepath.Join(dir, "ca.pem")
	if err := publish(public, authority.Leaf); err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "server-with-key.pem")
	leaf, err := load(file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !serves(leaf.Leaf, authority.Leaf, now, hosts) {
		leaf, err = issue(file, leafTemplate(now, hosts), authority)
	}
	if err != nil {
		return nil, err
	}
	return identity(public, file, authority, leaf), nil
}

// Hosts returns the hosts that the certificate names, each once: the names of this machine, and
// extra ones.
func Hosts(extra ...string) []string {
	hosts := []string{"localhost", "127.0.0.1", "::1"}
	for _, host := range extra {
		if !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// permits reports whether the name constraints of an authority permit each host.
func permits(authority *x509.Certificate, hosts []string) bool {
	for _, host := range hosts {
		permitted := slices.Contains(authority.PermittedDNSDomains, host)
		if ip := net.ParseIP(host); ip != nil {
			permitted = slices.ContainsFunc(authority.PermittedIPRanges, func(n *net.IPNet) bool { return n.Contains(ip) })
		}
		if !permitted {
			return false
		}
	}
	return true
}

// serves reports whether leaf is signed by the authority, valid for long enough, and valid for each
// host.
func serves(leaf, authority *x509.Certificate, now time.Time, hosts []string) bool {
	if expired(leaf, now, leafMargin) || leaf.CheckSignatureFrom(authority) != nil {
		return false
	}
	for _, host := range hosts {
		if leaf.VerifyHostname(host) != nil {
			return false
		}
	}
	return true
}

// Renews returns from when on Ensure replaces a leaf.
func Renews(leaf *x509.Certificate) time.Time { return leaf.NotAfter.Add(-leafMargin) }

func expired(c *x509.Certificate, now time.Time, margin time.Duration) bool {
	return now.Add(margin).After(c.NotAfter) || now.Before(c.NotBefore)
}

// authorityTemplate returns an authority for servers with these hosts. A stolen key of it is
// useless against all other hosts.
func authorityTemplate(now time.Time, hosts []string) *x509.Certificate {
	t := &x509.Certificate{
		// The time distinguishes two authorities of one machine in a trust store's list.
		Subject:               pkix.Name{CommonName: "Causeway development CA " + now.UTC().Format("2006-01-02 15:04")},
		NotBefore:             now.Add(-skew),
		NotAfter:              now.Add(caLife),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true,

		PermittedDNSDomainsCritical: true,
	}
	for _, host := range hosts {
		ip := net.ParseIP(host)
		if ip == nil {
			t.PermittedDNSDomains = append(t.PermittedDNSDomains, host)
			continue
		}
		if v4 := ip.To4(); v4 != nil {
			ip = v4
		}
		t.PermittedIPRanges = append(t.PermittedIPRanges, &net.IPNet{IP: ip, Mask: net.CIDRMask(8*len(ip), 8*len(ip))})
	}
	return t
}

func leafTemplate(now time.Time, hosts []string) *x509.Certificate {
	t := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "Causeway standalone"},
		NotBefore:             now.Add(-skew),
		NotAfter:              now.Add(leafLife),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
			continue
		}
		t.DNSNames = append(t.DNSNames, host)
	}
	return t
}

// issue makes a key, signs the template by the parent, or self-signs it, and stores both at path.
func issue(path string, template *x509.Certificate, parent *tls.Certificate) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key for %s: %w", path, err)
	}
	template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("choose a serial for %s: %w", path, err)
	}
	signer, by := any(key), template
	if parent != nil {
		signer, by = parent.PrivateKey, parent.Leaf
	}
	der, err := x509.CreateCertificate(rand.Reader, template, by, key.Public(), signer)
	if err != nil {
		return nil, fmt.Errorf("sign %s: %w", path, err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode the key of %s: %w", path, err)
	}
	if err := durable.WriteFile(path,
		append(encode("CERTIFICATE", der), encode("PRIVATE KEY", private)...), 0o600); err != nil {
		return nil, err
	}
	return load(path)
}

// load reads a certificate and its key from one file. It returns fs.ErrNotExist if the file does
// not exist.
func load(path string) (*tls.Certificate, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read a certificate: %w", err)
	}
	c, err := tls.X509KeyPair(data, data)
	if err != nil {
		return nil, fmt.Errorf("%s does not hold a certificate and its key (remove it to create new ones): %w", path, err)
	}
	return &c, nil
}

// publish writes the certificate to path, unless the file has it already.
func publish(path string, c *x509.Certificate) error {
	want := encode("CERTIFICATE", c.Raw)
	got, err := os.ReadFile(path)
	if err == nil && bytes.Equal(got, want) {
		return nil
	}
	return durable.WriteFile(path, want, 0o644)
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
