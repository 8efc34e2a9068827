package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/clock"
)

// The bounds of a process.
const (
	MaxQueue     = maxQueue
	GroupMost    = groupMost
	GroupsAtOnce = groupsAtOnce
	GroupPause   = groupPause
)

// Patience is how long a command may take.
const Patience = defaultPatience

// Queue writes numbers in batches by a function of the test.
type Queue struct {
	g *groups[int, int]
	e engine
}

// NewQueue returns a queue that writes by a function. Who was asked for is what he is answered.
func NewQueue(write func(ctx context.Context, all []int) error) *Queue {
	return newQueue(new(turns), clock.System(), write)
}

// NewQueueAt returns one that has another clock.
func NewQueueAt(c clock.Clock, write func(ctx context.Context, all []int) error) *Queue {
	return newQueue(new(turns), c, write)
}

// NewQueueBeside returns one that takes turns with another.
func NewQueueBeside(q *Queue, write func(ctx context.Context, all []int) error) *Queue {
	return newQueue(q.g.turns, q.e.clock, write)
}

func newQueue(t *turns, c clock.Clock, write func(ctx context.Context, all []int) error) *Queue {
	q := &Queue{e: engine{db: &store.DB{}, clock: c, patience: defaultPatience}}
	q.g = newGroups(t, func(ctx context.Context, _ time.Time, all []int) ([]answer[int], error) {
		out := make([]answer[int], len(all))
		for i, n := range all {
			out[i] = answer[int]{n, true}
		}
		return out, write(ctx, all)
	})
	return q
}

// Do writes a number, as a command does.
func (q *Queue) Do(ctx context.Context, n int) (int, bool, error) { return q.g.do(ctx, &q.e, n) }

// Waiting is how many commands of the process are not answered.
func (q *Queue) Waiting() int { return q.e.Waiting() }

// Undone reports whether after an error of the server nothing of a group was done.
func Undone(of *pgconn.PgError) bool { return undone(came(of)) }

// Ask runs a statement as those of groups are, and hands each row to scan.
func Ask(ctx context.Context, source, statement string, scan func()) error {
	pool, err := new(engine).open(ctx, source, poolSize{connections: 1}, grouping)
	if err != nil {
		return err
	}
	defer pool.Close()
	return explain(ask(ctx, pool, func(pgx.Rows) error { scan(); return nil }, &pgx.QueuedQuery{SQL: statement}))
}

// Guesses returns the tenants whose outcome records a batch writes, and the guesses of their endpoints.
func Guesses(all []*store.OutcomeRecord) map[payment.Tenant]string {
	out := map[payment.Tenant]string{}
	for _, g := range guessesOf(all) {
		out[g.tenant] = g.endpoints
	}
	return out
}

// Kept returns the places of those of the intents that a batch keeps, in the order of its statement.
func Kept(all []*store.Intent) []int { return newIntentBatch(all, time.Time{}, time.Time{}).at }
