package store

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/turns"
)

// The bounds of slow lists.
const (
	quickList = 500 * time.Millisecond // a list that takes longer is slow
	slowFor   = time.Minute            // a kind of list stays slow for so long, even if quick lists follow
	maxSlow   = 10_000                 // kinds of slow lists; at this number all are forgotten
)

// fullPage is the number of bytes in its rows at which a page ends. The rows of a merchant can be
// so long that all rows of a page would take too much time and memory.
const fullPage = 1 << 20

// listBounds returns the bounds of lists on a number of connections. A tenant uses one connection
// at a time. All slow lists together use half of the connections.
func listBounds(connections int) turns.Bounds[payment.Tenant] {
	return turns.Bounds[payment.Tenant]{
		Slots: connections, Share: 1, Wait: 2 * listTime, Queue: 32, Queues: 128,
		Slow: max(1, connections/2), TooMany: payment.ErrTooManyLists, Busy: ErrBusy,
		Later: isTest,
	}
}

// listKind is a kind of list of a tenant. If one kind is slow, the other lists of the tenant stay
// quick.
type listKind struct {
	tenant payment.Tenant
	list   *Statement
}

// slowLists holds the times at which kinds of lists were found slow, on the monotonic clock.
type slowLists struct {
	mu    sync.Mutex
	found map[listKind]time.Duration // guarded by mu
}

// add records that a list was slow: lists of its kind are slow from now on.
func (s *slowLists) add(k listKind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.found == nil || len(s.found) >= maxSlow {
		s.found = map[listKind]time.Duration{}
	}
	s.found[k] = clock.Monotonic()
}

// has reports whether lists of a kind are slow.
func (s *slowLists) has(k listKind) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, found := s.found[k]
	return found && clock.Monotonic()-at < slowFor
}

// list returns one page of a tenant's list. The zero tenant is for operators. args are the
// arguments of the statement without the cursor and the limit. It returns payment.ErrListTimeout if
// it takes longer than listTime.
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
	l, err := pageOf(ctx, db, tenant, s, p.Before != 0, scan, append(args, cursor, p.Limit+1)...)
	if err != nil {
		return payment.List[T]{}, err
	}
	if len(l.Rows) > p.Limit {
		l.Rows, l.More = l.Rows[:p.Limit], true
	}
	if p.Before != 0 {
		slices.Reverse(l.Rows)
	}
	return l, nil
}

// pageOf waits for the tenant's turn and returns the rows of a page of a list. It ends the page,
// and reports more rows, if the rows have fullPage bytes.
func pageOf[T any](
	ctx context.Context, db *DB, tenant payment.Tenant, s *Statement, newer bool,
	scan func(Scanner) (T, error), args ...any,
) (l payment.List[T], err error) {
	var size int
	begin := func() { l, size = payment.List[T]{Rows: l.Rows[:0]}, 0 }
	err = db.inTurn(ctx, tenant, s, func(ctx context.Context) error {
		return db.engine.Page(ctx, s, newer, begin, func(row Scanner) error {
			if l.More = size >= fullPage; l.More {
				return ErrEnough
			}
			v, err := scan(measured{row, &size})
			l.Rows = append(l.Rows, v)
			return err
		}, args...)
	})
	if err != nil {
		return payment.List[T]{}, err
	}
	return l, nil
}

// measured adds the bytes of the texts of a row to size.
type measured struct {
	Scanner
	size *int
}

// Scan implements Scanner.
func (m measured) Scan(dest ...any) error {
	err := m.Scanner.Scan(dest...)
	for _, d := range dest {
		switch d := d.(type) {
		case *[]byte:
			*m.size += len(*d)
		case *string:
			*m.size += len(*d)
		}
	}
	return err
}

// inTurn runs a list at the tenant's turn. A list that is not slow ends after quickList, and runs
// again as a slow one. So it does not delay the quick lists of other tenants for longer.
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

// oneTurn runs a list at one turn, and reports whether the list must run again. The time that a
// page waits for earlier commits does not make it slow.
func (db *DB) oneTurn(
	ctx context.Context, tenant payment.Tenant, s *Statement, slow bool, list func(context.Context) error,
) (again bool, err error) {
	kind := listKind{tenant, s}
	turn, err := db.lists.Take(ctx, turns.Work[payment.Tenant]{
		Caller: tenant, Slow: func() bool { return slow || db.slow.has(kind) },
	})
	if err != nil {
		return false, err
	}
	defer turn.Done()
	if turn.Slow {
		return false, list(ctx)
	}
	err = list(QuickTime(ctx))
	if again = errors.Is(err, payment.ErrListTimeout); again {
		db.slow.add(kind)
	}
	return again, err
}
