package engine

import (
	"context"
	"errors"

	"github.com/go-jose/go-jose/v4"

	"github.com/causeway-pay/causeway/mle-filter/internal/jwe"
)

// Alg is a key management algorithm of JWE. Every key is bound to one.
type Alg = jwe.Alg

// The algorithms there are; all else is refused before any key is touched.
const (
	RSAOAEP256   = jwe.RSAOAEP256   // RSA keys of 2048 to 4096 bits
	ECDHESA256KW = jwe.ECDHESA256KW // P-256
)

// ErrNoKey is returned for a key that does not exist, is another merchant's, has retired or was revoked: callers are not told which.
var ErrNoKey = errors.New("mle: no such key")

// Keys are what the engine may use. Implementations are safe for concurrent use, and answer by what holds when they are asked.
type Keys interface {
	// Private returns the private key with that key id, *rsa.PrivateKey, *ecdsa.PrivateKey or, which saves an operation on the curve for each
	// request, *ecdh.PrivateKey, and the algorithm it is bound to, if it is the merchant's and still decrypts. The error is ErrNoKey, or that
	// the keys cannot be had now.
	Private(ctx context.Context, merchant, kid string) (private any, alg Alg, err error)
	// Response returns the public key to wrap answers to a merchant with: the one with that key id, or the newest when kid is empty. The error
	// is ErrNoKey, or that the keys cannot be had now.
	Response(ctx context.Context, merchant, kid string) (jose.JSONWebKey, error)
}
