package enginetest

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"sync"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
)

// The merchants of the tests.
const (
	Merchant = "mer_0000000000001"
	Other    = "mer_0000000000002"
)

// ErrDown is the error of keys that cannot be read.
var ErrDown = errors.New("enginetest: the keys cannot be read")

// Key is a private key of the filter, or a private response key of a merchant.
type Key struct {
	KID     string
	Alg     engine.Alg
	Private crypto.PrivateKey
}

// Public returns the public key as its owner publishes it.
func (k Key) Public() jose.JSONWebKey {
	public := k.Private.(interface{ Public() crypto.PublicKey }).Public()
	return jose.JSONWebKey{Key: public, KeyID: k.KID, Algorithm: string(k.Alg), Use: "enc"}
}

// NewKey makes a P-256 key, or an RSA key of that many bits.
func NewKey(tb testing.TB, alg engine.Alg, bits int) Key {
	tb.Helper()
	k := Key{Alg: alg}
	var err error
	if alg == engine.RSAOAEP256 {
		k.Private, err = rsa.GenerateKey(rand.Reader, bits)
	} else {
		k.Private, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	}
	if err != nil {
		tb.Fatal(err)
	}
	public := k.Public()
	print, err := public.Thumbprint(crypto.SHA256)
	if err != nil {
		tb.Fatal(err)
	}
	k.KID = base64.RawURLEncoding.EncodeToString(print)
	return k
}

// Ring is an engine.Keys in memory. It counts the reads of private keys.
type Ring struct {
	mu       sync.Mutex
	private  map[string]Key               // by merchant and kid; guarded by mu
	response map[string][]jose.JSONWebKey // by merchant, the newest last; guarded by mu
	down     bool                         // guarded by mu
	reads    int                          // guarded by mu
}

var _ engine.Keys = (*Ring)(nil)

// Add gives a merchant a key that decrypts.
func (r *Ring) Add(merchant string, k Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.private == nil {
		r.private = map[string]Key{}
	}
	r.private[merchant+" "+k.KID] = k
}

// Remove removes a key, if it exists.
func (r *Ring) Remove(merchant, kid string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.private, merchant+" "+kid)
}

// AddResponse registers a response key.
func (r *Ring) AddResponse(merchant string, k jose.JSONWebKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.response == nil {
		r.response = map[string][]jose.JSONWebKey{}
	}
	r.response[merchant] = append(r.response[merchant], k)
}

// Fail makes reads of the keys fail, or succeed again.
func (r *Ring) Fail(down bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down = down
}

// Reads returns the number of reads of private keys.
func (r *Ring) Reads() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reads
}

// Private implements engine.Keys.
func (r *Ring) Private(_ context.Context, merchant, kid string) (any, engine.Alg, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reads++
	if r.down {
		return nil, "", ErrDown
	}
	k, ok := r.private[merchant+" "+kid]
	if !ok {
		return nil, "", engine.ErrNoKey
	}
	return k.Private, k.Alg, nil
}

// ResponseKey implements engine.Keys.
func (r *Ring) ResponseKey(_ context.Context, merchant, kid string) (jose.JSONWebKey, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.down {
		return jose.JSONWebKey{}, ErrDown
	}
	keys := r.response[merchant]
	for i := len(keys) - 1; i >= 0; i-- {
		if kid == "" || keys[i].KeyID == kid {
			return keys[i], nil
		}
	}
	return jose.JSONWebKey{}, engine.ErrNoKey
}
