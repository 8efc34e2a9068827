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
	// ChallengeLifetime is the time within which the merchant must send the plaintext of a
	// challenge.
	ChallengeLifetime = 10 * time.Minute
	// MaxResponseKeys is the largest number of response keys of a tenant, including unproven ones.
	MaxResponseKeys = 20
	challengeSize   = 32
)

// Errors about response keys.
var (
	ErrKeyExists = errors.New("keyring: the response key is active already")
	ErrTooMany   = errors.New("keyring: too many response keys")
	ErrChallenge = errors.New("keyring: wrong plaintext of the challenge, or the challenge has expired")
)

// ResponseKey is a merchant's public key for encrypted responses.
type ResponseKey struct {
	Kid       string
	Alg       engine.Alg
	JWK       jose.JSONWebKey
	Active    bool // the merchant has proven it
	Default   bool // used unless the request names another key
	CreatedAt time.Time
	ActiveAt  time.Time
	// Challenge is a JWE to the key, only in the response to Register. Sending its plaintext back
	// proves that the merchant has the private key.
	Challenge   string
	ChallengeBy time.Time // end of its lifetime
}

// Register stores a validated public key, whose KeyID is its thumbprint, and makes a challenge. An
// unproven key can be registered again to get another challenge.
func (r *Keyring) Register(
	ctx context.Context, tenant string, jwk jose.JSONWebKey, o Once, show func(ResponseKey) Response,
) (Response, error) {
	challenge, hash, err := newChallenge(jwk)
	if err != nil {
		return Response{}, err
	}
	text, err := jwk.MarshalJSON()
	if err != nil {
		return Response{}, fmt.Errorf("keyring: write response key: %w", err)
	}
	var out Response
	err = r.db.Update(ctx, func(tx *keystore.Tx) error {
		out, err = r.once(tx, tenant, o, func() (Response, error) {
			k := &keystore.ResponseKey{
				Tenant: tenant, Kid: jwk.KeyID, Alg: jwk.Algorithm, JWK: text, CreatedAt: tx.Now, Challenge: hash,
				ChallengeExpiresAt: tx.Now.Add(ChallengeLifetime),
			}
			k.MAC = r.rows().responseKeyMAC(k)
			if err := register(tx, k); err != nil {
				return Response{}, err
			}
			shown := showResponseKey(k, jwk, false)
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

// newChallenge encrypts a random plaintext to the key. It returns the ciphertext, and the hash of
// the plaintext.
func newChallenge(jwk jose.JSONWebKey) (challenge string, hash []byte, err error) {
	random := make([]byte, challengeSize)
	if _, err := rand.Read(random); err != nil {
		return "", nil, fmt.Errorf("keyring: challenge: %w", err)
	}
	plaintext := base64.RawURLEncoding.EncodeToString(random)
	to := jose.Recipient{Algorithm: jose.KeyAlgorithm(jwk.Algorithm), Key: jwk.Key, KeyID: jwk.KeyID}
	e, err := jose.NewEncrypter(jose.A256GCM, to, (&jose.EncrypterOptions{}).WithType("JOSE"))
	if err != nil {
		return "", nil, fmt.Errorf("keyring: challenge: %w", err)
	}
	jwe, err := e.Encrypt([]byte(plaintext))
	if err != nil {
		return "", nil, fmt.Errorf("keyring: challenge: %w", err)
	}
	if challenge, err = jwe.CompactSerialize(); err != nil {
		return "", nil, fmt.Errorf("keyring: challenge: %w", err)
	}
	return challenge, hashOf(plaintext), nil
}

func hashOf(plaintext string) []byte {
	sum := sha256.Sum256([]byte(plaintext))
	return sum[:]
}

// Prove makes a response key active and the default if plaintext is the one of its challenge.
// The errors are engine.ErrNoKey, ErrKeyExists if the key is already active, and ErrChallenge.
func (r *Keyring) Prove(
	ctx context.Context, tenant, kid, plaintext string, o Once, show func(ResponseKey) Response,
) (Response, error) {
	var out Response
	err := r.db.Update(ctx, func(tx *keystore.Tx) (err error) {
		out, err = r.once(tx, tenant, o, func() (Response, error) {
			k, err := r.prove(ctx, tx, tenant, kid, plaintext)
			if err != nil {
				return Response{}, err
			}
			shown, err := parseResponseKey(k, true)
			return show(shown), err
		})
		return err
	})
	return out, err
}

func (r *Keyring) prove(
	ctx context.Context, tx *keystore.Tx, tenant, kid, plaintext string,
) (*keystore.ResponseKey, error) {
	k, err := r.findResponseKey(ctx, tx, tenant, kid)
	switch {
	case err != nil:
		return nil, err
	case !k.ProvenAt.IsZero():
		return nil, ErrKeyExists
	case !tx.Now.Before(k.ChallengeExpiresAt) || subtle.ConstantTimeCompare(hashOf(plaintext), k.Challenge) != 1:
		return nil, ErrChallenge
	}
	tx.Prove(k)
	k.MAC = r.rows().responseKeyMAC(k)
	return k, tx.ProveResponseKey(k)
}

func (r *Keyring) findResponseKey(
	ctx context.Context, tx *keystore.Tx, tenant, kid string,
) (*keystore.ResponseKey, error) {
	stored, err := tx.ResponseKeys(tenant)
	if err != nil {
		return nil, err
	}
	keys, _ := r.genuineResponse(ctx, stored)
	for _, k := range keys {
		if k.Kid == kid {
			return k, nil
		}
	}
	return nil, engine.ErrNoKey
}

// ResponseKeys lists a tenant's response keys, the newest active one first. It reads the store.
func (r *Keyring) ResponseKeys(ctx context.Context, tenant string) ([]ResponseKey, error) {
	stored, err := r.db.ResponseKeys(ctx, tenant)
	if err != nil {
		return nil, err
	}
	keys, _ := r.genuineResponse(ctx, stored)
	now := r.clock.Now()
	var out []ResponseKey
	for i, k := range keys {
		if k.ProvenAt.IsZero() && !now.Before(k.ChallengeExpiresAt) {
			continue // it can never be proven
		}
		shown, err := parseResponseKey(k, i == 0 && !k.ProvenAt.IsZero())
		if err != nil {
			return nil, err
		}
		out = append(out, shown)
	}
	return out, nil
}

// DeleteResponseKey deletes a response key. No later response is encrypted to it. The error is
// engine.ErrNoKey if there is no such key.
func (r *Keyring) DeleteResponseKey(ctx context.Context, tenant, kid string) error {
	err := r.db.Update(ctx, func(tx *keystore.Tx) error { return tx.DeleteResponseKey(tenant, kid) })
	if errors.Is(err, keystore.ErrNotFound) {
		return engine.ErrNoKey
	}
	return err
}

func parseResponseKey(k *keystore.ResponseKey, isDefault bool) (ResponseKey, error) {
	var jwk jose.JSONWebKey
	if err := jwk.UnmarshalJSON(k.JWK); err != nil {
		return ResponseKey{}, fmt.Errorf("keyring: stored response key %s: %w", k.Kid, err)
	}
	return showResponseKey(k, jwk, isDefault), nil
}

func showResponseKey(k *keystore.ResponseKey, jwk jose.JSONWebKey, isDefault bool) ResponseKey {
	return ResponseKey{
		Kid: k.Kid, Alg: engine.Alg(k.Alg), JWK: jwk, Active: !k.ProvenAt.IsZero(), Default: isDefault,
		CreatedAt:   k.CreatedAt,
		ActiveAt:    k.ProvenAt,
		ChallengeBy: k.ChallengeExpiresAt,
	}
}
