package credentials

import (
	"context"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"maps"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/shared/secret"
)

// LoginB is a login of the provider-b dialect: a merchant's, or a portfolio's, which acts for several merchants.
type LoginB struct {
	// ID is the merchant's or the portfolio's.
	ID string
	// AnyDate takes its signatures whatever their date says.
	AnyDate bool
	// Age is how far from now the dates of its signatures may be, either way. Zero means the proxy's.
	Age time.Duration

	grants    map[string]Grant // by merchant id
	responses map[string]*rsa.PublicKey
}

// Grant returns what the login stands for when it acts for a merchant, and false when it may not.
func (l *LoginB) Grant(merchant string) (Grant, bool) {
	g, ok := l.grants[merchant]
	return g, ok
}

// Witness returns the API key of the first merchant that the login acts for, in the order of their
// ids: one that all proxies agree on.
func (l *LoginB) Witness() secret.String {
	merchants := slices.Sorted(maps.Keys(l.grants))
	if len(merchants) == 0 {
		return secret.String{}
	}
	return l.grants[merchants[0]].APIKey
}

// ResponseKey returns the key that answers to the login are encrypted to when it asks for kid.
func (l *LoginB) ResponseKey(kid string) (*rsa.PublicKey, bool) {
	k, ok := l.responses[kid]
	return k, ok
}

// KeyB is a key that a provider-b client signs with: either a shared secret or a certificate, never both, so that a signature of the one
// kind cannot be judged by a key of the other.
type KeyB struct {
	Login *LoginB
	// Secret is decoded; zero for a certificate.
	Secret      secret.String
	Certificate *x509.Certificate
}

// tableB is all that the file says of provider-b.
type tableB struct {
	keys    map[string]KeyB            // by key id or the certificate's kid
	leaves  map[[sha256.Size]byte]KeyB // by the certificate
	openers map[string]*rsa.PrivateKey // by kid: what clients encrypt their requests to
}

// ProviderBKey returns the key of that id, and false when there is none.
func (s *Store) ProviderBKey(ctx context.Context, id string) (KeyB, bool) {
	s.refresh(ctx)
	k, ok := s.table.Load().b.keys[id]
	return k, ok
}

// ProviderBCertificate returns the key whose certificate this is, DER, and false when nobody registered it.
func (s *Store) ProviderBCertificate(ctx context.Context, der []byte) (KeyB, bool) {
	s.refresh(ctx)
	k, ok := s.table.Load().b.leaves[sha256.Sum256(der)]
	return k, ok
}

// ProviderBOpener returns the private key that opens requests encrypted to kid, and false when it is none of ours.
func (s *Store) ProviderBOpener(ctx context.Context, kid string) (*rsa.PrivateKey, bool) {
	s.refresh(ctx)
	k, ok := s.table.Load().b.openers[kid]
	return k, ok
}
