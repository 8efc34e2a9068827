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
	Certificate tls.Certificate // Leaf is set; the leaf first, then what leads to the root
	Chain       []byte          // PEM, the same certificates in the same order
	Key         secret.String   // PEM, PKCS #8
	From        Files           // where it was read; what reasons name
}

// Files names the two files of a pair: PEM, the chain with the leaf first, and the private key.
// They may be one file that holds both.
type Files struct {
	Chain string
	Key   string
}

// Leaf is the certificate that names the server.
func (p *Pair) Leaf() *x509.Certificate { return p.Certificate.Leaf }

// Equal reports whether both send the same certificates and have the same key.
func (p *Pair) Equal(q *Pair) bool {
	if p == nil || q == nil {
		return p == q
	}
	return bytes.Equal(p.Chain, q.Chain) && p.Key.Reveal() == q.Key.Reveal()
}

// algorithm is the kind of the leaf's key: clients choose between pairs by it.
func (p *Pair) algorithm() string { return p.Leaf().PublicKeyAlgorithm.String() }

// keyOf reports whether the key is that of the certificate.
func (p *Pair) keyOf(c *x509.Certificate) bool {
	signer, ok := p.Certificate.PrivateKey.(crypto.Signer)
	if !ok {
		return false
	}
	public, ok := signer.Public().(interface{ Equal(x crypto.PublicKey) bool })
	return ok && public.Equal(c.PublicKey)
}
