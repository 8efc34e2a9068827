package store

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// quickList is how long a list may take that is not slow.
const quickList = 500 * time.Millisecond

// listBounds returns the bounds of lists on a number of connections. A merchant has one of these in
// each mode. Slow lists have half of them together.
func listBounds(connections int) TurnBounds {
	return TurnBounds{
		Slots: connections, Share: 1, Wait: 2 * listTime, Queue: 32, Queues: 128,
		Slow: max(1, connections/2), LiveFirst: true, TooMany: payment.ErrTooManyLists,
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
	err = db.inTurn(ctx, tenant, s, func(ctx context.Context) error {
		return db.engine.Page(ctx, s, newer, func() { rows = rows[:0] }, func(row Scanner) error {
			v, err := scan(row)
			rows = append(rows, v)
			return err
		}, args...)
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// inTurn runs a list at the tenant's turn. A list that is not slow ends after quickList, and runs
// again as a slow one. So it delays no quick list of others for longer.
func (db *DB) inTurn(
	ctx context.Context, tenant payment.Tenant, s *Statement, list func(context.Context) error,
) error {
	for slow := false; ; slow = true {
		again, err := db.oneTurn(ctx, tenant, s, slow, list)
		if !again {
			return err
		}
	}
}

// oneTurn is inTurn for one turn. It reports whether the list must run again. The time that a page
// waits for earlier commits does not make it slow.
func (db *DB) oneTurn(
	ctx context.Context, tenant payment.Tenant, s *Statement, slow bool, list func(context.Context) error,
) (again bool, err error) {
	turn, err := db.lists.take(ctx, Caller{Tenant: tenant}, s, slow)
	if err != nil {
		return false, err
	}
	defer db.lists.leave(turn)
	if turn.slow {
		return false, list(ctx)
	}
	err = list(context.WithValue(ctx, isQuick{}, true))
	if again = errors.Is(err, payment.ErrListTimeout); again {
		db.lists.found(turn)
	}
	return again, err
}
