package store

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/telemetry"
)

// What reads and writes return besides values.
var (
	// ErrDuplicate: a row with this id exists; draw another and try again.
	ErrDuplicate = errors.New("store: duplicate")
	// ErrConflict: the row was not in the state the change needs, nothing was changed.
	ErrConflict = errors.New("store: conflict")
	// ErrBusy: too many commands wait for the writer.
	ErrBusy = errors.New("store: busy")
	// ErrUnavailable: the database cannot be reached, or takes nothing, just now. What was asked for was not done, or it is not known whether it was.
	ErrUnavailable = errors.New("store: unavailable")
	// ErrStalled: the database was reached, and this command did not end within its time, or because
	// of the locks of others. It comes with ErrUnavailable. Nothing was changed.
	ErrStalled = errors.New("store: the command did not end in time")
	// ErrChanged: what a command decided by was changed by others meanwhile. Returned by a command, it has Update run that again.
	ErrChanged = errors.New("store: changed meanwhile")
	// ErrAttempt: an attempt at the step has no result yet.
	ErrAttempt = errors.New("store: an attempt at the step has no result yet")
	// ErrClosed: the store is closing.
	ErrClosed = errors.New("store: closed")
)

// DB is the open store.
type DB struct {
	clock   clock.Clock
	guard   *clock.Guard     // of clock
	kept    clock.GuardState // the guard's state as it is stored, zero for none
	raised  time.Duration    // the step of this process that is stored
	tokens  tokenClock       // how the clock compares with the highest confirmed time, for tokens
	engine  Engine
	health  health
	targets *targetCache            // nil where others change endpoints too
	seen    seen                    // the endpoints as last read, where targets is nil
	ids     *id.Generator           // of deliveries, which only this process makes
	due     chan struct{}           // deliveries were committed
	shared  bool                    // other processes write at the same time
	process int64                   // this process's number, stored with the work that it begins; 0 if no other can do that work
	trusts  func(at time.Time) bool // whether an idempotency key may be claimed by a time; nil for always

	tracer  *telemetry.Tracer // nil for no spans
	origins *origins          // nil without a tracer

	skips func(context.Context, Skip) // nil for no observer
}

// New returns a store on an engine that opening makes of it: SQLite by Open, another by its own package.
// A clock that is more than an hour ahead of the confirmed time in the store is not believed at once.
func New(ctx context.Context, c clock.Clock, open func(*DB) (Engine, error)) (*DB, error) {
	db := &DB{clock: c, guard: clock.NewGuard(c), ids: id.NewGenerator(c), due: make(chan struct{}, 1)}
	var err error
	if db.engine, err = open(db); err != nil {
		return nil, err
	}
	_, db.shared = db.engine.(holder)
	if err := db.resume(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Update runs fn as one command and returns once that is durable. fn writes through tx only, must not block, and leaves nothing behind when it
// returns an error or panics. It may be run again from its beginning, where the engine took it back because of others. Update does not give up
// when ctx ends after fn was taken: by then the commit may be under way, and its outcome must be known.
func (db *DB) Update(ctx context.Context, fn func(tx *Tx) error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("update: %w", err)
	}
	c := &Command{fn: fn, at: db.clock.Now(), from: db.tracer.OriginOf(ctx), db: db}
	_, span := db.tracer.Step(ctx, "store commit")
	defer span.End()
	err := db.engine.Update(ctx, c)
	if errors.Is(err, ErrBusy) || errors.Is(err, ErrClosed) {
		span.Fail("store_busy")
	}
	return err
}

// Close waits for the commands that were taken, then closes. It is safe to call twice.
func (db *DB) Close() error { return db.engine.Close() }

// Group is one commit.
type Group struct {
	Commands int           // how many shared it
	Waited   time.Duration // how long the first of them had waited when it began
	Took     time.Duration // from its begin to its end
}

// Observe calls fn after each commit from now on. It must not block. A panic of fn changes nothing
// about the commit, and goes to failed, which may be nil.
func (db *DB) Observe(fn func(Group), failed func(error)) {
	db.engine.Observe(func(g Group) {
		defer func() {
			if r := recover(); r != nil && failed != nil {
				failed(fmt.Errorf("store: observer panicked with a %T\n%s", r, debug.Stack()))
			}
		}()
		fn(g)
	})
}

// Waiting is how many commands wait to be run.
func (db *DB) Waiting() int { return db.engine.Waiting() }

// Wake wakes the deliverer: deliveries were committed.
func (db *DB) Wake() {
	select {
	case db.due <- struct{}{}:
	default: // it was woken already
	}
}

// Committed notes a commit of something, begun at a time; Failed why a commit or command failed. PingWriter goes by both.
func (db *DB) Committed(at time.Time) { db.health.wrote(at) }

// Failed notes why a commit or command failed.
func (db *DB) Failed(err error) { db.health.noteFailure(err) }

// query returns the statement of a read.
func (db *DB) query(ctx context.Context, text string) (Statement, error) {
	return db.engine.Prepare(ctx, text)
}

// toMillis and fromMillis are the stored form of times; the zero time is 0.
func toMillis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
