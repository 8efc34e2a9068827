package keyring

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
)

const (
	// ChallengeLifetime is how long a challenge can be answered.
	ChallengeLifetime = 10 * time.Minute
	// MaxResponseKeys is how many response keys a tenant can have, those that have yet to be proven included.
	MaxResponseKeys = 20
	challengeSize   = 32
)

// Errors about response keys.
var (
	ErrKeyExists = errors.New("keyring: the response key is active already")
	ErrTooMany   = errors.New("keyring: too many response keys")
	ErrChallenge = errors.New("keyring: not what the challenge holds, or too late")
)

// ResponseKey is a merchant's own key that answers are encrypted to.
type ResponseKey struct {
	Kid       string
	Alg       engine.Alg
	JWK       jose.JSONWebKey
	Active    bool // it was proven
	Default   bool // it is the one that is used unless another is asked for
	CreatedAt time.Time
	ActiveAt  time.Time
	// Challenge is a JWE to the key, in the answer that makes it only. Its text is to be sent back, which proves that the private key is the
	// merchant's.
	Challenge   string
	ChallengeBy time.Time // until when
}

// Register takes in a public key that was checked, whose KeyID is its thumbprint, and makes a challenge. A key that has yet to be proven
// can be registered again, for another challenge.
func (r *Keyring) Register(ctx context.Context, tenant string, jwk jose.JSONWebKey, o Once, show func(ResponseKey) StoredResponse) (StoredResponse, error) {
	challenge, hash, err := newChallenge(jwk)
	if err != nil {
		return StoredResponse{}, err
	}
	text, err := jwk.MarshalJSON()
	if err != nil {
		return StoredResponse{}, fmt.Errorf("keyring: write response key: %w", err)
	}
	var out StoredResponse
	err = r.db.Update(ctx, func(tx *keystore.Tx) error {
		out, err = r.once(tx, tenant, o, func() (StoredResponse, error) {
			k := &keystore.ResponseKey{
				Tenant: tenant, Kid: jwk.KeyID, Alg: jwk.Algorithm, JWK: text, CreatedAt: tx.Now, Challenge: hash,
				ChallengeExpiresAt: tx.Now.Add(ChallengeLifetime),
			}
			if err := register(tx, k); err != nil {
				return StoredResponse{}, err
			}
			shown := showResponse(k, jwk, false)
			shown.Challenge = challenge
			return show(shown), nil
		})
		return err
	})
	return out, err
}

func register(tx *keystore.Tx, k *keystore.ResponseKey) error {
	if err := tx.ForgetUnproven(k.Tenant, tx.Now); err != nil {
		return err
	}
	keys, err := tx.ResponseKeys(k.Tenant)
	if err != nil {
		return err
	}
	others := 0
	for _, other := range keys {
		if other.Kid != k.Kid {
			others++
		}
	}
	if others >= MaxResponseKeys {
		return ErrTooMany
	}
	if err := tx.PutResponseKey(k); errors.Is(err, keystore.ErrConflict) {
		return ErrKeyExists
	} else if err != nil {
		return err
	}
	return nil
}

// newChallenge makes a text that only the owner of the private key can read, and the hash by which its answer is known.
func newChallenge(jwk jose.JSONWebKey) (challenge string, hash []byte, err error) {
	random := make([]byte, challengeSize)
	if _, err := rand.Read(random); err != nil {
		return "", nil, fmt.Errorf("keyring: challenge: %w", err)
	}
	text := base64.RawURLEncoding.EncodeToString(random)
	to := jose.Recipient{Algorithm: jose.KeyAlgorithm(jwk.Algorithm), Key: jwk.Key, KeyID: jwk.KeyID}
	e, err := jose.NewEncrypter(jose.A256GCM, to, (&jose.EncrypterOptions{}).WithType("JOSE"))
	if err != nil {
		return "", nil, fmt.Errorf("keyring: challenge: %w", err)
	}
	jwe, err := e.Encrypt([]byte(text))
	if err != nil {
		return "", nil, fmt.Errorf("keyring: challenge: %w", err)
	}
	if challenge, err = jwe.CompactSerialize(); err != nil {
		return "", nil, fmt.Errorf("keyring: challenge: %w", err)
	}
	return challenge, hashOf(text), nil
}

func hashOf(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}

// Prove makes a response key active, and the default, if answer is what its challenge holds. The errors are engine.ErrNoKey, ErrKeyExists
// when it is active, and ErrChallenge.
func (r *Keyring) Prove(ctx context.Context, tenant, kid, answer string, o Once, show func(ResponseKey) StoredResponse) (StoredResponse, error) {
	var out StoredResponse
	err := r.db.Update(ctx, func(tx *keystore.Tx) (err error) {
		out, err = r.once(tx, tenant, o, func() (StoredResponse, error) {
			k, err := prove(tx, tenant, kid, answer)
			if err != nil {
				return StoredResponse{}, err
			}
			shown, err := storedResponse(k, true)
			return show(shown), err
		})
		return err
	})
	return out, err
}

func prove(tx *keystore.Tx, tenant, kid, answer string) (*keystore.ResponseKey, error) {
	k, err := responseOf(tx, tenant, kid)
	switch {
	case err != nil:
		return nil, err
	case !k.ProvenAt.IsZero():
		return nil, ErrKeyExists
	case !tx.Now.Before(k.ChallengeExpiresAt) || subtle.ConstantTimeCompare(hashOf(answer), k.Challenge) != 1:
		return nil, ErrChallenge
	}
	if err := tx.ProveResponseKey(tenant, kid); err != nil {
		return nil, err
	}
	return responseOf(tx, tenant, kid)
}

func responseOf(tx *keystore.Tx, tenant, kid string) (*keystore.ResponseKey, error) {
	keys, err := tx.ResponseKeys(tenant)
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		if k.Kid == kid {
			return k, nil
		}
	}
	return nil, engine.ErrNoKey
}

// ResponseKeys lists a tenant's response keys, the newest active one first. It reads the store.
func (r *Keyring) ResponseKeys(ctx context.Context, tenant string) ([]ResponseKey, error) {
	keys, err := r.db.ResponseKeys(ctx, tenant)
	if err != nil {
		return nil, err
	}
	now := r.clock.Now()
	var out []ResponseKey
	for i, k := range keys {
		if k.ProvenAt.IsZero() && !now.Before(k.ChallengeExpiresAt) {
			continue // it will never be proven
		}
		shown, err := storedResponse(k, i == 0 && !k.ProvenAt.IsZero())
		if err != nil {
			return nil, err
		}
		out = append(out, shown)
	}
	return out, nil
}

// DeleteResponseKey deletes a response key. Nothing is encrypted to it any more. The error is engine.ErrNoKey when there is none.
func (r *Keyring) DeleteResponseKey(ctx context.Context, tenant, kid string) error {
	err := r.db.Update(ctx, func(tx *keystore.Tx) error { return tx.DeleteResponseKey(tenant, kid) })
	if errors.Is(err, keystore.ErrNotFound) {
		return engine.ErrNoKey
	}
	return err
}

func storedResponse(k *keystore.ResponseKey, usual bool) (ResponseKey, error) {
	var jwk jose.JSONWebKey
	if err := jwk.UnmarshalJSON(k.JWK); err != nil {
		return ResponseKey{}, fmt.Errorf("keyring: stored response key %s: %w", k.Kid, err)
	}
	return showResponse(k, jwk, usual), nil
}

func showResponse(k *keystore.ResponseKey, jwk jose.JSONWebKey, usual bool) ResponseKey {
	return ResponseKey{
		Kid: k.Kid, Alg: engine.Alg(k.Alg), JWK: jwk, Active: !k.ProvenAt.IsZero(), Default: usual, CreatedAt: k.CreatedAt, ActiveAt: k.ProvenAt,
		ChallengeBy: k.ChallengeExpiresAt,
	}
}
