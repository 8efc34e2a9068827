package postgres

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/batch"
)

const (
	// batchSize bounds the payments of a batch. While a batch is under way the next one collects,
	// because a payment of a large batch costs less. A batch may wait for a lock, so a payment that
	// has waited for batchWait begins another batch, with at most batchSlots under way.
	batchSize, batchSlots = 128, 6
	batchWait             = 5 * time.Millisecond
	// A payment with up to smallBytes of data costs one unit, and one more for each unitBytes
	// above that. A batch costs at most batchSize: that many small payments, or fewer large ones.
	smallBytes, unitBytes = 4 << 10, 1 << 10
	// batchConnections bounds the connections for batches of one process. It exceeds batchSlots: a
	// connection may wait for a commit whose callers have given up.
	batchConnections = 10
)

// batchSettings are the settings of connections that write batches. A batch must not wait for long
// for a lock that one entry needs. Its statements are planned once: they find rows by their keys
// in tables of any size. They join rows by hashes: nested loops would cost each entry more in a
// larger batch.
var batchSettings = map[string]string{
	"lock_timeout": "100", "statement_timeout": "0", "plan_cache_mode": "force_generic_plan", "enable_seqscan": "off",
	"enable_mergejoin": "off", "enable_nestloop": "off", "jit": "off",
}

// batchQueue is the queue of the batches of all kinds. They share it, so that payments of one kind
// collect while a batch of another kind is written. Tenants take turns at the places of batches.
type batchQueue struct{ queue batch.Queue[entry] }

func newBatchQueue() *batchQueue {
	return &batchQueue{batch.Queue[entry]{
		Commit: func(all []entry) error { return all[0].writeAll(all) },
		Kind:   entry.kind, Caller: func(one entry) any { return one.tenant() },
		Estimate: entry.cost, Most: batchSize, Later: func(one entry) bool { return !one.tenant().Live },
		Size: batchSize, Slots: batchSlots, Slow: batchWait,
	}}
}

// entry is a payment that waits for a batch of its kind.
type entry interface {
	kind() any
	tenant() payment.Tenant
	cost() int64
	// writeAll writes a batch. All entries are of its kind.
	writeAll(all []entry) error
}

// batches writes the batches of one kind.
type batches[Q, A any] struct {
	*batchQueue
	// weigh returns the tenant of an item, and the bytes of its data in rows.
	weigh func(Q) (tenant payment.Tenant, bytes int)
	// write writes a batch. An entry without a result was not written. After an error the outcome is
	// unknown.
	write func(ctx context.Context, now time.Time, all []Q) ([]result[A], error)
}

func newBatches[Q, A any](
	q *batchQueue, weigh func(Q) (payment.Tenant, int), write func(context.Context, time.Time, []Q) ([]result[A], error),
) *batches[Q, A] {
	return &batches[Q, A]{q, weigh, write}
}

// result is the result of an entry.
type result[A any] struct {
	value A
	done  bool
}

// caller is an entry with an item of one kind.
type caller[Q, A any] struct {
	batches *batches[Q, A]
	engine  *engine
	item    Q
	of      payment.Tenant
	bytes   int
	at      time.Time
	result  result[A]
}

// kind implements entry.
func (c *caller[Q, A]) kind() any { return c.batches }

// tenant implements entry.
func (c *caller[Q, A]) tenant() payment.Tenant { return c.of }

// cost implements entry.
func (c *caller[Q, A]) cost() int64 { return 1 + int64(max(0, c.bytes-smallBytes)/unitBytes) }

// writeAll implements entry.
func (c *caller[Q, A]) writeAll(all []entry) error {
	return c.batches.writeAll(c.engine, column(all, func(one entry) *caller[Q, A] { return one.(*caller[Q, A]) }))
}

var errTooLate = errors.Join(store.ErrUnavailable, errors.New("store: earlier batches took too long"))

// do writes a payment in a batch. Returns errTooLate if no batch takes it within half of the
// engine's patience.
func (b *batches[Q, A]) do(ctx context.Context, e *engine, item Q) (out A, done bool, err error) {
	if err := ctx.Err(); err != nil || e.test.Alone {
		return out, false, err
	}
	ended, err := e.begin()
	if err != nil {
		return out, false, err
	}
	defer ended()
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), e.patience/2, errTooLate)
	defer cancel()
	c := &caller[Q, A]{batches: b, engine: e, item: item, at: e.clock.Now()}
	c.of, c.bytes = b.weigh(item)
	err = b.queue.Do(ctx, c)
	return c.result.value, c.result.done, err
}

// writeAll writes a batch. The entry that has waited longest has its result within the engine's
// patience.
func (b *batches[Q, A]) writeAll(e *engine, all []*caller[Q, A]) error {
	start := e.clock.Now()
	waited, now := time.Duration(0), start // the clock may have been set back
	for _, c := range all {
		waited = max(waited, start.Sub(c.at))
		if c.at.After(now) {
			now = c.at
		}
	}
	items := column(all, func(c *caller[Q, A]) Q { return c.item })
	ctx, cancel := context.WithTimeout(context.Background(), e.patience-min(waited, e.patience/2))
	results, err := b.written(ctx, now.UTC().Truncate(time.Millisecond), items)
	cancel()
	if undone(err) {
		if rolledBack(err) {
			e.stats.retried(err)
		}
		results, err = make([]result[A], len(all)), nil
	}
	if err != nil {
		err = explain(err)
		e.stats.failed(err, len(all))
		e.db.Failed(err)
	} else {
		e.turns.Succeeded()
		e.db.Committed(start)
		for i, c := range all {
			c.result = results[i]
		}
	}
	if observe := e.observe.Load(); observe != nil {
		(*observe)(store.Batch{Commands: len(all), Waited: waited, Took: e.clock.Now().Sub(start)})
	}
	return err
}

// written calls write. A panic becomes an error: it is unknown whether the batch is committed.
func (b *batches[Q, A]) written(ctx context.Context, now time.Time, all []Q) (results []result[A], err error) {
	defer recoverPanic(&err)
	return b.write(ctx, now, all)
}

// recoverPanic is deferred. It turns a panic into an error with the type of the value and the
// stack, without the value: that may hold card data.
func recoverPanic(err *error) {
	if r := recover(); r != nil {
		*err = asFault(fmt.Errorf("a batch's write panicked with a %T\n%s", r, debug.Stack()))
	}
}

// undone reports whether the server rolled back a batch, and still runs. Then each entry may be
// written alone.
func undone(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.SeverityUnlocalized == "ERROR" &&
		(e.Code == batchRefused || e.Code == lockNotAvailable || rolledBack(err) || !unavailable(err))
}

// inOneTransaction runs statements as one transaction in one round trip, and calls scan for each
// row of the last one. The round trip includes the commit, so it is never cancelled: see commit.go.
func inOneTransaction(
	ctx context.Context, pool *pgxpool.Pool, scan func(pgx.Rows) error, statements ...*pgx.QueuedQuery,
) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return asFault(err)
	}
	return asFault(runUncancelled(ctx, conn, func(ctx context.Context) error {
		return send(ctx, conn.Conn(), scan, statements)
	}, conn.Release))
}

func send(ctx context.Context, conn *pgx.Conn, scan func(pgx.Rows) error, statements []*pgx.QueuedQuery) (err error) {
	defer recoverPanic(&err) // it runs in a separate goroutine, where a panic would end the process
	results := conn.SendBatch(ctx, &pgx.Batch{QueuedQueries: statements})
	for range len(statements) - 1 {
		if _, err = results.Exec(); err != nil {
			break
		}
	}
	if err == nil {
		err = readAll(results, scan)
	}
	if closed := results.Close(); err == nil {
		err = closed // the result of the commit
	}
	if demoted(err) {
		_ = conn.Close(ctx) // the next connection is to a server that accepts writes
	}
	return err
}

func readAll(results pgx.BatchResults, scan func(pgx.Rows) error) error {
	rows, err := results.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// column returns one value of each element.
func column[Q, V any](all []Q, of func(Q) V) []V {
	out := make([]V, len(all))
	for i, q := range all {
		out[i] = of(q)
	}
	return out
}
