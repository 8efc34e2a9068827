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
	maintainEvery = time.Minute // the interval of the schedule
	rememberEnded = 30 * day    // time for which ended keys are still listed
)

// Maintain does the work that is due by the schedule. It publishes next keys, rotates, wipes the
// private halves of retired keys, and later removes these keys. Several filters may run it at the
// same time. It wipes and removes by the confirmed time of clock.Guard, so a clock that is set
// ahead ends no key.
func (r *Keyring) Maintain(ctx context.Context) error {
	due, err := r.db.Due(ctx, r.clock.Now())
	if err != nil {
		return err
	}
	var faults []error
	for _, tenant := range due {
		if err := r.db.Update(ctx, func(tx *keystore.Tx) error { return r.maintain(ctx, tx, tenant) }); err != nil {
			faults = append(faults, fmt.Errorf("keys of %s: %w", tenant, err))
		}
	}
	ended := r.guard.Confirmed()
	faults = append(faults, r.lookAtChanged(ctx), r.lookAtAges(ctx),
		r.db.Forget(ctx, ended.Add(-keystore.ResponseLifetime)), r.db.Purge(ctx, ended.Add(-rememberEnded)))
	return errors.Join(faults...)
}

// maintain does the work that is due for one tenant. It decides by data that it reads in the same
// transaction, so a second filter finds no work left.
func (r *Keyring) maintain(ctx context.Context, tx *keystore.Tx, tenant string) error {
	keys, err := r.keys(ctx, tx, tenant)
	if err != nil {
		return err
	}
	ended := r.guard.Confirmed()
	for _, k := range keys {
		if s := stateOf(k, ended); s.Decrypts() || k.Sealed == nil {
			continue
		}
		wipe(k)
		if err := r.update(tx, k); err != nil {
			return err
		}
	}
	for _, alg := range Algs() {
		err := r.schedule(tx, tenant, alg, keys)
		switch {
		case errors.Is(err, ErrNotReady):
			r.fillSoon() // the rotation stays due; the other changes are kept
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
	// The schedule may be late. The merchant still gets the full time to fetch the next key.
	k.NotBefore = later(cur.RotateAt, tx.Now.Add(r.cfg.Schedule.PublishAhead))
	k.DueAt, cur.DueAt = k.NotBefore, time.Time{}
	if err := r.insert(tx, k); err != nil {
		return err
	}
	return r.update(tx, cur)
}

// fillGap makes a key current if the current key was revoked while no other key was ready.
func (r *Keyring) fillGap(tx *keystore.Tx, tenant string, alg engine.Alg, keys []*keystore.Key) error {
	for _, k := range keys {
		if k.Alg != string(alg) || k.RevokedAt.IsZero() || k.DueAt.IsZero() {
			continue
		}
		if _, err := r.replace(tx, tenant, alg, keys, 0); err != nil {
			return err
		}
		k.DueAt = time.Time{}
		return r.update(tx, k)
	}
	return nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// fillSoon requests new spare keys from Run.
func (r *Keyring) fillSoon() {
	select {
	case r.fill <- struct{}{}:
	default: // already requested
	}
}

// Fill makes RSA keys until the configured number is ready. Each takes most of a second. First it
// removes the spare keys that cannot be decrypted or that another program changed, because no
// merchant could use them.
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

// dropDamagedSpares removes the spare keys that cannot be decrypted. It writes only if there is
// one.
func (r *Keyring) dropDamagedSpares(ctx context.Context) error {
	spares, err := r.db.SpareKeys(ctx)
	if err != nil {
		return err
	}
	by := r.sealer.last.Load()
	opens := func(k *keystore.Key) bool {
		der, err := by.open(k)
		clear(der)
		return err == nil && by.wrote(k)
	}
	if !slices.ContainsFunc(spares, func(k *keystore.Key) bool { return !opens(k) }) {
		return nil
	}
	return r.db.Update(ctx, func(tx *keystore.Tx) error { // checks again with the stored keyset
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
	k, der, err := r.newKey(alg) // outside the transaction, because other writes wait for it
	if err != nil {
		return err
	}
	return r.db.Update(ctx, func(tx *keystore.Tx) error {
		k.CreatedAt = tx.Now
		if err := r.seal(tx, k, der, ""); err != nil {
			return err
		}
		k.MAC = r.rows().keyMAC(k)
		return tx.InsertSpare(k)
	})
}

// Ready reports whether an RSA key is available now.
func (r *Keyring) Ready(ctx context.Context) (bool, error) {
	n, err := r.db.Spares(ctx, string(engine.RSAOAEP256))
	return n > 0 || r.cfg.Spares == 0, err
}
