package trust

import (
	"bytes"
	"cmp"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/shared/certfile"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

var errNoPair = errors.New("trust: there is no certificate")

// set is the set of served certificates: a leaf, or one for each kind of key, and their issuers.
type set struct {
	Leaves  []v1.TrustCertificate `json:"leaves"`
	Issuers []v1.TrustCertificate `json:"issuers"`
	Renews  time.Time             `json:"renews"` // when the source replaces the first of the leaves
}

// same reports whether two sets have the same leaves.
func (s *set) same(other *set) bool {
	if s == nil || other == nil {
		return s == other
	}
	return slices.EqualFunc(s.Leaves, other.Leaves, func(a, b v1.TrustCertificate) bool {
		return a.CertificateSha256 == b.CertificateSha256
	})
}

// notAfter returns the earliest end of the leaves.
func (s *set) notAfter() time.Time {
	end := s.Leaves[0].NotAfter.Time
	for _, leaf := range s.Leaves[1:] {
		if leaf.NotAfter.Before(end) {
			end = leaf.NotAfter.Time
		}
	}
	return end
}

// newSet returns the set of the certificates of pairs, in an order that does not depend on the
// order of pairs.
func (s *Publisher) newSet(pairs []*certfile.Pair) (*set, error) {
	out := &set{}
	var leaves []*x509.Certificate
	for _, p := range pairs {
		chain, err := certificates(p)
		if err != nil {
			return nil, err
		}
		leaf := show(chain[0])
		if issuer := issuerOf(chain[0], append(chain[1:], s.cfg.Authorities...)); issuer != nil {
			shown := show(issuer)
			leaf.IssuerSpkiSha256 = &shown.SpkiSha256
			out.Issuers = append(out.Issuers, shown)
		}
		out.Leaves = append(out.Leaves, leaf)
		leaves = append(leaves, chain[0])
	}
	slices.SortFunc(out.Leaves, byKey)
	out.Issuers = distinct(out.Issuers)
	out.Renews = s.renewalOf(leaves)
	return out, nil
}

// renewalOf returns when the source replaces the first of the leaves.
func (s *Publisher) renewalOf(leaves []*x509.Certificate) time.Time {
	first := s.cfg.Renews(leaves[0])
	for _, leaf := range leaves[1:] {
		if at := s.cfg.Renews(leaf); at.Before(first) {
			first = at
		}
	}
	return first.UTC().Truncate(time.Second)
}

// distinct sorts certificates and removes duplicates.
func distinct(list []v1.TrustCertificate) []v1.TrustCertificate {
	slices.SortFunc(list, byKey)
	return slices.CompactFunc(list, func(a, b v1.TrustCertificate) bool {
		return a.CertificateSha256 == b.CertificateSha256
	})
}

// byKey orders ECDSA before RSA.
func byKey(a, b v1.TrustCertificate) int {
	return cmp.Or(cmp.Compare(a.KeyAlgorithm, b.KeyAlgorithm), cmp.Compare(a.CertificateSha256, b.CertificateSha256))
}

// certificates returns a pair's chain, the leaf first.
func certificates(p *certfile.Pair) ([]*x509.Certificate, error) {
	if p == nil || len(p.Certificate.Certificate) == 0 {
		return nil, errNoPair
	}
	var chain []*x509.Certificate
	for _, der := range p.Certificate.Certificate {
		c, err := x509.ParseCertificate(der)
		if err != nil {
			return nil, fmt.Errorf("trust: read a certificate: %w", err)
		}
		chain = append(chain, c)
	}
	return chain, nil
}

// issuerOf returns the candidate that signed leaf, for clients that pin the authority, or nil.
func issuerOf(leaf *x509.Certificate, candidates []*x509.Certificate) *x509.Certificate {
	for _, c := range candidates {
		if bytes.Equal(leaf.RawIssuer, c.RawSubject) && leaf.CheckSignatureFrom(c) == nil {
			return c
		}
	}
	return nil
}

// show returns the published form of a certificate.
func show(c *x509.Certificate) v1.TrustCertificate {
	sum, key := sha256.Sum256(c.Raw), sha256.Sum256(c.RawSubjectPublicKeyInfo)
	pin := base64.StdEncoding.EncodeToString(key[:])
	names := slices.Concat([]string{}, c.DNSNames)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	return v1.TrustCertificate{
		Object: v1.TrustCertificateObjectCertificate, KeyAlgorithm: keyAlgorithm(c.PublicKey), Subject: c.Subject.String(),
		Issuer: c.Issuer.String(),
		Names:  names, SerialNumber: strings.ToUpper(hex.EncodeToString(c.SerialNumber.Bytes())),
		NotBefore: v1.Time{Time: c.NotBefore.UTC()}, NotAfter: v1.Time{Time: c.NotAfter.UTC()},
		CertificateSha256: hex.EncodeToString(sum[:]), CertificateSha256Colons: colons(sum[:]),
		X5TS256:    base64.RawURLEncoding.EncodeToString(sum[:]),
		SpkiSha256: pin,
		Pins: v1.TrustPins{
			Curl: "sha256//" + pin, Okhttp: "sha256/" + pin, Rfc7469: `pin-sha256="` + pin + `"`,
			Apple:   "<key>SPKI-SHA256-BASE64</key><string>" + pin + "</string>",
			Android: `<pin digest="SHA-256">` + pin + "</pin>",
		},
	}
}

// rotated returns the form of leaves in an event.
func rotated(list []v1.TrustCertificate) []v1.RotatedCertificate {
	out := []v1.RotatedCertificate{}
	for _, c := range list {
		out = append(out, v1.RotatedCertificate{
			KeyAlgorithm: c.KeyAlgorithm, SerialNumber: c.SerialNumber, CertificateSha256: c.CertificateSha256,
			SpkiSha256:       c.SpkiSha256,
			IssuerSpkiSha256: c.IssuerSpkiSha256, NotBefore: c.NotBefore, NotAfter: c.NotAfter,
		})
	}
	return out
}

func colons(sum []byte) string {
	parts := make([]string, len(sum))
	for i, b := range sum {
		parts[i] = fmt.Sprintf("%02X", b)
	}
	return strings.Join(parts, ":")
}

func keyAlgorithm(key any) string {
	switch key := key.(type) {
	case *ecdsa.PublicKey:
		return "ECDSA " + key.Curve.Params().Name
	case *rsa.PublicKey:
		return fmt.Sprintf("RSA %d", key.N.BitLen())
	case ed25519.PublicKey:
		return "Ed25519"
	}
	return "unknown"
}
