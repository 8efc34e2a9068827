package store

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store/pass"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/telemetry"
	"github.com/causeway-pay/causeway/shared/turns"
)

// Errors of reads and writes.
var (
	// ErrDuplicate: a row with this id exists. Draw another id and try again.
	ErrDuplicate = errors.New("store: duplicate")
	// ErrConflict: the row was not in the state that the change needs. Nothing was changed.
	ErrConflict = errors.New("store: conflict")
	// ErrBusy: too many commands wait for the writer.
	ErrBusy = errors.New("store: busy")
	// ErrUnavailable: the database cannot be reached, or accepts no writes at the moment. The
	// change was not made, or its outcome is unknown.
	ErrUnavailable = errors.New("store: unavailable")
	// ErrStalled: the database was reached, but the command did not end within its time, or locks of
	// other commands prevented that. An error that wraps it also wraps ErrUnavailable. Nothing was
	// changed.
	ErrStalled = errors.New("store: the command did not end in time")
	// ErrChanged: another command changed a row on which this command based a decision. If a
	// command returns it, Update runs the command again.
	ErrChanged = errors.New("store: changed meanwhile")
	// ErrAttempt: an attempt at the step has no result yet.
	ErrAttempt = errors.New("store: an attempt at the step has no result yet")
	// ErrClosed: the store is closing.
	ErrClosed = errors.New("store: closed")
)

var selectHighestID = declare("selectHighestID")

// DB is the open store.
type DB struct {
	clock       clock.Clock
	guard       *clock.Guard     // of clock
	kept        clock.GuardState // the guard's state as it is stored, zero for none
	raised      time.Duration    // the step of this process that is stored
	tokens      tokenClock       // the latest time at which a usable token was made
	dateAhead   atomic.Int64     // how far Date is ahead of the server's time, as a time.Duration
	engine      Engine
	shared      bool // Engine.Shared
	health      health
	endpoints   *endpointCache
	ids         *id.Generator
	due         chan struct{} // deliveries were committed
	lists       *turns.Turns[payment.Tenant]
	reads       map[Purpose]*turns.Turns[Caller] // of ByID and Essential
	unknownKeys *turns.Turns[netip.Prefix]       // of the reads of unknown API keys, by network
	slow        slowLists
	instance    int64                   // a number that no other process on this store has
	process     int64                   // the id of this process, stored with its work; 0 if no other can do that work
	trusts      func(at time.Time) bool // whether an idempotency key may be claimed by a time; nil for always

	tracer  *telemetry.Tracer // nil for no spans
	origins *origins          // nil without a tracer

	skips func(context.Context, pass.Skip) // nil for no observer
}

// New returns a store on the engine that open makes. If the clock is more than an hour ahead of the
// stored confirmed time, the store does not trust it immediately.
func New(ctx context.Context, c clock.Clock, open func(*DB) (Engine, error)) (*DB, error) {
	db := &DB{clock: c, guard: clock.NewGuard(c), ids: id.NewGenerator(c), due: make(chan struct{}, 1)}
	var err error
	if db.engine, err = open(db); err != nil {
		return nil, err
	}
	db.lists = turns.New(listBounds(db.engine.Readers(Listing)))
	db.reads = map[Purpose]*turns.Turns[Caller]{}
	for _, p := range []Purpose{ByID, Essential} {
		db.reads[p] = turns.New(readBounds(db.engine.Readers(p)))
	}
	db.unknownKeys = turns.New(unknownKeyBounds(db.engine.Readers(Essential)))
	db.shared = db.engine.Shared()
	db.instance = db.ids.Next()
	db.endpoints = newEndpointCache(!db.shared)
	err = db.resume(ctx)
	if err == nil {
		err = db.passIDs(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// IDs returns the generator of the ids of this store's rows.
func (db *DB) IDs() *id.Generator { return db.ids }

// passIDs makes new ids higher than the stored ones, if only this process writes to the store.
// Lists are in the order of ids there, and the clock may have been set back while the store was
// closed. It ignores ids further ahead than clockStep, which a wrong clock has drawn.
func (db *DB) passIDs(ctx context.Context) error {
	if db.shared {
		return nil
	}
	highest, err := scanNumber(db.row(ctx, selectHighestID, id.At(db.clock.Now().Add(clockStep))))
	if err != nil {
		return fmt.Errorf("read the highest id: %w", err)
	}
	db.ids.Pass(highest)
	return nil
}

// Update runs fn as one command and returns once its commit is durable. fn writes through tx only,
// must not block, and has no effect if it returns an error or panics. It may run again from its
// beginning if the engine rolled it back because of other commands. Once fn has begun, the end of
// ctx does not cancel Update: the commit may be under way, and its outcome must be known.
func (db *DB) Update(ctx context.Context, fn func(tx *Tx) error) error {
	return db.update(ctx, db.Command(ctx, Caller{}, fn))
}

// UpdateOf is Update for a request of a client. Callers take turns. It returns
// payment.ErrTooManyChanges if too many commands of the caller wait, or the caller's turn does not
// come in time because of them. It returns ErrUnavailable if no command was committed meanwhile.
// Nothing was changed then.
func (db *DB) UpdateOf(ctx context.Context, c Caller, fn func(tx *Tx) error) error {
	return db.update(ctx, db.Command(ctx, c, fn))
}

// Finish is UpdateOf for the end of a step, which the acquirer may have carried out. It goes before
// the tenant's other commands and waits longer. It is not refused for their number, and commits
// although ctx has ended. While they have all their turns, one end of the tenant can run.
func (db *DB) Finish(ctx context.Context, tenant payment.Tenant, fn func(tx *Tx) error) error {
	return db.UpdateOf(context.WithoutCancel(ctx), Caller{Tenant: tenant, Ends: true}, fn)
}

func (db *DB) update(ctx context.Context, c *Command) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("update: %w", err)
	}
	_, span := db.tracer.Step(ctx, "store commit")
	defer span.End()
	err := db.engine.Update(ctx, c)
	failBusy(span, err)
	return err
}

// Command returns the command of a caller that runs fn, for an engine to run.
func (db *DB) Command(ctx context.Context, c Caller, fn func(tx *Tx) error) *Command {
	background, _ := ctx.Value(inBackground{}).(bool)
	return &Command{
		fn: fn, at: db.clock.Now(), from: db.tracer.OriginOf(ctx), db: db, background: background, caller: c,
	}
}

// Close waits for the accepted commands, then closes. It is safe to call twice.
func (db *DB) Close() error { return db.engine.Close() }

// Observe calls fn after each commit from now on. fn must not block. A panic of fn does not affect
// the commit, and goes to failed, which may be nil.
func (db *DB) Observe(fn func(Batch), failed func(error)) {
	db.engine.Observe(func(b Batch) {
		defer func() {
			if r := recover(); r != nil && failed != nil {
				failed(fmt.Errorf("store: observer panicked with a %T\n%s", r, debug.Stack()))
			}
		}()
		fn(b)
	})
}

// Waiting returns how many commands wait or run.
func (db *DB) Waiting() int { return db.engine.Waiting() }

// Stats returns the counters of a store on a server, or the size of the log of one in a folder.
func (db *DB) Stats() Stats { return db.engine.Stats() }

// LowWaterMark is Engine.LowWaterMark.
func (db *DB) LowWaterMark(ctx context.Context) (oldest, next int64, err error) {
	return db.engine.LowWaterMark(ctx)
}

// Hold is Engine.Hold.
func (db *DB) Hold(ctx context.Context, thing string) (release func() error, err error) {
	return db.engine.Hold(ctx, thing)
}

// Wake wakes the deliverer, because deliveries were committed. An engine calls it.
func (db *DB) Wake() {
	select {
	case db.due <- struct{}{}:
	default: // the deliverer was woken already
	}
}

// Committed records a commit that has written rows and began at a time. An engine calls it.
func (db *DB) Committed(at time.Time) { db.health.wrote(at) }

// Failed records the error of a commit or command. An engine calls it.
func (db *DB) Failed(err error) { db.health.noteFailure(err) }

// RolledBack removes from the cache the endpoints of the tenants whose endpoints commands of this
// batch have changed. An engine that is not shared calls it if it rolls back any of them.
func (db *DB) RolledBack() { db.endpoints.rolledBack() }

// BatchEnded ends a batch, which was committed or rolled back. An engine that is not shared calls
// it.
func (db *DB) BatchEnded() { db.endpoints.batchEnded() }

// toMillis and fromMillis convert times to and from their stored form, milliseconds since 1970. The
// zero time is stored as 0.
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
