package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"

	"github.com/causeway-pay/causeway/shared/clock"
)

// Bounds of the write queue and of one group.
const (
	maxQueue = 4096
	maxGroup = 256
)

// sqliteEngine is one file, with one writer that commits what waits as a group, and readers beside it.
type sqliteEngine struct {
	write *sql.DB
	read  *sql.DB
	queue chan *Command // waiting for a group

	// lead holds the writer while nobody writes. Whoever takes it out is the one writer until it is put back.
	lead chan *writer

	mu     sync.RWMutex // guards closed against a send on queue
	closed bool

	stmts     sync.Map   // SQL text → statement on the read pool
	preparing sync.Mutex // held while a statement is added to stmts
}

// Open opens the database file, creating and migrating it when needed. A file written by a newer build is refused. ErrDiskFull when there is no
// room for it.
func Open(ctx context.Context, path string, c clock.Clock) (*DB, error) {
	return open(ctx, path, "", c)
}

// open is Open for a file on a VFS of SQLite, "" for that of the system.
func open(ctx context.Context, path, vfs string, c clock.Clock) (*DB, error) {
	db, err := New(ctx, c, func(db *DB) (Engine, error) {
		db.targets = newTargetCache()
		return openEngine(ctx, path, vfs, db)
	})
	return db, Explain(err, path)
}

func openEngine(ctx context.Context, path, vfs string, db *DB) (*sqliteEngine, error) {
	write, read, err := openSQLite(ctx, path, vfs)
	if err != nil {
		return nil, err
	}
	e := &sqliteEngine{write: write, read: read, queue: make(chan *Command, maxQueue), lead: make(chan *writer, 1)}
	if err := migrate(ctx, write); err != nil {
		return nil, errors.Join(err, e.closePools())
	}
	if err := dropUsedCodes(ctx, write); err != nil {
		return nil, errors.Join(err, e.closePools())
	}
	conn, err := write.Conn(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("take the writing connection: %w", err), e.closePools())
	}
	e.lead <- newWriter(conn, db)
	return e, nil
}

// Verify implements Engine: each connection was verified when it was made, and no other program
// changes its settings.
func (e *sqliteEngine) Verify(context.Context) error { return nil }

// Scrub implements scrubber. What the codes' file has deleted stays in its log until that is cut
// off.
func (e *sqliteEngine) Scrub(ctx context.Context) error {
	var w *writer
	select {
	case w = <-e.lead:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { e.lead <- w }()
	var busy, logged, moved int
	if err := w.conn.QueryRowContext(ctx, "PRAGMA codes.wal_checkpoint(TRUNCATE)").Scan(&busy, &logged, &moved); err != nil {
		return fmt.Errorf("scrub %s: %w", codesFile, err)
	}
	if busy != 0 {
		return fmt.Errorf("scrub %s: %w", codesFile, ErrBusy)
	}
	return nil
}

// Confirm implements Engine: what can be read is durable.
func (e *sqliteEngine) Confirm(context.Context) error { return nil }

// Update runs the command in a savepoint of the next group commit and returns once that is durable.
//
// The caller that finds the writer free writes the next group itself, its own command and those behind it; the others wait. So a
// lone caller pays for no hand-over, and many share one fsync.
func (e *sqliteEngine) Update(_ context.Context, c *Command) error {
	c.done = make(chan error, 1)
	if err := e.enqueue(c); err != nil {
		return err
	}
	for {
		select {
		case err := <-c.done:
			return err
		case w := <-e.lead:
			e.leadGroup(w, len(c.done) > 0)
		}
	}
}

// leadGroup writes the next group, unless the last one took the caller's command, and hands the
// leadership to a caller whose command still waits. After a panic it hands it on too, with the
// group's transaction rolled back.
func (e *sqliteEngine) leadGroup(w *writer, taken bool) {
	ended := false
	defer func() {
		if !ended {
			_ = w.exec("ROLLBACK") // fails if no transaction is open
		}
		e.lead <- w
	}()
	if !taken {
		w.commitGroup(e.queue)
	}
	ended = true
}

func (e *sqliteEngine) enqueue(c *Command) error {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.closed {
		return ErrClosed
	}
	select {
	case e.queue <- c:
		return nil
	default:
		return ErrBusy
	}
}

// Close waits for the queued commands to commit, then closes. It is safe to call twice.
func (e *sqliteEngine) Close() error {
	e.mu.Lock()
	again := e.closed
	e.closed = true
	e.mu.Unlock()
	if again {
		return nil
	}
	w := <-e.lead // and keep it: nobody writes any more
	for len(e.queue) > 0 {
		w.commitGroup(e.queue)
	}
	// Statements before connections, readers before the writer: only then is the writer's the last connection to go, on which SQLite
	// empties the write-ahead log.
	errs := []error{}
	e.stmts.Range(func(_, s any) bool {
		errs = append(errs, s.(statement).prepared.Close())
		return true
	})
	errs = append(errs, e.read.Close(), w.close(), e.write.Close())
	return errors.Join(errs...)
}

func (e *sqliteEngine) closePools() error {
	return errors.Join(e.read.Close(), e.write.Close())
}

// Observe implements Engine.
func (e *sqliteEngine) Observe(fn func(Group)) {
	w := <-e.lead
	w.observe = fn
	e.lead <- w
}

// Waiting implements Engine.
func (e *sqliteEngine) Waiting() int { return len(e.queue) }

// Prepare returns the prepared statement of a read.
func (e *sqliteEngine) Prepare(ctx context.Context, text string) (Statement, error) {
	if s, ok := e.stmts.Load(text); ok {
		return s.(statement), nil
	}
	e.preparing.Lock()
	defer e.preparing.Unlock()
	if s, ok := e.stmts.Load(text); ok {
		return s.(statement), nil
	}
	prepared, err := e.read.PrepareContext(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("prepare: %w", err)
	}
	s := statement{prepared}
	e.stmts.Store(text, s)
	return s, nil
}
