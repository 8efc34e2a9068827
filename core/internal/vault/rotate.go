package vault

import (
	"context"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/id"
)

// rotateBatch is how many rows one commit of a rotation rewrites. They are few, so that the running
// service is not disturbed.
const rotateBatch = 200

// ErrStillSealed reports that not everything could be resealed, so no key was dropped.
var ErrStillSealed = errors.New("vault: some rows are still sealed by an old key")

// Rotation reseals everything by a fresh key. If it dies at any moment, run it again: it
// continues. The service may run meanwhile; two rotations must not run at the same time.
type Rotation struct {
	Vault *Vault
	Store *store.DB
	// Drop removes the old keys at the end. If an earlier rotation has left old keys, Run only
	// finishes that one.
	Drop bool
	// Progress is called from time to time with the numbers of rows.
	Progress func(done, total int)
	// Complain is called for a row that does not open, with its id.
	Complain func(object string, err error)
}

// Run rotates. It returns ErrStillSealed if some rows do not open.
func (r *Rotation) Run(ctx context.Context) error {
	if err := r.Vault.Refresh(); err != nil {
		return err
	}
	left, err := r.left(ctx)
	if err != nil {
		return err
	}
	if left == 0 && (!r.Drop || len(r.Vault.Older()) == 0) {
		if err := r.Vault.AddPrimary(); err != nil {
			return err
		}
		if left, err = r.left(ctx); err != nil {
			return err
		}
	}
	// From here on no process writes under the old keys. A process that tries gets an error, finds
	// the new keyset, and seals by it.
	older := r.Vault.Older()
	if err := r.Store.Update(ctx, func(tx *store.Tx) error { return tx.RetireKeys(older) }); err != nil {
		return fmt.Errorf("retire old keys: %w", err)
	}
	if err := r.reseal(ctx, left); err != nil {
		return err
	}
	if left, err = r.left(ctx); err != nil {
		return err
	}
	if left > 0 {
		return fmt.Errorf("%w: %d", ErrStillSealed, left)
	}
	if !r.Drop {
		return nil
	}
	return r.Vault.DropOlder()
}

// left counts the texts that are sealed by an old key.
func (r *Rotation) left(ctx context.Context) (n int, err error) {
	err = r.Store.Update(ctx, func(tx *store.Tx) error { n, err = tx.CountSealed(r.Vault.Primary()); return err })
	if err != nil {
		return 0, fmt.Errorf("count the rows left to reseal: %w", err)
	}
	return n, nil
}

// table is one kind of rows that the vault seals.
type table struct {
	prefix id.Prefix
	field  string
	next   func(ctx context.Context, key uint32, after int64, limit int) ([]store.Sealed, error)
	write  func(tx *store.Tx, was store.Sealed, now store.Sealed) error
}

func (r *Rotation) reseal(ctx context.Context, total int) error {
	done, err := r.resealCodeKeys(ctx)
	if err != nil {
		return err
	}
	for _, t := range []table{
		{id.Token, fieldNumber, r.Store.SealedTokens, func(tx *store.Tx, was, now store.Sealed) error {
			return tx.ResealToken(was.ID, was.Sealed.Key, now.Sealed)
		}},
		{id.PaymentMethod, fieldNumber, r.Store.SealedMethods, func(tx *store.Tx, was, now store.Sealed) error {
			return tx.ResealMethod(was.ID, was.Sealed.Key, now.Sealed)
		}},
		{id.Account, fieldCredentials, r.Store.SealedAccounts, func(tx *store.Tx, was, now store.Sealed) error {
			return tx.ResealAccount(was.ID, was.Sealed.Key, now.Sealed)
		}},
	} {
		for after := int64(0); ; {
			batch, err := t.next(ctx, r.Vault.Primary(), after, rotateBatch)
			if err != nil {
				return fmt.Errorf("read the sealed rows: %w", err)
			}
			if len(batch) == 0 {
				break
			}
			if err := r.batch(ctx, t, batch); err != nil {
				return err
			}
			done += len(batch)
			r.Progress(done, max(done, total))
			after = batch[len(batch)-1].ID
		}
	}
	return nil
}

// resealCodeKeys re-encrypts the keys of security codes and returns their number. The codes
// themselves stay as they are.
func (r *Rotation) resealCodeKeys(ctx context.Context) (done int, err error) {
	kept, err := r.Store.CodeKeys(ctx)
	if err != nil {
		return 0, fmt.Errorf("read code keys: %w", err)
	}
	for _, was := range kept {
		if was.Vault == r.Vault.Primary() {
			continue
		}
		now, err := r.Vault.ResealCodeKey(was)
		if err != nil {
			r.Complain(fmt.Sprintf("the key of security codes of hour %d", was.Hour), err)
			continue
		}
		if err := r.Store.Update(ctx, func(tx *store.Tx) error { return tx.ResealCodeKey(was.Vault, now) }); err != nil {
			return 0, fmt.Errorf("write a code key: %w", err)
		}
		done++
	}
	return done, nil
}

// batch reseals some rows in one commit.
func (r *Rotation) batch(ctx context.Context, t table, rows []store.Sealed) error {
	anew := make([]store.Sealed, 0, len(rows))
	opened := rows[:0:0]
	for _, row := range rows {
		o := Object{Tenant: row.Tenant, ID: id.Format(t.prefix, row.ID)}
		sealed, err := r.Vault.reseal(o, t.field, row.Sealed)
		if err != nil {
			r.Complain(o.ID, err)
			continue
		}
		opened, anew = append(opened, row), append(anew, store.Sealed{ID: row.ID, Sealed: sealed})
	}
	err := r.Store.Update(ctx, func(tx *store.Tx) error {
		for i := range opened {
			if err := t.write(tx, opened[i], anew[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("write the resealed rows: %w", err)
	}
	return nil
}
