package certfile

import (
	"bytes"
	"crypto"
	"crypto/tls"
	"crypto/x509"

	"github.com/causeway-pay/causeway/shared/secret"
)

// Pair is a certificate with its key, as a tls.Certificate and as PEM. It does not change after it
// is loaded.
type Pair struct {
	Certificate tls.Certificate // Leaf is set; the leaf first, then its issuers
	Chain       []byte          // PEM, the same certificates in the same order
	Key         secret.String   // PEM, PKCS #8
	From        Files           // its files, as reasons name them
}

// Files names the two files of a pair: PEM, the chain with the leaf first, and the private key.
// They may be one file that holds both.
type Files struct {
	Chain string
	Key   string
}

// Leaf returns the certificate of the server.
func (p *Pair) Leaf() *x509.Certificate { return p.Certificate.Leaf }

// Equal reports whether both have the same certificates and the same key.
func (p *Pair) Equal(q *Pair) bool {
	if p == nil || q == nil {
		return p == q
	}
	return bytes.Equal(p.Chain, q.Chain) && p.Key.Reveal() == q.Key.Reveal()
}

// algorithm returns the algorithm of the leaf's key, by which clients choose between pairs.
func (p *Pair) algorithm() string { return p.Leaf().PublicKeyAlgorithm.String() }

// keyOf reports whether the private key belongs to the certificate.
func (p *Pair) keyOf(c *x509.Certificate) bool {
	signer, ok := p.Certificate.PrivateKey.(crypto.Signer)
	if !ok {
		return false
	}
	public, ok := signer.Public().(interface{ Equal(x crypto.PublicKey) bool })
	return ok && public.Equal(c.PublicKey)
}
