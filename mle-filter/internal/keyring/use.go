package keyring

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
)

// Private implements engine.Keys.
func (r *Keyring) Private(ctx context.Context, tenant, kid string) (any, engine.Alg, error) {
	c, err := r.cached(ctx, tenant)
	if err != nil {
		return nil, "", err
	}
	if slices.Contains(c.refused, kid) {
		return nil, "", fmt.Errorf("%w: %s", errChanged, kid)
	}
	k := c.key(kid)
	if k == nil || !stateOf(k.Key, r.clock.Now()).Decrypts() {
		return nil, "", engine.ErrNoKey
	}
	private, err := k.open()
	if err != nil {
		return nil, "", err
	}
	return private, engine.Alg(k.Alg), nil
}

// ResponseKey implements engine.Keys.
func (r *Keyring) ResponseKey(ctx context.Context, tenant, kid string) (jose.JSONWebKey, error) {
	c, err := r.cached(ctx, tenant)
	if err != nil {
		return jose.JSONWebKey{}, err
	}
	if kid == "" && len(c.refusedResponse) > 0 || slices.Contains(c.refusedResponse, kid) {
		return jose.JSONWebKey{}, fmt.Errorf("%w: response key of %s", errChanged, tenant)
	}
	if jwk, ok := c.responseKey(kid); ok {
		return jwk, nil
	}
	return jose.JSONWebKey{}, engine.ErrNoKey
}

// DefaultResponseKey returns the id of the default response key, or engine.ErrNoKey.
func (r *Keyring) DefaultResponseKey(ctx context.Context, tenant string) (string, error) {
	c, err := r.cached(ctx, tenant)
	if err != nil {
		return "", err
	}
	if len(c.refusedResponse) > 0 { // the default may be one of them
		return "", fmt.Errorf("%w: response key of %s", errChanged, tenant)
	}
	if len(c.responseKeys) == 0 {
		return "", engine.ErrNoKey
	}
	return c.responseKeys[0].kid, nil
}

func (c *cachedTenant) responseKey(kid string) (jose.JSONWebKey, bool) {
	for _, k := range c.responseKeys {
		if kid == "" || k.kid == kid {
			return k.jwk, true
		}
	}
	return jose.JSONWebKey{}, false
}

// Key is a key of the service, as merchants see it. Times that do not apply are zero.
type Key struct {
	Tenant, Kid string
	Alg         engine.Alg
	State       State
	JWK         jose.JSONWebKey
	CreatedAt   time.Time
	NotBefore   time.Time // clients encrypt to it from this time on
	RotateAfter time.Time // another key is current from this time on
	ExpiresAt   time.Time // it no longer decrypts from this time on
}

// Pair holds the current key and, if published, the next one.
type Pair struct {
	Current Key
	Next    *Key
}

// Current returns the key that a tenant's clients must encrypt to. The first call for a tenant
// makes one. A P-256 key is made immediately. An RSA key is taken from the spares, and without one
// the error is ErrNotReady.
func (r *Keyring) Current(ctx context.Context, tenant string, alg engine.Alg) (Pair, error) {
	c, err := r.cached(ctx, tenant)
	if err != nil {
		return Pair{}, err
	}
	now := r.clock.Now()
	if c.find(alg, Current, now) == nil {
		if err := r.first(ctx, tenant, alg); err != nil {
			return Pair{}, err
		}
		if c, err = r.cached(ctx, tenant); err != nil {
			return Pair{}, err
		}
		now = r.clock.Now()
	}
	k := c.find(alg, Current, now)
	if k == nil { // it was just revoked
		return Pair{}, ErrNotReady
	}
	p := Pair{Current: r.show(k, now)}
	if n := c.find(alg, Next, now); n != nil {
		next := r.show(n, now)
		p.Next, p.Current.RotateAfter = &next, next.NotBefore
		p.Current.ExpiresAt = next.NotBefore.Add(r.cfg.Schedule.KeepPrevious)
	}
	return p, nil
}

// first makes a tenant's first key, unless another filter has made it.
func (r *Keyring) first(ctx context.Context, tenant string, alg engine.Alg) error {
	err := r.db.Update(ctx, func(tx *keystore.Tx) error {
		keys, err := r.keys(ctx, tx, tenant)
		if err != nil || find(keys, alg, Current, tx.Now) != nil {
			return err
		}
		_, err = r.replace(tx, tenant, alg, keys, 0)
		return err
	})
	return err
}

// Keys returns all keys of a tenant that decrypt: the default algorithm first, and for each
// algorithm the current, next and previous keys.
func (r *Keyring) Keys(ctx context.Context, tenant string) ([]Key, error) {
	c, err := r.cached(ctx, tenant)
	if err != nil {
		return nil, err
	}
	now := r.clock.Now()
	var out []Key
	for _, alg := range Algs() {
		for _, s := range []State{Current, Next, Previous} {
			for _, k := range c.keys {
				if k.Alg == string(alg) && stateOf(k.Key, now) == s {
					out = append(out, r.show(k, now))
				}
			}
		}
	}
	return out, nil
}

func (r *Keyring) show(k *cachedKey, now time.Time) Key {
	out := r.shown(k.Key, now)
	out.JWK = k.jwk
	return out
}

// shown converts a key without its JWK.
func (r *Keyring) shown(k *keystore.Key, now time.Time) Key {
	s := r.cfg.Schedule
	out := Key{
		Tenant: k.Tenant, Kid: k.Kid, Alg: engine.Alg(k.Alg), State: stateOf(k, now), CreatedAt: k.CreatedAt,
		NotBefore: k.NotBefore,
	}
	switch out.State {
	case Next:
		out.RotateAfter = k.NotBefore.Add(s.RotateEvery)
		out.ExpiresAt = out.RotateAfter.Add(s.KeepPrevious)
	case Current:
		out.RotateAfter, out.ExpiresAt = k.RotateAt, k.RotateAt.Add(s.KeepPrevious)
	case Previous, Retired:
		out.RotateAfter, out.ExpiresAt = k.SupersededAt, k.RetireAt
	case Revoked:
		out.RotateAfter, out.ExpiresAt = k.SupersededAt, k.RevokedAt
	}
	return out
}
