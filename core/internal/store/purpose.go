package store

import (
	"context"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/turns"
)

// Purpose is the kind of work that a read outside of commands belongs to. An engine has separate
// connections for each purpose, so that no read waits for reads of another purpose.
type Purpose int

// The purposes.
const (
	// ByID is for reads that are quick by an index.
	ByID Purpose = iota
	// Listing is for a page of a list. It may have to read all rows of a merchant.
	Listing
	// Background is for passes over the rows of many merchants, and for counts.
	Background
	// Essential is for the reads on which the requests of all clients depend: of API keys, operator
	// tokens and health. They do not wait for reads of one merchant's large rows.
	Essential
)

// Purposes returns all purposes.
func Purposes() []Purpose { return []Purpose{ByID, Listing, Background, Essential} }

// String returns the name of the purpose in metrics.
func (p Purpose) String() string { return [...]string{"read", "list", "background", "essential"}[p] }

// The deadlines of one read, from its turn to its last row.
const (
	listTime       = 5 * time.Second
	backgroundTime = 10 * time.Second
)

// isQuick is the context key of a list that ends after quickList.
type isQuick struct{}

// QuickTime returns a context whose lists end after quickList.
func QuickTime(ctx context.Context) context.Context { return context.WithValue(ctx, isQuick{}, true) }

// WholeTime returns a context whose reads may take the whole time of their purpose.
func WholeTime(ctx context.Context) context.Context { return context.WithValue(ctx, isQuick{}, false) }

// Time returns the deadline of one read. ok is false if the engine's own deadline applies. A quick
// list has a shorter deadline than WholeTime.
func (p Purpose) Time(ctx context.Context) (d time.Duration, ok bool) {
	switch p {
	case Listing:
		if quick, _ := ctx.Value(isQuick{}).(bool); quick {
			return quickList, true
		}
		return listTime, true
	case Background:
		return backgroundTime, true
	case ByID, Essential:
	}
	return 0, false
}

// Expired returns the error of a read that did not end within its deadline.
func (p Purpose) Expired() error {
	if p == Listing {
		return payment.ErrListTimeout
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, ErrStalled)
}

// inBackground is the key of the mark that InBackground sets.
type inBackground struct{}

// InBackground returns a context whose commands are background work. An engine with several
// connections for commands runs them on other connections than the commands of clients, so that no
// payment waits for them.
func InBackground(ctx context.Context) context.Context {
	return context.WithValue(ctx, inBackground{}, true)
}

// forClients returns a context whose commands are not background work, even if ctx is of background
// work.
func forClients(ctx context.Context) context.Context {
	return context.WithValue(ctx, inBackground{}, false)
}

// row runs a read by id and returns its first row.
func (db *DB) row(ctx context.Context, s *Statement, args ...any) Scanner {
	return db.engine.Row(ctx, ByID, s, args...)
}

// essential runs an essential read and returns its first row.
func (db *DB) essential(ctx context.Context, s *Statement, args ...any) Scanner {
	return db.engine.Row(ctx, Essential, s, args...)
}

// backgroundRow runs a background read and returns its first row.
func (db *DB) backgroundRow(ctx context.Context, s *Statement, args ...any) Scanner {
	return db.engine.Row(ctx, Background, s, args...)
}

// backgroundRows runs a background read and returns its rows.
func backgroundRows[T any](
	ctx context.Context, db *DB, s *Statement, scan func(Scanner) (T, error), args ...any,
) ([]T, error) {
	return read(ctx, db, Background, s, scan, args...)
}

// find runs a read by id and returns its rows.
func find[T any](
	ctx context.Context, db *DB, s *Statement, scan func(Scanner) (T, error), args ...any,
) ([]T, error) {
	return read(ctx, db, ByID, s, scan, args...)
}

// Turn waits for the tenant's turn to do work that reads many rows. The work counts as a slow list
// of the tenant until done is called. It returns the errors of a list.
func (db *DB) Turn(ctx context.Context, tenant payment.Tenant) (done func(), err error) {
	slow := turns.Work[payment.Tenant]{Caller: tenant, Slow: func() bool { return true }}
	turn, err := db.lists.Take(ctx, slow)
	return turn.Done, err
}

// listed runs a list at the tenant's turn and returns its rows. The zero tenant is for operators.
func listed[T any](
	ctx context.Context, db *DB, tenant payment.Tenant, s *Statement, scan func(Scanner) (T, error), args ...any,
) (rows []T, err error) {
	err = db.inTurn(ctx, tenant, s, func(ctx context.Context) (err error) {
		rows, err = read(ctx, db, Listing, s, scan, args...)
		return err
	})
	return rows, err
}

// read runs a read for a purpose and returns its rows. scan must have no other effect: the engine
// may read all rows again.
func read[T any](
	ctx context.Context, db *DB, p Purpose, s *Statement, scan func(Scanner) (T, error), args ...any,
) ([]T, error) {
	var out []T
	err := db.engine.Each(ctx, p, s, func() { out = out[:0] }, func(row Scanner) error {
		v, err := scan(row)
		out = append(out, v)
		return err
	}, args...)
	if err != nil {
		return nil, err
	}
	return out, nil
}
