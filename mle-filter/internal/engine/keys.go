package engine

import (
	"context"
	"errors"

	"github.com/go-jose/go-jose/v4"

	"github.com/causeway-pay/causeway/mle-filter/internal/jwe"
)

// Alg is a key management algorithm of JWE. Every key is bound to one.
type Alg = jwe.Alg

// The supported algorithms. A message with another one is rejected before any key is read.
const (
	RSAOAEP256   = jwe.RSAOAEP256   // RSA keys of 2048 to 4096 bits
	ECDHESA256KW = jwe.ECDHESA256KW // P-256
)

// ErrNoKey reports that the merchant has no usable key with that id. The key is missing, belongs to
// another merchant, has retired or was revoked; the error does not distinguish these cases.
var ErrNoKey = errors.New("mle: no such key")

// Keys returns the keys that the engine may use now. Implementations are safe for concurrent use.
type Keys interface {
	// Private returns the merchant's private key with that key id and the algorithm that it is bound
	// to. The key is an *rsa.PrivateKey, *ecdsa.PrivateKey or *ecdh.PrivateKey. The last type saves an
	// operation on the curve for each request. The error is ErrNoKey, or reports that the keys cannot
	// be read now.
	Private(ctx context.Context, merchant, kid string) (private any, alg Alg, err error)
	// ResponseKey returns the public key that encrypts responses to a merchant: the one with that
	// key id, or the newest if kid is empty. The error is ErrNoKey, or reports that the keys cannot be
	// read now.
	ResponseKey(ctx context.Context, merchant, kid string) (jose.JSONWebKey, error)
}
