package engine

import (
	"context"
	"errors"

	"github.com/go-jose/go-jose/v4"
)

// Alg is a key management algorithm of JWE. Every key is bound to one.
type Alg string

// The algorithms there are; all else is refused before any key is touched.
const (
	RSAOAEP256   Alg = "RSA-OAEP-256"   // RSA keys of 2048 to 4096 bits
	ECDHESA256KW Alg = "ECDH-ES+A256KW" // P-256
)

// ErrNoKey is returned for a key that does not exist, is another merchant's, has retired or was revoked: callers are not told which.
var ErrNoKey = errors.New("mle: no such key")

// Keys are what the engine may use. Implementations are safe for concurrent use and answer from memory nearly always.
type Keys interface {
	// Private returns the private key with that key id, *rsa.PrivateKey or *ecdsa.PrivateKey, and the algorithm it is bound to, if it is the
	// merchant's and still decrypts. The error is ErrNoKey, or that the keys cannot be had now.
	Private(ctx context.Context, merchant, kid string) (private any, alg Alg, err error)
	// Response returns the public key to wrap answers to a merchant with: the one with that key id, or the newest when kid is empty. The error
	// is ErrNoKey, or that the keys cannot be had now.
	Response(ctx context.Context, merchant, kid string) (jose.JSONWebKey, error)
}
