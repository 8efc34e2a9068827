package keyring

import (
	"context"
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
)

// Rotate describes a rotation.
type Rotate struct {
	Tenant string
	Alg    engine.Alg
	// From is the id of the current key to replace. If that key is no longer current, nothing
	// changes. "" stands for the key that is current at the call, so of two concurrent calls one
	// rotates.
	From string
	// Keep is the time for which the replaced key still decrypts; nil for Schedule.KeepPrevious.
	Keep *time.Duration
	// Limited applies the limits of tenants. Beyond them the error is a *LimitError or ErrNotReady.
	Limited bool
	Once    Once
}

// Rotated is the result of a rotation.
type Rotated struct {
	Current  Key
	Previous *Key // the replaced key; nil if none was replaced
}

// Rotate replaces the current key with the next one, or with a new one if there is no next key. It
// calls show inside the transaction to make the response. The error is engine.ErrNoKey if From is
// not a key of the tenant, ErrNotReady, or a *LimitError.
func (r *Keyring) Rotate(ctx context.Context, in Rotate, show func(Rotated) Response) (Response, error) {
	if in.From == "" {
		stored, err := r.db.Keys(ctx, in.Tenant)
		if err != nil {
			return Response{}, err
		}
		keys, _ := r.genuine(ctx, stored)
		if k := find(keys, in.Alg, Current, r.clock.Now()); k != nil {
			in.From = k.Kid
		}
	}
	var out Response
	err := r.db.Update(ctx, func(tx *keystore.Tx) error {
		var err error
		out, err = r.once(tx, in.Tenant, in.Once, func() (Response, error) {
			done, err := r.rotateFrom(ctx, tx, in)
			if err != nil {
				return Response{}, err
			}
			return show(done), nil
		})
		return err
	})
	return out, err
}

// rotateFrom rotates if in.From is current.
func (r *Keyring) rotateFrom(ctx context.Context, tx *keystore.Tx, in Rotate) (Rotated, error) {
	keys, err := r.keys(ctx, tx, in.Tenant)
	if err != nil {
		return Rotated{}, err
	}
	if in.From != "" && !has(keys, in.From, in.Alg) {
		return Rotated{}, engine.ErrNoKey
	}
	cur := find(keys, in.Alg, Current, tx.Now)
	if cur != nil && cur.Kid != in.From {
		return r.rotated(tx, cur, nil)
	}
	keep := r.cfg.Schedule.KeepPrevious
	if in.Keep != nil {
		keep = *in.Keep
	}
	if in.Limited {
		if err := r.allow(tx, in, keys, keep); err != nil {
			return Rotated{}, err
		}
		if cur != nil {
			cur.RequestedAt = tx.Now // saved when the key is superseded
		}
	}
	next, err := r.replace(tx, in.Tenant, in.Alg, keys, keep)
	if err != nil {
		return Rotated{}, err
	}
	return r.rotated(tx, next, cur)
}

// replace supersedes the current key, if any, and makes another one current.
func (r *Keyring) replace(
	tx *keystore.Tx, tenant string, alg engine.Alg, keys []*keystore.Key, keep time.Duration,
) (*keystore.Key, error) {
	cur, next := find(keys, alg, Current, tx.Now), find(keys, alg, Next, tx.Now)
	fresh := next == nil
	if fresh {
		var err error
		if next, err = r.obtain(tx, tenant, alg); err != nil {
			return nil, err
		}
	}
	if cur != nil {
		supersede(cur, tx.Now, keep)
		if err := r.update(tx, cur); err != nil {
			return nil, err
		}
	}
	next.NotBefore = tx.Now
	r.cfg.Schedule.activate(next, tx.Now)
	write := r.update
	if fresh {
		write = r.insert
	}
	if err := write(tx, next); err != nil {
		return nil, err
	}
	if cur == nil {
		cur = last(keys, alg)
	}
	if cur == nil {
		return next, nil // the first key replaces none
	}
	return next, r.announce(tx, next, cur)
}

// last returns the most recent of the former current keys, or nil if there is none.
func last(keys []*keystore.Key, alg engine.Alg) (out *keystore.Key) {
	for _, k := range keys {
		if k.Alg == string(alg) && !k.SupersededAt.IsZero() && (out == nil || k.SupersededAt.After(out.SupersededAt)) {
			out = k
		}
	}
	return out
}

func (r *Keyring) rotated(tx *keystore.Tx, cur, previous *keystore.Key) (out Rotated, err error) {
	if out.Current, err = r.stored(cur, tx.Now); err != nil || previous == nil {
		return out, err
	}
	p, err := r.stored(previous, tx.Now)
	out.Previous = &p
	return out, err
}

// stored converts a key that was read from the store.
func (r *Keyring) stored(k *keystore.Key, now time.Time) (Key, error) {
	out := r.shown(k, now)
	return out, out.JWK.UnmarshalJSON(k.JWK)
}

func has(keys []*keystore.Key, kid string, alg engine.Alg) bool {
	for _, k := range keys {
		if k.Kid == kid && k.Alg == string(alg) {
			return true
		}
	}
	return false
}
