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

// LoginB is a login of the provider-b dialect, of a merchant or a portfolio. A portfolio acts for
// several merchants.
type LoginB struct {
	// ID is the id of the merchant or the portfolio.
	ID string
	// AnyDate accepts signatures of any date.
	AnyDate bool
	// Age bounds the difference between the dates of its signatures and now, either way. Zero means
	// the proxy's setting.
	Age time.Duration

	path      string           // the file of the entry
	grants    map[string]Grant // by merchant id
	responses map[string]*rsa.PublicKey
}

// Grant returns the grant of the login for a merchant, and false if the login may not act for it.
func (l *LoginB) Grant(merchant string) (Grant, bool) {
	g, ok := l.grants[merchant]
	return g, ok
}

// EvidenceKey returns the API key of the first merchant for which the login acts, in the order of
// their ids. All proxies agree on it.
func (l *LoginB) EvidenceKey() secret.String {
	merchants := slices.Sorted(maps.Keys(l.grants))
	if len(merchants) == 0 {
		return secret.String{}
	}
	return l.grants[merchants[0]].APIKey
}

// ResponseKey returns the key that encrypts responses to the login under kid.
func (l *LoginB) ResponseKey(kid string) (*rsa.PublicKey, bool) {
	k, ok := l.responses[kid]
	return k, ok
}

// KeyB is a key with which a provider-b client signs. It is either a shared secret or a
// certificate, never both, so that a key of one kind cannot verify a signature of the other.
type KeyB struct {
	Login *LoginB
	// Secret is decoded; zero for a certificate.
	Secret      secret.String
	Certificate *x509.Certificate
}

// tableB holds the provider-b part of the files.
type tableB struct {
	keys           map[string]KeyB            // by key id or the certificate's kid
	certificates   map[[sha256.Size]byte]KeyB // by the certificate's hash
	logins         map[string]*LoginB         // by id
	decryptionKeys map[string]decryptionKey   // by kid: the keys that decrypt requests
}

// decryptionKey is a key of the file at path.
type decryptionKey struct {
	path string
	key  *rsa.PrivateKey
}

// ProviderBKey returns the key of that id, and false if it does not exist.
func (s *Store) ProviderBKey(ctx context.Context, id string) (KeyB, bool) {
	s.refresh(ctx)
	k, ok := s.table.Load().b.keys[id]
	return k, ok
}

// ProviderBCertificate returns the key of a certificate, given in DER, and false if it is not
// registered.
func (s *Store) ProviderBCertificate(ctx context.Context, der []byte) (KeyB, bool) {
	s.refresh(ctx)
	k, ok := s.table.Load().b.certificates[sha256.Sum256(der)]
	return k, ok
}

// ProviderBDecryptionKey returns the private key that decrypts requests to kid, and false if it
// does not exist.
func (s *Store) ProviderBDecryptionKey(ctx context.Context, kid string) (*rsa.PrivateKey, bool) {
	s.refresh(ctx)
	k, ok := s.table.Load().b.decryptionKeys[kid]
	return k.key, ok
}
