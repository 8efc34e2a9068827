package keyring

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
)

const (
	maintainEvery = time.Minute // how often the schedule is looked at
	rememberEnded = 30 * day    // how long keys can still be listed that are over
)

// Maintain does the work that the schedule makes due: it publishes next keys, rotates, wipes the
// private halves of keys that have retired, and later removes these keys. Any number of filters may
// do it at once. It wipes and removes by the confirmed time of clock.Guard, which a clock that is
// set ahead does not move.
func (r *Keyring) Maintain(ctx context.Context) error {
	due, err := r.db.Due(ctx, r.clock.Now())
	if err != nil {
		return err
	}
	var faults []error
	for _, tenant := range due {
		if err := r.db.Update(ctx, func(tx *keystore.Tx) error { return r.maintain(tx, tenant) }); err != nil {
			faults = append(faults, fmt.Errorf("keys of %s: %w", tenant, err))
		}
	}
	ended := r.guard.Confirmed()
	faults = append(faults, r.lookAtAges(ctx), r.db.Forget(ctx, ended.Add(-keystore.ResponseLifetime)),
		r.db.Purge(ctx, ended.Add(-rememberEnded)))
	return errors.Join(faults...)
}

// maintain does what is due of one tenant. It decides by what it reads inside the write, so that a second filter finds nothing left to do.
func (r *Keyring) maintain(tx *keystore.Tx, tenant string) error {
	keys, err := tx.Keys(tenant)
	if err != nil {
		return err
	}
	ended := r.guard.Confirmed()
	for _, k := range keys {
		if s := stateOf(k, ended); s.Decrypts() || k.Sealed == nil {
			continue
		}
		wipe(k)
		if err := tx.UpdateKey(k); err != nil {
			return err
		}
	}
	for _, alg := range Algs() {
		err := r.schedule(tx, tenant, alg, keys)
		switch {
		case errors.Is(err, ErrNotReady):
			r.fillSoon() // it stays due, and what else was due is kept
		case err != nil:
			return err
		}
	}
	return nil
}

// schedule publishes or rotates the keys of one algorithm, if that is due.
func (r *Keyring) schedule(tx *keystore.Tx, tenant string, alg engine.Alg, keys []*keystore.Key) error {
	cur, next := find(keys, alg, Current, tx.Now), find(keys, alg, Next, tx.Now)
	switch {
	case next != nil && !tx.Now.Before(next.NotBefore):
		_, err := r.replace(tx, tenant, alg, keys, r.cfg.Schedule.KeepPrevious)
		return err
	case cur == nil && next == nil:
		return r.fillGap(tx, tenant, alg, keys)
	case next != nil || cur.DueAt.IsZero() || tx.Now.Before(cur.DueAt):
		return nil
	}
	k, err := r.obtain(tx, tenant, alg)
	if err != nil {
		return err
	}
	// Late, when nobody looked for long: the merchant has its time to see the key all the same.
	k.NotBefore = later(cur.RotateAt, tx.Now.Add(r.cfg.Schedule.PublishAhead))
	k.DueAt, cur.DueAt = k.NotBefore, time.Time{}
	if err := tx.InsertKey(k); err != nil {
		return err
	}
	return tx.UpdateKey(cur)
}

// fillGap makes a key current where one was revoked while there was none to take its place.
func (r *Keyring) fillGap(tx *keystore.Tx, tenant string, alg engine.Alg, keys []*keystore.Key) error {
	for _, k := range keys {
		if k.Alg != string(alg) || k.RevokedAt.IsZero() || k.DueAt.IsZero() {
			continue
		}
		if _, err := r.replace(tx, tenant, alg, keys, 0); err != nil {
			return err
		}
		k.DueAt = time.Time{}
		return tx.UpdateKey(k)
	}
	return nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// fillSoon has spare keys made.
func (r *Keyring) fillSoon() {
	select {
	case r.fill <- struct{}{}:
	default: // it is wished for already
	}
}

// Fill makes RSA keys until as many as are to be kept ready are there, which takes the better part
// of a second for each. It first removes those that do not open: none of them could ever be given
// out.
func (r *Keyring) Fill(ctx context.Context) error {
	const alg = engine.RSAOAEP256
	if err := r.dropDamagedSpares(ctx); err != nil {
		return err
	}
	for {
		n, err := r.db.Spares(ctx, string(alg))
		if err != nil || n >= r.cfg.Spares || ctx.Err() != nil {
			return err
		}
		if err := r.makeSpare(ctx, alg); err != nil {
			return err
		}
	}
}

// dropDamagedSpares removes the spare keys that do not open. It writes only if there is one.
func (r *Keyring) dropDamagedSpares(ctx context.Context) error {
	spares, err := r.db.SpareKeys(ctx)
	if err != nil {
		return err
	}
	by := r.sealer.last.Load()
	opens := func(k *keystore.Key) bool {
		der, err := by.open(k)
		clear(der)
		return err == nil
	}
	if !slices.ContainsFunc(spares, func(k *keystore.Key) bool { return !opens(k) }) {
		return nil
	}
	return r.db.Update(ctx, func(tx *keystore.Tx) error { // by the keyset as it is now
		if spares, err = tx.SpareKeys(); err != nil {
			return err
		}
		if by, err = r.sealer.follow(tx.Keyset()); err != nil {
			return err
		}
		for _, k := range spares {
			if opens(k) {
				continue
			}
			r.log.ErrorContext(ctx, "keyring: a spare key does not open and is removed", slog.String("kid", k.Kid))
			if err := tx.DeleteSpare(k.Kid); err != nil {
				return err
			}
		}
		return nil
	})
}

func (r *Keyring) makeSpare(ctx context.Context, alg engine.Alg) error {
	k, der, err := r.newKey(alg) // outside the write, which others wait for
	if err != nil {
		return err
	}
	return r.db.Update(ctx, func(tx *keystore.Tx) error {
		if err := r.seal(tx, k, der, ""); err != nil {
			return err
		}
		return tx.InsertSpare(k)
	})
}

// Ready reports whether an RSA key can be given out at once.
func (r *Keyring) Ready(ctx context.Context) (bool, error) {
	n, err := r.db.Spares(ctx, string(engine.RSAOAEP256))
	return n > 0 || r.cfg.Spares == 0, err
}
