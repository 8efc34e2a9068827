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

// Queue has numbers written together, by a test and not by a server.
type Queue struct {
	g *groups[int, int]
	e engine
}

// Member is who asks.
type Member = *caller[int, int]

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

// Do asks, as a command does.
func (q *Queue) Do(ctx context.Context, n int) (int, bool, error) { return q.g.do(ctx, &q.e, n) }

// Enter is the first step of one who asks, and reports whether he is to lead.
func (q *Queue) Enter(n int) (Member, bool) {
	m := &caller[int, int]{asks: n, at: q.e.clock.Now(), leads: make(chan struct{}, 1), ended: make(chan struct{})}
	return m, q.g.enter(m)
}

// Stay is what he does then.
func (q *Queue) Stay(ctx context.Context, m Member, leads bool) error {
	return q.g.stay(ctx, &q.e, m, leads)
}

// Take takes the group of its leader out of the queue, and returns how many they are.
func (q *Queue) Take(leader Member) int { return len(q.g.take(leader)) }

// Beside reports whether one who waits is to lead beside others.
func (q *Queue) Beside(m Member) bool { return q.g.beside(m) }

// HandOn ends a lead.
func (q *Queue) HandOn() { q.g.handOn() }

// Leading is how many lead.
func (q *Queue) Leading() int {
	q.g.mu.Lock()
	defer q.g.mu.Unlock()
	return q.g.leading
}

// Waiting is how many commands of the process are not answered.
func (q *Queue) Waiting() int { return q.e.Waiting() }

// Undone reports whether after an error of the server nothing of a group was done.
func Undone(of *pgconn.PgError) bool { return undone(came(of)) }

// Ask runs a statement as those of groups are, and hands each row to scan.
func Ask(ctx context.Context, source, statement string, scan func()) error {
	pool, err := new(engine).open(ctx, source, 1, grouping)
	if err != nil {
		return err
	}
	defer pool.Close()
	return explain(ask(ctx, pool, func(pgx.Rows) error { scan(); return nil }, &pgx.QueuedQuery{SQL: statement}))
}

// Agreed are the tenants whose payments a group ends, with the endpoints that they are taken to have.
func Agreed(all []*store.Closing) map[payment.Tenant]string {
	out := map[payment.Tenant]string{}
	for _, t := range tenantsOf(all) {
		out[t.tenant] = t.endpoints
	}
	return out
}
