package store

import (
	"context"
	"errors"

	"github.com/causeway-pay/causeway/core/internal/store/pass"
)

// ObserveSkips has fn called at each skip. It is called before the store is shared between
// goroutines. fn is called by several goroutines and must not block.
func (db *DB) ObserveSkips(fn func(context.Context, pass.Skip)) { db.skips = fn }

// BeginPass returns a pass of a name, one of pass.Names.
func (db *DB) BeginPass(name string) *pass.Pass { return pass.New(name, db.endsPass, db.skips) }

// endsPass reports whether a failure is of the store as a whole, or of ctx, and not of the rows of a
// command. A command that stalls failed because of its rows if a small write still commits.
func (db *DB) endsPass(ctx context.Context, err error) bool {
	if ctx.Err() == nil && errors.Is(err, ErrStalled) {
		return db.PingWriter(ctx) != nil
	}
	return ctx.Err() != nil || errors.Is(err, ErrUnavailable) || errors.Is(err, ErrBusy) || errors.Is(err, ErrClosed)
}

// Due names a row with a time that has come, by which lists of such rows are sorted.
type Due struct{ At, ID int64 }

func scanDue(row Scanner) (d Due, err error) { return d, row.Scan(&d.At, &d.ID) }

// idOf is pass.Rows.ID of ids.
func idOf(id int64) int64 { return id }

// dueID is pass.Rows.ID of Due.
func dueID(d Due) int64 { return d.ID }

// purge changes or removes the rows that list returns after a row, page by page, and returns how
// many.
func purge[T any](
	ctx context.Context, db *DB, p *pass.Pass, r pass.Rows[T],
	list func(after T) ([]T, error), change func(*Tx, []T) (int64, error),
) (purged int64, err error) {
	r.Change = func(ctx context.Context, part []T) (int, error) {
		n := int64(0)
		err := db.Update(ctx, func(tx *Tx) (err error) { n, err = change(tx, part); return err })
		if err == nil {
			purged += n
		}
		return len(part), err
	}
	err = eachPage(ctx, p, r, list)
	return purged, err
}

// correct changes the rows that list returns after a row, page by page, in commits that Each bounds.
func correct[T any](
	ctx context.Context, db *DB, p *pass.Pass, r pass.Rows[T],
	list func(after T) ([]T, error), change func(*Tx, T) error,
) error {
	r.Change = func(ctx context.Context, part []T) (n int, err error) {
		err = db.Update(ctx, func(tx *Tx) (err error) {
			n, err = Each(tx, part, func(row T) error { return change(tx, row) })
			return err
		})
		return n, err
	}
	return eachPage(ctx, p, r, list)
}

// eachPage does the rows that list returns after a row, page by page. Between two pages payments have the
// writer to themselves.
func eachPage[T any](ctx context.Context, p *pass.Pass, r pass.Rows[T], list func(after T) ([]T, error)) error {
	for last := *new(T); ; {
		page, err := list(last)
		if err == nil {
			err = r.Do(ctx, p, page)
		}
		if err != nil || len(page) < purgeBatch {
			return err
		}
		if err := pause(ctx); err != nil {
			return err
		}
		last = page[len(page)-1]
	}
}

// span returns the first and the last of rows.
func span[T any](rows []T) (first, last T) { return rows[0], rows[len(rows)-1] }
