package store

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// listBounds returns the bounds of lists on a number of connections. A merchant has at most half of
// these.
func listBounds(connections int) TurnBounds {
	return TurnBounds{
		Slots: connections, Share: max(1, connections/2), Wait: 2 * listTime, Queue: 32, Queues: 128,
		Quick: 500 * time.Millisecond, TooMany: payment.ErrTooManyLists,
	}
}

// list returns one page of a tenant's list. The zero tenant is for operators. args are the
// arguments of the statement without the cursor and the limit. payment.ErrListTimeout if it takes
// longer than listTime.
func list[T any](
	ctx context.Context, db *DB, tenant payment.Tenant, of pages, p payment.Page,
	scan func(Scanner) (T, error), args ...any,
) (payment.List[T], error) {
	s, cursor := of.after, int64(math.MaxInt64)
	switch {
	case p.Before != 0:
		s, cursor = of.before, p.Before
	case p.After != 0:
		cursor = p.After
	}
	rows, err := pageOf(ctx, db, tenant, s, p.Before != 0, scan, append(args, cursor, p.Limit+1)...)
	if err != nil {
		return payment.List[T]{}, err
	}
	l := payment.List[T]{Rows: rows, More: len(rows) > p.Limit}
	if l.More {
		l.Rows = rows[:p.Limit]
	}
	if p.Before != 0 {
		slices.Reverse(l.Rows)
	}
	return l, nil
}

// pageOf waits for the tenant's turn and returns the rows of a page of a list.
func pageOf[T any](
	ctx context.Context, db *DB, tenant payment.Tenant, s *Statement, newer bool,
	scan func(Scanner) (T, error), args ...any,
) (rows []T, err error) {
	done, err := db.Turn(ctx, tenant)
	if err != nil {
		return nil, err
	}
	defer done()
	err = db.engine.Page(ctx, s, newer, func() { rows = rows[:0] }, func(row Scanner) error {
		v, err := scan(row)
		rows = append(rows, v)
		return err
	}, args...)
	if err != nil {
		return nil, err
	}
	return rows, nil
}
