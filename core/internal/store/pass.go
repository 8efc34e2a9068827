package store

import (
	"context"
	"errors"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store/pass"
)

// ObserveSkips calls fn at each skip from now on. Call it before goroutines share the store.
// Several goroutines call fn, which must not block.
func (db *DB) ObserveSkips(fn func(context.Context, pass.Skip)) { db.skips = fn }

// BeginPass returns a new pass with a name of pass.Names.
func (db *DB) BeginPass(name string) *pass.Pass { return pass.New(name, db.endsPass, db.skips) }

// endsPass reports whether a failure is one of the store as a whole, or of ctx, and not of the rows
// of a command. A command that stalls failed because of its rows if a small write still commits.
func (db *DB) endsPass(ctx context.Context, err error) bool {
	if ctx.Err() == nil && errors.Is(err, ErrStalled) {
		return db.PingWriter(ctx) != nil
	}
	return ctx.Err() != nil || errors.Is(err, ErrUnavailable) || errors.Is(err, ErrBusy) || errors.Is(err, ErrClosed) ||
		errors.Is(err, payment.ErrTooManyChanges) || errors.Is(err, payment.ErrTooManyReads)
}

// Due is the position of a row in a queue: the time at which it is due, in milliseconds, and its
// id.
type Due struct{ At, ID int64 }

func scanDue(row Scanner) (d Due, err error) { return d, row.Scan(&d.At, &d.ID) }

// idOf is pass.Rows.ID for rows that are ids.
func idOf(id int64) int64 { return id }

// dueID is pass.Rows.ID for rows of a queue.
func dueID(d Due) int64 { return d.ID }

// sized is a row by its id, with the bytes that its removal overwrites.
type sized struct{ id, bytes int64 }

func scanSized(row Scanner) (s sized, err error) { return s, row.Scan(&s.id, &s.bytes) }

// sizedRows returns how a pass changes rows of a kind, in commits that bound their bytes.
func sizedRows(kind string) pass.Rows[sized] {
	return pass.Rows[sized]{
		Kind: kind, ID: func(s sized) int64 { return s.id }, Bytes: func(s sized) int64 { return s.bytes },
	}
}

// purge changes or removes, page by page, the rows that list returns after a row. It returns how
// many.
func purge[T any](
	ctx context.Context, db *DB, p *pass.Pass, r pass.Rows[T],
	list func(after T) ([]T, error), change func(*Tx, []T) (int64, error),
) (purged int64, err error) {
	r.Change = func(ctx context.Context, chunk []T) (int, error) {
		n := int64(0)
		err := db.Update(ctx, func(tx *Tx) (err error) { n, err = change(tx, chunk); return err })
		if err == nil {
			purged += n
		}
		return len(chunk), err
	}
	err = eachPage(ctx, p, r, list)
	return purged, err
}

// correct changes, page by page, the rows that list returns after a row. Each bounds its commits.
func correct[T any](
	ctx context.Context, db *DB, p *pass.Pass, r pass.Rows[T],
	list func(after T) ([]T, error), change func(*Tx, T) error,
) error {
	r.Change = func(ctx context.Context, chunk []T) (n int, err error) {
		err = db.Update(ctx, func(tx *Tx) (err error) {
			n, err = Each(tx, chunk, func(row T) error { return change(tx, row) })
			return err
		})
		return n, err
	}
	return eachPage(ctx, p, r, list)
}

// eachPage runs r for the rows that list returns after a row, page by page. Between two pages
// payments have the writer to themselves.
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

// span returns the first and the last row.
func span[T any](rows []T) (first, last T) { return rows[0], rows[len(rows)-1] }

// pause waits for purgePause, in which payments have the store to themselves. It returns ctx's
// error if ctx ends first.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(purgePause):
		return nil
	}
}
