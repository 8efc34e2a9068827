package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/postgres/internal/hook"
	"github.com/causeway-pay/causeway/shared/batch"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/pgurl"
	"github.com/causeway-pay/causeway/shared/turns"
)

const (
	// maxQueue bounds the commands that run or wait.
	maxQueue = 4096
	// defaultPatience is how long a command or a read may take, from the wait for a connection to its
	// end. The URL can set another time: patience=5s. After that the client gets 503, within two
	// seconds.
	defaultPatience = 1800 * time.Millisecond
	// attempts is how often a command runs at most. It runs again if other commands caused its
	// rollback.
	attempts = 8
	// writers bounds the connections of one process for commands of clients, and backgroundWriters
	// those for commands of background work.
	writers, backgroundWriters = 16, 4
	// members bounds the connections for heartbeats. One of them may wait for a commit whose caller
	// has given up.
	members = 2
)

// errStuck is the error of a command that waited for its turn while no command was committed. The
// server is the reason, and not the number of the tenant's commands.
var errStuck = errors.Join(store.ErrUnavailable, errors.New("store: no command was committed meanwhile"))

// turnBounds are the bounds of the commands of clients on a number of connections. A quarter of the
// connections is for tenants of which no command runs, and for one end of a step of each tenant.
// The other commands wait for their turn without a connection. They wait for half of the patience,
// so that each has time to run.
func turnBounds(connections int, patience time.Duration) turns.Bounds[store.Caller] {
	return turns.Bounds[store.Caller]{
		Slots: connections, Share: max(1, connections*3/4), Wait: patience / 2,
		Queue: 512, Queues: 768, // of the 1,024 requests that core serves at the same time
		TooMany: payment.ErrTooManyChanges, Busy: store.ErrBusy, Stuck: errStuck,
	}
}

// The parameters that connections set unless the URL sets them.
var (
	setting = map[string]string{
		"application_name": "causeway-core", "TimeZone": "UTC",
		// A process that hangs in the middle of a command must not hold its locks forever.
		"idle_in_transaction_session_timeout": "5000",
	}
	// writing and reading bound how long the server works for a process that has died. A COMMIT has no
	// bound: commit.go explains why.
	writing = map[string]string{"lock_timeout": "30000", "statement_timeout": "0"}
)

// engine is the connections of one process to a PostgreSQL database.
type engine struct {
	db    *store.DB
	clock clock.Clock
	write *pgxpool.Pool              // for commands of clients
	turns *turns.Turns[store.Caller] // of write
	// background is for commands of background work, for partitions, and for the locks of Hold.
	background *pgxpool.Pool
	member     *pgxpool.Pool // for heartbeats

	read  map[store.Purpose]*reads
	batch *pgxpool.Pool // the connections of batches
	sql   map[*store.Statement]string

	intents  *batches[*store.Intent, int64] // the results are claims
	outcomes *batches[*store.OutcomeRecord, struct{}]
	confirms batch.Queue[struct{}] // the calls of Confirm

	test hook.Options // zero outside of tests
	// patience is how long a command or a read may take.
	patience time.Duration
	waiting  atomic.Int64
	observe  atomic.Pointer[func(store.Batch)]
	stats    counters
	fences   fences
	unfit    atomic.Pointer[pgurl.UnfitError] // the error of the last Verify; nil if the settings are safe
	current  func() (string, error)           // the current source; nil if it cannot change

	mu     sync.RWMutex // guards closed against a command that begins
	closed bool
	begun  sync.WaitGroup
}

// Open opens a database, and migrates it if needed. source is a URL or a list of key=value pairs.
// If it has several hosts, Open uses the host that accepts writes. Several processes can open a
// database at the same time. Open returns an error if a newer build has migrated the schema.
func Open(ctx context.Context, source string, c clock.Clock) (*store.DB, error) {
	return OpenRotating(ctx, source, nil, c)
}

// OpenRotating is Open for a user and a password that can change: each new connection uses the
// source that current returns. A nil current makes it Open.
func OpenRotating(
	ctx context.Context, source string, current func() (string, error), c clock.Clock,
) (*store.DB, error) {
	return store.New(ctx, c, func(db *store.DB) (store.Engine, error) {
		texts, err := compile()
		if err != nil {
			return nil, err
		}
		e := &engine{
			db: db, clock: c, current: current, sql: texts, test: hook.From(ctx), fences: fences{turn: make(chan struct{}, 1)},
		}
		t := newBatchQueue()
		e.intents, e.outcomes = newBatches(t, weighIntent, e.writeIntents), newBatches(t, weighOutcome, e.writeOutcomes)
		e.confirms.Commit, e.confirms.Size = e.confirm, maxQueue
		err = e.openPools(ctx, source)
		if err == nil {
			err = e.preflight(ctx)
		}
		if err == nil {
			err = migrate(ctx, e.write)
		}
		if err == nil {
			err = keepPositions(ctx, e.write)
		}
		if err != nil {
			e.closePools()
			return nil, err
		}
		return e, nil
	})
}

// Shared implements store.Engine.
func (e *engine) Shared() bool { return true }

// Update implements store.Engine.
func (e *engine) Update(ctx context.Context, c *store.Command) error {
	pool, patience := e.write, e.patience
	turn := func() (func(), error) { t, err := e.turns.Take(ctx, c.Caller().Work()); return t.Done, err }
	switch {
	case c.Background():
		pool, turn = e.background, noTurn
	case c.Caller().Ends:
		patience *= 2 // it also waits longer for its turn
	}
	return e.update(ctx, pool, turn, patience, c.At(), func(s *session, now time.Time) (store.Outcome, error) {
		return c.Run(s, now)
	})
}

// command is a function that runs in a transaction, perhaps several times. now is in UTC and whole
// milliseconds.
type command func(s *session, now time.Time) (store.Outcome, error)

// noTurn is for commands that need no turn.
func noTurn() (done func(), err error) { return func() {}, nil }

// update waits for a command's turn, and runs it on a connection of a pool. It runs it again after
// a rollback that other commands caused. patience is for all of it. at is when the command was
// requested.
func (e *engine) update(
	ctx context.Context, pool *pgxpool.Pool, turn func() (done func(), err error), patience time.Duration,
	at time.Time, c command,
) error {
	ended, err := e.begin()
	if err != nil {
		return err
	}
	defer ended()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience) // the caller cannot cancel it
	defer cancel()
	done, err := turn()
	if err != nil {
		e.stats.failed(err, 1)
		e.db.Failed(err)
		return err
	}
	defer done()
	for attempt := 1; ; attempt++ {
		o, err := e.run(ctx, pool, at, c)
		if err == nil {
			if o.Delivers {
				e.db.Wake()
			}
			return nil
		}
		if (rolledBack(err) || errors.Is(err, store.ErrChanged)) && attempt < attempts {
			e.stats.retried(err)
			continue
		}
		err = explain(err)
		e.stats.failed(err, 1)
		e.db.Failed(err)
		return err
	}
}

// begin counts a command until ended is called. It returns ErrClosed if the engine is closing,
// ErrUnavailable if the server would lose the commit, and ErrBusy if too many commands run or wait.
func (e *engine) begin() (ended func(), err error) {
	if unfit := e.unfit.Load(); unfit != nil {
		return nil, fmt.Errorf("%w: %w", store.ErrUnavailable, unfit)
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	switch {
	case e.closed:
		return nil, store.ErrClosed
	case e.waiting.Add(1) > maxQueue:
		e.waiting.Add(-1)
		return nil, store.ErrBusy
	}
	e.begun.Add(1)
	return func() { e.waiting.Add(-1); e.begun.Done() }, nil
}

// run runs a command once, in a transaction.
func (e *engine) run(ctx context.Context, pool *pgxpool.Pool, at time.Time, c command) (o store.Outcome, err error) {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return o, fmt.Errorf("connect: %w", asFault(err))
	}
	release := conn.Release
	defer func() { release() }()
	start := e.clock.Now()
	now := start
	if at.After(now) {
		now = at
	}
	now = now.UTC().Truncate(time.Millisecond)
	e.rehearse(ctx, conn, now, c)
	tx, err := conn.BeginTx(ctx, writingTx)
	if err != nil {
		return o, fmt.Errorf("begin: %w", asFault(err))
	}
	s := &session{ctx: ctx, tx: tx, sql: e.sql}
	if o, err = c(s, now); err == nil {
		err = s.failed // a failure that the command ignored
	}
	if err != nil {
		return o, e.rollBack(ctx, conn, tx, err)
	}
	release = func() {} // commit releases the connection
	if err := commit(ctx, conn, tx, conn.Release); err != nil {
		return o, fmt.Errorf("commit: %w", err)
	}
	e.turns.Succeeded()
	if o.Wrote {
		e.db.Committed(start)
	}
	if observe := e.observe.Load(); observe != nil {
		(*observe)(store.Batch{Commands: 1, Waited: start.Sub(at), Took: e.clock.Now().Sub(start)})
	}
	return o, nil
}

// commands counts the commands of engines with hook.Options.Rehearse. All engines of a process
// share it: most tests run too few commands on one engine for an even sample.
var commands atomic.Int64

// rehearse runs a command and rolls it back if hook.Options.Rehearse selects it.
func (e *engine) rehearse(ctx context.Context, conn *pgxpool.Conn, now time.Time, c command) {
	if e.test.Rehearse == 0 || commands.Add(1)%int64(e.test.Rehearse) != 0 {
		return
	}
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
	if err != nil {
		return // the caller's transaction fails, too
	}
	_, _ = c(&session{ctx: ctx, tx: tx, sql: e.sql}, now)
	_ = tx.Rollback(ctx)
}

// rollBack rolls back a command that failed with err, and returns the reason of the failure.
func (e *engine) rollBack(ctx context.Context, conn *pgxpool.Conn, tx pgx.Tx, err error) error {
	if ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", errLate, err)
	}
	_ = tx.Rollback(ctx) // if it fails, the driver closes the connection, which rolls back, too
	if demoted(err) {
		_ = conn.Conn().Close(ctx) // the next connection is to a server that accepts writes
	}
	if outdated(err) {
		e.write.Reset() // the other connections have prepared outdated statements, too
		e.background.Reset()
		e.member.Reset()
	}
	return err
}

// Observe implements store.Engine.
func (e *engine) Observe(fn func(store.Batch)) { e.observe.Store(&fn) }

// Waiting implements store.Engine.
func (e *engine) Waiting() int { return int(e.waiting.Load()) }

// Close implements store.Engine.
func (e *engine) Close() error {
	e.mu.Lock()
	again := e.closed
	e.closed = true
	e.mu.Unlock()
	if !again {
		e.begun.Wait()
		e.closePools()
	}
	return nil
}
