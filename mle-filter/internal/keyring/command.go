package keyring

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
)

// List returns the keys of a tenant, the oldest first, or of all tenants for "". It includes the
// keys that ended less than 30 days ago. It reads the store.
func (r *Keyring) List(ctx context.Context, tenant string) ([]Key, error) {
	tenants := []string{tenant}
	if tenant == "" {
		var err error
		if tenants, err = r.db.Tenants(ctx); err != nil {
			return nil, err
		}
	}
	now := r.clock.Now()
	var out []Key
	for _, t := range tenants {
		stored, err := r.db.Keys(ctx, t)
		if err != nil {
			return nil, err
		}
		keys, _ := r.genuine(ctx, stored)
		for _, k := range keys {
			shown, err := r.stored(k, now)
			if err != nil {
				return nil, fmt.Errorf("keyring: stored key %s: %w", k.Kid, err)
			}
			out = append(out, shown)
		}
	}
	return out, nil
}

// Revoke ends a key immediately and irreversibly: requests encrypted to it can never be read again.
// If it is the current key, the next key or a new one replaces it. Otherwise merchants would have
// no key to encrypt to. Repeating the call changes nothing. The error is engine.ErrNoKey if there
// is no such key.
func (r *Keyring) Revoke(ctx context.Context, kid string) (Rotated, error) {
	return r.end(ctx, "", kid, r.revoke)
}

// Retire ends a previous key early. The key must belong to the tenant; "" allows any tenant. For a
// current or next key the error is ErrState. Repeating the call changes nothing. The error is
// engine.ErrNoKey if there is no such key.
func (r *Keyring) Retire(ctx context.Context, tenant, kid string) (Rotated, error) {
	return r.end(ctx, tenant, kid, func(tx *keystore.Tx, k *keystore.Key, _ []*keystore.Key) (*keystore.Key, error) {
		switch stateOf(k, tx.Now) {
		case Retired, Revoked:
			return nil, nil
		case Previous:
			k.RetireAt = tx.Now
			wipe(k)
			return nil, r.update(tx, k)
		default:
			return nil, ErrState
		}
	})
}

// end ends a key and returns the key that is current afterwards.
func (r *Keyring) end(
	ctx context.Context, tenant, kid string, how func(*keystore.Tx, *keystore.Key, []*keystore.Key) (*keystore.Key, error),
) (Rotated, error) {
	found, err := r.db.Key(ctx, kid)
	if errors.Is(err, keystore.ErrNotFound) || err == nil && tenant != "" && found.Tenant != tenant {
		return Rotated{}, engine.ErrNoKey
	}
	if err != nil {
		return Rotated{}, err
	}
	var out Rotated
	err = r.db.Update(ctx, func(tx *keystore.Tx) error {
		keys, err := r.keys(ctx, tx, found.Tenant)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(keys, func(k *keystore.Key) bool { return k.Kid == kid })
		if i < 0 {
			return fmt.Errorf("%w: %s", errChanged, kid)
		}
		found = keys[i]
		cur, err := how(tx, found, keys)
		if err != nil {
			return err
		}
		if cur == nil {
			cur = found
		}
		out, err = r.rotated(tx, cur, found)
		return err
	})
	return out, err
}

func (r *Keyring) revoke(tx *keystore.Tx, k *keystore.Key, keys []*keystore.Key) (cur *keystore.Key, err error) {
	alg := engine.Alg(k.Alg)
	was, gap := stateOf(k, tx.Now), time.Time{}
	if was == Revoked {
		return nil, nil
	}
	if was == Current {
		cur, err = r.replace(tx, k.Tenant, alg, keys, 0)
		if errors.Is(err, ErrNotReady) { // no spare RSA key: the next one made becomes current
			supersede(k, tx.Now, 0)
			cur, err, gap = nil, nil, tx.Now
		}
		if err != nil {
			return nil, err
		}
	}
	if c := find(keys, alg, Current, tx.Now); was == Next && c != nil {
		c.DueAt = later(tx.Now, c.RotateAt.Add(-r.cfg.Schedule.PublishAhead)) // so that another next key is published
		if err := r.update(tx, c); err != nil {
			return nil, err
		}
	}
	k.RevokedAt = tx.Now
	wipe(k)
	k.DueAt = gap
	return cur, r.update(tx, k)
}
