package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/turns"
)

// The bounds of a process.
const (
	MaxQueue   = maxQueue
	BatchSize  = batchSize
	BatchSlots = batchSlots
	BatchWait  = batchWait
	SmallBytes = smallBytes
	UnitBytes  = unitBytes
)

// TenantNumbers is how many numbers in a row are of one tenant. Numbers from LiveNumbers on are of
// live mode.
const TenantNumbers, LiveNumbers = 1000, 1_000_000

// Patience is how long a command may take.
const Patience = defaultPatience

// Queue writes numbers in batches by a function of the test.
type Queue struct {
	// Bytes returns the bytes of a number's data; nil for none. Set it before the first call of Do.
	Bytes func(n int) int

	g *batches[int, int]
	e engine
}

// NewQueue returns a queue that writes numbers by a function. The result of a number is the number.
func NewQueue(write func(ctx context.Context, all []int) error) *Queue {
	return newQueue(newBatchQueue(), clock.System(), write)
}

// NewQueueAt is NewQueue with another clock.
func NewQueueAt(c clock.Clock, write func(ctx context.Context, all []int) error) *Queue {
	return newQueue(newBatchQueue(), c, write)
}

// NewSharedQueue returns a queue of another kind that shares the batches of q.
func NewSharedQueue(q *Queue, write func(ctx context.Context, all []int) error) *Queue {
	return newQueue(q.g.batchQueue, q.e.clock, write)
}

func newQueue(t *batchQueue, c clock.Clock, write func(ctx context.Context, all []int) error) *Queue {
	q := &Queue{e: engine{db: &store.DB{}, clock: c, patience: defaultPatience}}
	q.e.turns = turns.New(turnBounds(1, defaultPatience))
	weigh := func(n int) (tenant payment.Tenant, bytes int) {
		if q.Bytes != nil {
			bytes = q.Bytes(n)
		}
		return payment.Tenant{Merchant: int64(n / TenantNumbers), Live: n >= LiveNumbers}, bytes
	}
	q.g = newBatches(t, weigh, func(ctx context.Context, _ time.Time, all []int) ([]result[int], error) {
		out := make([]result[int], len(all))
		for i, n := range all {
			out[i] = result[int]{n, true}
		}
		return out, write(ctx, all)
	})
	return q
}

// Do writes a number, as a command does.
func (q *Queue) Do(ctx context.Context, n int) (int, bool, error) { return q.g.do(ctx, &q.e, n) }

// Waiting returns how many commands have no result yet.
func (q *Queue) Waiting() int { return q.e.Waiting() }

// Failures returns the counters of commands that ended with ErrUnavailable, and of deadlocks.
func (q *Queue) Failures() (unavailable, deadlocks int64) {
	return q.e.stats.unavailable.Load(), q.e.stats.deadlock.Load()
}

// Undone reports whether an error of the server means that it rolled back a batch.
func Undone(of *pgconn.PgError) bool { return undone(asFault(of)) }

// RunBatch runs a statement as the statement of a batch, and calls scan for each row.
func RunBatch(ctx context.Context, source, statement string, scan func()) error {
	s, err := parse(source, nil)
	if err != nil {
		return err
	}
	pool, err := s.open(ctx, poolSize{connections: 1}, batchSettings)
	if err != nil {
		return err
	}
	defer pool.Close()
	row := func(pgx.Rows) error { scan(); return nil }
	return explain(inOneTransaction(ctx, pool, row, &pgx.QueuedQuery{SQL: statement}))
}

// WeighIntent and WeighOutcome return the tenant of an item of a batch, and the bytes of its data.
var (
	WeighIntent  = weighIntent
	WeighOutcome = weighOutcome
)

// Guesses returns the tenants whose outcome records a batch writes, with the guesses of their
// endpoints.
func Guesses(all []*store.OutcomeRecord) map[payment.Tenant]string {
	out := map[payment.Tenant]string{}
	for _, g := range guessesOf(all) {
		out[g.tenant] = g.endpoints
	}
	return out
}

// Kept returns the indexes of the intents that a batch keeps, in the order of its statement.
func Kept(all []*store.Intent) []int {
	return newIntentBatch(all, time.Time{}, time.Time{}, time.Time{}).at
}
