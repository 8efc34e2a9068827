package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/pgurl"
)

const (
	// maxQueue bounds the commands that run or wait for a connection.
	maxQueue = 4096
	// defaultPatience is how long a command or a read may take, from the wait for a connection to its end, unless the URL says otherwise with
	// patience=5s. Clients hear that the store is unavailable then, and that within two seconds.
	defaultPatience = 1800 * time.Millisecond
	// attempts is how often a command is run that is taken back because of others.
	attempts = 8
	// writers and readers bound the connections of one process.
	writers, readers = 16, 8
)

// What connections set unless the URL says otherwise.
var (
	setting = map[string]string{
		"application_name": store.Writer, "TimeZone": "UTC",
		// A process that stands still in the middle of a command must not hold its locks for good.
		"idle_in_transaction_session_timeout": "5000",
	}
	// writing and reading bound what the server does for a process that is gone. A COMMIT has no bound: commit.go says why.
	writing = map[string]string{"lock_timeout": "30000", "statement_timeout": "0"}
	reading = map[string]string{"statement_timeout": "30000"}
)

// engine is PostgreSQL, as one of its processes sees it.
type engine struct {
	db    *store.DB
	clock clock.Clock
	write *pgxpool.Pool
	read  *pgxpool.Pool
	group *pgxpool.Pool // what groups are written on
	d     dialect

	openings *groups[*store.Opening, int64]
	closings *groups[*store.Closing, struct{}]

	// rehearse has every command run once more before, for nothing: a test then sees one that cannot be run again.
	rehearse bool
	// alone has no payment written together with others: a test then sees what commands make of it.
	alone bool
	// patience is how long a command or a read may take.
	patience time.Duration
	waiting  atomic.Int64
	observe  atomic.Pointer[func(store.Group)]
	pressure pressure
	unfit    atomic.Pointer[pgurl.UnfitError] // of the last Verify; nil if all was right
	again    func() (string, error)           // the source's present value; nil if it cannot change

	mu     sync.RWMutex // guards closed against a command that begins
	closed bool
	begun  sync.WaitGroup
}

// Open opens the database that a URL or a list of key=value names, and migrates it when needed; several processes may do so at once. Of several
// hosts the one is taken that can be written to. A schema written by a newer build is refused.
func Open(ctx context.Context, source string, c clock.Clock) (*store.DB, error) {
	return OpenRotating(ctx, source, nil, c)
}

// OpenRotating is Open where the user and the password may change: each new connection asks again what the source is now, unless again is nil.
func OpenRotating(ctx context.Context, source string, again func() (string, error), c clock.Clock) (*store.DB, error) {
	return store.New(ctx, c, func(db *store.DB) (store.Engine, error) {
		e := &engine{db: db, clock: c, again: again}
		t := new(turns)
		e.openings, e.closings = newGroups(t, e.writeOpenings), newGroups(t, e.writeClosings)
		err := e.openPools(ctx, source)
		if err == nil {
			err = e.preflight(ctx)
		}
		if err == nil {
			err = migrate(ctx, e.write)
		}
		if err == nil {
			err = place(ctx, e.write)
		}
		if err != nil {
			e.closePools()
			return nil, err
		}
		return e, nil
	})
}

func (e *engine) openPools(ctx context.Context, source string) (err error) {
	if e.write, err = e.open(ctx, source, writers, writing); err != nil {
		return err
	}
	if e.read, err = e.open(ctx, source, readers, reading); err != nil {
		return err
	}
	e.group, err = e.open(ctx, source, groupers, grouping)
	return err
}

// open opens connections whose statements the server bounds by some of its timeouts.
func (e *engine) open(ctx context.Context, source string, connections int32, bounds map[string]string) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(source)
	if err != nil {
		return nil, errors.New("store: the URL of the database cannot be read: postgres://user:password@host:port/database") // the text holds a password
	}
	if !strings.Contains(source, "pool_max_conns") {
		cfg.MaxConns = connections
	}
	conn := cfg.ConnConfig
	if !strings.Contains(source, "target_session_attrs") {
		conn.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	conn.OnNotice = heed
	e.patience = defaultPatience
	if own, given := conn.RuntimeParams["patience"]; given {
		if e.patience, err = time.ParseDuration(own); err != nil || e.patience <= 0 {
			return nil, errors.New("store: the patience in the URL of the database is no time: patience=5s")
		}
	}
	e.rehearse = conn.RuntimeParams["rehearse"] == "true"
	e.alone = conn.RuntimeParams["alone"] == "true"
	for _, own := range []string{"patience", "rehearse", "alone"} {
		delete(conn.RuntimeParams, own)
	}
	conn.DialFunc = lined(conn.DialFunc)
	cfg.AfterConnect = pgurl.Durable(lost)
	if e.again != nil {
		cfg.BeforeConnect = pgurl.Rotating(e.again)
	}
	if name := conn.RuntimeParams["application_name"]; name != "" && !strings.HasPrefix(name, store.Writer) {
		conn.RuntimeParams["application_name"] = store.Writer + " " + name // lists of events know writers by it
	}
	if conn.ConnectTimeout == 0 || conn.ConnectTimeout > e.patience {
		conn.ConnectTimeout = e.patience * 5 / 9 // a second host is tried in what is left
	}
	for _, given := range []map[string]string{setting, bounds} {
		for name, value := range given {
			if _, given := conn.RuntimeParams[name]; !given {
				conn.RuntimeParams[name] = value
			}
		}
	}
	conn.RuntimeParams["client_encoding"] = "UTF8" // whatever the URL, the role or the environment say
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("store: %w", explain(err))
	}
	return pool, nil
}

// Update implements store.Engine.
func (e *engine) Update(ctx context.Context, c *store.Command) error {
	if err := e.begin(); err != nil {
		return err
	}
	defer e.begun.Done()
	if e.waiting.Add(1) > maxQueue {
		e.waiting.Add(-1)
		return store.ErrBusy
	}
	defer e.waiting.Add(-1)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.patience) // a command that has begun ends by itself
	defer cancel()
	for attempt := 1; ; attempt++ {
		o, err := e.run(ctx, c)
		if err == nil {
			if o.Delivers {
				e.db.Wake()
			}
			return nil
		}
		if (takenBack(err) || errors.Is(err, store.ErrChanged)) && attempt < attempts {
			e.pressure.again(err)
			continue
		}
		err = explain(err)
		e.pressure.failed(err)
		e.db.Failed(err)
		return err
	}
}

// begin counts a command that begins. It returns ErrClosed if the engine is closing, and
// ErrUnavailable if the server would lose the commit.
func (e *engine) begin() error {
	if unfit := e.unfit.Load(); unfit != nil {
		return fmt.Errorf("%w: %w", store.ErrUnavailable, unfit)
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.closed {
		return store.ErrClosed
	}
	e.begun.Add(1)
	return nil
}

// run runs the command in a transaction of its own.
func (e *engine) run(ctx context.Context, c *store.Command) (store.Outcome, error) {
	var o store.Outcome
	conn, err := e.write.Acquire(ctx)
	if err != nil {
		return o, fmt.Errorf("connect: %w", came(err))
	}
	release := conn.Release
	defer func() { release() }()
	start := e.clock.Now()
	now := start
	if at := c.At(); at.After(now) {
		now = at
	}
	if e.rehearse {
		if tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}); err == nil {
			_, _ = c.Run(&session{ctx: ctx, tx: tx, d: &e.d}, now.UTC().Truncate(time.Millisecond))
			_ = tx.Rollback(ctx) // all of it, whatever came of it
		}
	}
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
	if err != nil {
		return o, fmt.Errorf("begin: %w", came(err))
	}
	s := &session{ctx: ctx, tx: tx, d: &e.d}
	if o, err = c.Run(s, now.UTC().Truncate(time.Millisecond)); err == nil {
		err = s.failed // which the command kept to itself
	}
	if err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("%w: %w", errLate, err)
		}
		_ = tx.Rollback(ctx) // a connection that cannot is closed, which is one too
		if demoted(err) {
			_ = conn.Conn().Close(ctx) // the next one goes to whoever can be written to
		}
		if outdated(err) {
			e.write.Reset() // what the others have prepared is too
		}
		return o, err
	}
	release = func() {} // commit's
	if err := commit(ctx, conn, tx, conn.Release); err != nil {
		return o, fmt.Errorf("commit: %w", err)
	}
	if o.Wrote {
		e.db.Committed(start)
	}
	if observe := e.observe.Load(); observe != nil {
		(*observe)(store.Group{Commands: 1, Waited: start.Sub(c.At()), Took: e.clock.Now().Sub(start)})
	}
	return o, nil
}

// Prepare implements store.Engine. Connections prepare what they run by themselves.
func (e *engine) Prepare(_ context.Context, text string) (store.Statement, error) {
	return query{e, text}, nil
}

// Observe implements store.Engine.
func (e *engine) Observe(fn func(store.Group)) { e.observe.Store(&fn) }

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

func (e *engine) closePools() {
	for _, pool := range []*pgxpool.Pool{e.group, e.read, e.write} {
		if pool != nil {
			pool.Close()
		}
	}
}
