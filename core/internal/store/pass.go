package store

import (
	"context"
	"errors"
	"slices"
)

// Skip is an object that a background pass left as it was, because the object could not be read or
// the store refused its change.
type Skip struct {
	Pass string // one of Passes
	Kind string // of the object: "transaction", "merchant"
	ID   int64
	Err  error
}

// The passes that skip objects.
const (
	PassSettlement = "settlement"
	PassExpiry     = "expiry"
	PassErasure    = "erasure"
	PassInactive   = "inactive_customers"
	PassBroadcast  = "broadcast"
	PassWebhooks   = "webhooks"
	PassPurge      = "purge"
	PassRecovery   = "recovery"
)

// Passes are all passes that skip objects.
func Passes() []string {
	return []string{
		PassSettlement, PassExpiry, PassErasure, PassInactive, PassBroadcast, PassWebhooks, PassPurge, PassRecovery,
	}
}

// ObserveSkips has fn called at each skip. It is called before the store is shared between
// goroutines. fn is called by several goroutines and must not block.
func (db *DB) ObserveSkips(fn func(context.Context, Skip)) { db.skips = fn }

// Pass is one background pass over the rows of many merchants. A row or merchant that fails is
// skipped, so that it delays no other. A later pass finds it again.
type Pass struct {
	db      *DB
	name    string
	skipped int // objects so far
}

// BeginPass returns a pass of a name, one of Passes.
func (db *DB) BeginPass(name string) *Pass { return &Pass{db: db, name: name} }

// Skip skips an object that failed with err and reports it to the observer. It returns err if the
// pass has to end: if ctx has ended or the store as a whole failed. A nil err is no failure.
func (p *Pass) Skip(ctx context.Context, kind string, id int64, err error) error {
	if err == nil || p.ends(ctx, err) {
		return err
	}
	p.skipped++
	if p.db.skips != nil {
		p.db.skips(ctx, Skip{Pass: p.name, Kind: kind, ID: id, Err: err})
	}
	return nil
}

// ends reports whether a failure is of the store as a whole, or of ctx, and not of the rows of a
// command. A command that stalls failed because of its rows if a small write still commits.
func (p *Pass) ends(ctx context.Context, err error) bool {
	if ctx.Err() == nil && errors.Is(err, ErrStalled) {
		return p.db.PingWriter(ctx) != nil
	}
	return ctx.Err() != nil || errors.Is(err, ErrUnavailable) || errors.Is(err, ErrBusy) || errors.Is(err, ErrClosed)
}

// Rows is how a pass changes rows of one kind.
type Rows[T any] struct {
	Kind string // of Skip
	ID   func(T) int64
	// Change changes rows from the first one on in one commit, and returns how many, at least one. An
	// error has changed none of them.
	Change func(context.Context, []T) (int, error)
	// Refused writes that a row was skipped, if a later pass would not find it else. Nil for nothing.
	Refused func(context.Context, T) error
}

// Do changes the rows in their order, as many in each commit as Change does. If a commit fails, it
// changes the first half and the second half in commits of their own, and so on. So the rows that
// fail are skipped alone, at the cost of a few commits for each.
func (r Rows[T]) Do(ctx context.Context, p *Pass, rows []T) error {
	var err error
	for len(rows) > 0 && err == nil {
		var n int
		n, err = r.Change(ctx, rows)
		if err == nil {
			rows = rows[n:]
		}
	}
	if err == nil || p.ends(ctx, err) {
		return err
	}
	if len(rows) > 1 {
		for half := range slices.Chunk(rows, (len(rows)+1)/2) {
			if err := r.Do(ctx, p, half); err != nil {
				return err
			}
		}
		return nil
	}
	if err := p.Skip(ctx, r.Kind, r.ID(rows[0]), err); err != nil || r.Refused == nil {
		return err
	}
	return p.Skip(ctx, r.Kind, r.ID(rows[0]), r.Refused(ctx, rows[0]))
}

// Due names a row with a time that has come, by which lists of such rows are sorted.
type Due struct{ At, ID int64 }

func scanDue(row Scanner) (d Due, err error) { return d, row.Scan(&d.At, &d.ID) }

// idOf is Rows.ID of ids.
func idOf(id int64) int64 { return id }

// dueID is Rows.ID of Due.
func dueID(d Due) int64 { return d.ID }

// purge changes or removes the rows that list returns after a row, page by page, and returns how
// many.
func (r Rows[T]) purge(
	ctx context.Context, p *Pass, list func(after T) ([]T, error), change func(*Tx, []T) (int64, error),
) (purged int64, err error) {
	r.Change = func(ctx context.Context, part []T) (int, error) {
		n := int64(0)
		err := p.db.Update(ctx, func(tx *Tx) (err error) { n, err = change(tx, part); return err })
		if err == nil {
			purged += n
		}
		return len(part), err
	}
	err = r.pages(ctx, p, list)
	return purged, err
}

// correct changes the rows that list returns after a row, page by page, in commits that Each bounds.
func (r Rows[T]) correct(ctx context.Context, p *Pass, list func(after T) ([]T, error), change func(*Tx, T) error) error {
	r.Change = func(ctx context.Context, part []T) (n int, err error) {
		err = p.db.Update(ctx, func(tx *Tx) (err error) {
			n, err = Each(tx, part, func(row T) error { return change(tx, row) })
			return err
		})
		return n, err
	}
	return r.pages(ctx, p, list)
}

// pages does the rows that list returns after a row, page by page. Between two pages payments have the
// writer to themselves.
func (r Rows[T]) pages(ctx context.Context, p *Pass, list func(after T) ([]T, error)) error {
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
