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

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/batch"
)

const (
	// groupMost bounds the payments of a batch. While a batch is under way the next one collects, because a
	// payment of a large batch costs less. A batch may wait for a lock. So a payment that has waited for
	// groupPause begins another batch, with at most groupsAtOnce under way.
	groupMost, groupsAtOnce = 128, 6
	groupPause              = 5 * time.Millisecond
	// groupers bounds the connections for batches of one process. Some are kept for a commit whose
	// callers no longer wait.
	groupers = 10
)

// grouping are the settings of connections that write batches. A batch must not wait for long for a lock
// that one member needs. Its statements are planned once: they find rows by their keys, whatever the
// sizes of the tables are. They join rows by hashes: nested loops would cost each member more in a
// larger batch.
var grouping = map[string]string{
	"lock_timeout": "100", "statement_timeout": "0", "plan_cache_mode": "force_generic_plan", "enable_seqscan": "off", "enable_mergejoin": "off", "enable_nestloop": "off", "jit": "off",
}

// turns is the queue of the batches of all kinds. They share it, so that payments of one kind collect
// while a batch of another kind is written.
type turns struct{ queue batch.Queue[member] }

// member is a payment that waits for a batch of its kind.
type member interface {
	kind() any
	// writeAll writes a batch. All members are of its kind.
	writeAll(all []member) error
}

// groups writes the batches of one kind.
type groups[Q, A any] struct {
	*turns
	// write writes a batch. A member without a result was not written. After an error the outcome is
	// unknown.
	write func(ctx context.Context, now time.Time, all []Q) ([]answer[A], error)
}

func newGroups[Q, A any](t *turns, write func(context.Context, time.Time, []Q) ([]answer[A], error)) *groups[Q, A] {
	t.queue.Commit = func(all []member) error { return all[0].writeAll(all) }
	t.queue.Kind = member.kind
	t.queue.Size, t.queue.Slots, t.queue.Slow = groupMost, groupsAtOnce, groupPause
	return &groups[Q, A]{t, write}
}

// answer is the result of a member.
type answer[A any] struct {
	is   A
	done bool
}

// caller is a member of a kind.
type caller[Q, A any] struct {
	group  *groups[Q, A]
	engine *engine
	asks   Q
	at     time.Time
	answer answer[A]
}

// kind implements member.
func (c *caller[Q, A]) kind() any { return c.group }

// writeAll implements member.
func (c *caller[Q, A]) writeAll(all []member) error {
	return c.group.writeAll(c.engine, column(all, func(m member) *caller[Q, A] { return m.(*caller[Q, A]) }))
}

var errTooLate = errors.Join(store.ErrUnavailable, errors.New("store: earlier batches took too long"))

// do writes a payment in a batch. Returns errTooLate if no batch takes it within half of the engine's
// patience.
func (g *groups[Q, A]) do(ctx context.Context, e *engine, asks Q) (out A, done bool, err error) {
	if err := ctx.Err(); err != nil || e.test.Alone {
		return out, false, err
	}
	if err := e.begin(); err != nil {
		return out, false, err
	}
	defer e.begun.Done()
	if e.waiting.Add(1) > maxQueue {
		e.waiting.Add(-1)
		return out, false, store.ErrBusy
	}
	defer e.waiting.Add(-1)
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), e.patience/2, errTooLate)
	defer cancel()
	c := &caller[Q, A]{group: g, engine: e, asks: asks, at: e.clock.Now()}
	err = g.queue.Do(ctx, c)
	return c.answer.is, c.answer.done, err
}

// writeAll writes a batch. The member that waited longest has its result within the engine's patience.
func (g *groups[Q, A]) writeAll(e *engine, all []*caller[Q, A]) error {
	start := e.clock.Now()
	waited := max(start.Sub(all[0].at), 0) // the clock may have been set back
	now := start
	for _, c := range all {
		if c.at.After(now) {
			now = c.at
		}
	}
	asks := column(all, func(c *caller[Q, A]) Q { return c.asks })
	ctx, cancel := context.WithTimeout(context.Background(), e.patience-min(waited, e.patience/2))
	answers, err := g.written(ctx, now.UTC().Truncate(time.Millisecond), asks)
	cancel()
	if undone(err) {
		answers, err = make([]answer[A], len(all)), nil
	}
	if err != nil {
		err = explain(err)
		e.db.Failed(err)
	} else {
		e.db.Committed(start)
		for i, c := range all {
			c.answer = answers[i]
		}
	}
	if observe := e.observe.Load(); observe != nil {
		(*observe)(store.Batch{Commands: len(all), Waited: waited, Took: e.clock.Now().Sub(start)})
	}
	return err
}

// written is write with a panic as an error, after which the outcome is unknown.
func (g *groups[Q, A]) written(ctx context.Context, now time.Time, all []Q) (answers []answer[A], err error) {
	defer caught(&err)
	return g.write(ctx, now, all)
}

// caught is deferred. It makes a panic an error with its type and stack: the value may hold card data.
func caught(err *error) {
	if r := recover(); r != nil {
		*err = came(fmt.Errorf("a batch's write panicked with a %T\n%s", r, debug.Stack()))
	}
}

// undone reports whether the server refused a batch and still runs. Then it wrote nothing of the batch,
// and each member may be written alone.
func undone(err error) bool {
	var said *pgconn.PgError
	return errors.As(err, &said) && said.SeverityUnlocalized == "ERROR" &&
		(said.Code == batchRefused || said.Code == lockNotAvailable || rolledBack(err) || !unavailable(err))
}

// ask runs statements as one transaction in one round trip, and reads the rows of the last one. The
// commit is part of that, so none of it is cancelled: see commit.go.
func ask(ctx context.Context, pool *pgxpool.Pool, scan func(pgx.Rows) error, statements ...*pgx.QueuedQuery) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return came(err)
	}
	return came(quietly(ctx, conn, func(ctx context.Context) error { return send(ctx, conn.Conn(), scan, statements) }, conn.Release))
}

func send(ctx context.Context, conn *pgx.Conn, scan func(pgx.Rows) error, statements []*pgx.QueuedQuery) (err error) {
	defer caught(&err) // this goroutine is its own
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

// column is one value of each member.
func column[Q, V any](all []Q, of func(Q) V) []V {
	out := make([]V, len(all))
	for i, q := range all {
		out[i] = of(q)
	}
	return out
}
