package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/telemetry"
)

// What reads and writes return besides values.
var (
	// ErrNotFound: no such row for this tenant.
	ErrNotFound = errors.New("store: not found")
	// ErrDuplicate: a row with this id exists; draw another and try again.
	ErrDuplicate = errors.New("store: duplicate")
	// ErrConflict: the row was not in the state the change needs, nothing was changed.
	ErrConflict = errors.New("store: conflict")
	// ErrBusy: too many commands wait for the writer.
	ErrBusy = errors.New("store: busy")
	// ErrClosed: the store is closing.
	ErrClosed = errors.New("store: closed")
)

// Bounds of the write queue and of one group.
const (
	maxQueue = 4096
	maxGroup = 256
)

// DB is the open store.
type DB struct {
	clock clock.Clock
	write *sql.DB
	read  *sql.DB
	queue chan *command // waiting for a group

	// lead holds the writer while nobody writes. Whoever takes it out is the one writer until it is put back.
	lead chan *writer

	due    chan struct{} // deliveries were committed
	health health

	tracer  *telemetry.Tracer // nil for no spans
	origins *origins          // nil without a tracer

	mu     sync.RWMutex // guards closed against a send on queue
	closed bool

	stmts     sync.Map   // SQL text → statement on the read pool
	preparing sync.Mutex // held while a statement is added to stmts
}

// command is one caller's change, waiting for its group's commit.
type command struct {
	fn   func(*Tx) error
	done chan error
	at   time.Time        // when it was queued
	from telemetry.Origin // the span it was queued in
}

// Open opens the database file, creating and migrating it when needed. A file written by a newer build is refused. ErrDiskFull when there is no
// room for it.
func Open(ctx context.Context, path string, c clock.Clock) (*DB, error) {
	db, err := open(ctx, path, c)
	return db, Explain(err, path)
}

func open(ctx context.Context, path string, c clock.Clock) (*DB, error) {
	write, read, kept, err := openSQLite(ctx, path)
	if err != nil {
		return nil, err
	}
	db := &DB{clock: c, write: write, read: read, queue: make(chan *command, maxQueue), lead: make(chan *writer, 1), due: make(chan struct{}, 1)}
	if err := migrate(ctx, write); err != nil {
		return nil, errors.Join(err, db.closePools())
	}
	conn, err := write.Conn(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("take the writing connection: %w", err), db.closePools())
	}
	db.lead <- newWriter(conn, newDirect(kept.last), c, db.due, &db.health)
	return db, nil
}

// Update runs fn in a savepoint of the next group commit and returns once that is durable. fn writes through tx only, must not block,
// and leaves nothing behind when it returns an error or panics. Update does not give up when ctx ends after fn was queued: by then
// the commit may be under way, and its outcome must be known.
//
// The caller that finds the writer free writes the next group itself, its own command and those behind it; the others wait. So a
// lone caller pays for no hand-over, and many share one fsync.
func (db *DB) Update(ctx context.Context, fn func(tx *Tx) error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("update: %w", err)
	}
	c := &command{fn: fn, done: make(chan error, 1), at: db.clock.Now(), from: db.tracer.OriginOf(ctx)}
	_, span := db.tracer.Step(ctx, "store commit")
	defer span.End()
	if err := db.enqueue(c); err != nil {
		span.Fail("store_busy")
		return err
	}
	for {
		select {
		case err := <-c.done:
			return err
		case w := <-db.lead:
			if len(c.done) == 0 { // else the last group took it
				w.commitGroup(db.queue)
			}
			db.lead <- w // wakes one of those whose command still waits
		}
	}
}

func (db *DB) enqueue(c *command) error {
	db.mu.RLock()
	defer db.mu.RUnlock()
	if db.closed {
		return ErrClosed
	}
	select {
	case db.queue <- c:
		return nil
	default:
		return ErrBusy
	}
}

// Close waits for the queued commands to commit, then closes. It is safe to call twice.
func (db *DB) Close() error {
	db.mu.Lock()
	again := db.closed
	db.closed = true
	db.mu.Unlock()
	if again {
		return nil
	}
	w := <-db.lead // and keep it: nobody writes any more
	for len(db.queue) > 0 {
		w.commitGroup(db.queue)
	}
	// Statements before connections, readers before the writer: only then is the writer's the last connection to go, on which SQLite
	// empties the write-ahead log.
	errs := []error{}
	db.stmts.Range(func(_, s any) bool {
		errs = append(errs, s.(statement).prepared.Close())
		return true
	})
	errs = append(errs, db.read.Close(), w.close(), db.write.Close())
	return errors.Join(errs...)
}

func (db *DB) closePools() error {
	return errors.Join(db.read.Close(), db.write.Close())
}

// Group is one group commit.
type Group struct {
	Commands int           // how many shared it
	Waited   time.Duration // how long the first of them had waited when it began
	Took     time.Duration // from its begin to its end
}

// Observe has fn told of every group commit from now on. fn must not block.
func (db *DB) Observe(fn func(Group)) {
	w := <-db.lead
	w.observe = fn
	db.lead <- w
}

// Waiting is how many commands wait for the writer.
func (db *DB) Waiting() int { return len(db.queue) }

// query returns the prepared statement of a read. The statements are few and live as long as the store.
func (db *DB) query(ctx context.Context, text string) (statement, error) {
	if s, ok := db.stmts.Load(text); ok {
		return s.(statement), nil
	}
	db.preparing.Lock()
	defer db.preparing.Unlock()
	if s, ok := db.stmts.Load(text); ok {
		return s.(statement), nil
	}
	prepared, err := db.read.PrepareContext(ctx, text)
	if err != nil {
		return statement{}, fmt.Errorf("prepare: %w", err)
	}
	s := statement{prepared}
	db.stmts.Store(text, s)
	return s, nil
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
