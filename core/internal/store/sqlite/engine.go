package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/batch"
	"github.com/causeway-pay/causeway/shared/clock"
)

// Bounds of the write queue and of one batch.
const (
	maxQueue = 512 // commands of one caller that wait or run
	maxBatch = 256
	// batchTime is the cost after which a batch ends. Commands that it has not run by then wait for
	// their turns again, so it writes about 1 MB at most.
	batchTime = 20 * time.Millisecond
	// byteTime is the time that a commit takes for each byte that a command writes.
	byteTime = 20 * time.Nanosecond
	// mostTime is the most running time that a command costs its caller, in case the machine has
	// stalled.
	mostTime = 100 * time.Millisecond
)

// engine is one file, with one writer that commits commands in batches, and a pool of readers
// for each purpose.
type engine struct {
	db       *store.DB
	write    *sql.DB
	read     pools
	commands batch.Queue[*request]
	writer   chan *writer // holds the writer while nothing uses it
	closed   atomic.Bool
	log      *writeAheadLog

	sql map[*store.Statement]string
}

// request is a command in the queue.
type request struct {
	*store.Command
	took  time.Duration
	bytes int   // that it has written
	ended bool  // a transaction with the command was committed or rolled back
	err   error // the result
}

// caller returns the caller whose turns a command shares. All background work is one caller. The
// commands of a tenant that end a step do not wait for its other commands.
func (r *request) caller() any {
	if r.Background() {
		return nil
	}
	return r.Caller()
}

// cost returns the time of the command and of its bytes in the commit, and 0 if it has not run.
func (r *request) cost() int64 {
	if !r.ended {
		return 0
	}
	return max(1, int64(min(r.took, mostTime)+r.commitTime()))
}

// commitTime returns the time of the command's bytes in the commit.
func (r *request) commitTime() time.Duration { return time.Duration(r.bytes) * byteTime }

// limit returns how many commands of the caller may wait or run when this one comes. The acquirer
// may have carried out a step that the command ends, so it is never refused. Background work has
// few commands at a time, and a pass ends if one is refused.
func (r *request) limit() int {
	if r.Background() || r.Caller().Ends {
		return 0
	}
	return maxQueue
}

// later reports whether the command is not of live mode, which has twice as much time as others.
func (r *request) later() bool { return !r.Caller().Tenant.Live }

// Open opens a database file. It creates and migrates the file if needed. It returns an error if a
// newer build has migrated the file, and ErrDiskFull if the disk has no room.
func Open(ctx context.Context, path string, c clock.Clock) (*store.DB, error) {
	db, _, err := open(ctx, path, "", c)
	return db, err
}

// open is Open for a file on a VFS of SQLite. "" is the VFS of the system.
func open(ctx context.Context, path, vfs string, c clock.Clock) (db *store.DB, e *engine, err error) {
	db, err = store.New(ctx, c, func(db *store.DB) (store.Engine, error) {
		e, err = openEngine(ctx, path, vfs, db, c)
		return e, err
	})
	return db, e, Explain(err, path)
}

func openEngine(ctx context.Context, path, vfs string, db *store.DB, c clock.Clock) (*engine, error) {
	texts, err := compile()
	if err != nil {
		return nil, err
	}
	write, read, err := openPools(ctx, path, vfs)
	if err != nil {
		return nil, err
	}
	e := &engine{db: db, write: write, read: read, sql: texts, writer: make(chan *writer, 1)}
	e.commands.Commit, e.commands.Size, e.commands.Limit = e.commit, maxBatch, (*request).limit
	e.commands.Caller, e.commands.Later = (*request).caller, (*request).later
	e.commands.Cost, e.commands.Most = (*request).cost, int64(batchTime)
	if err := migrate(ctx, write); err != nil {
		return nil, errors.Join(err, e.closePools())
	}
	if err := dropUsedCodes(ctx, write); err != nil {
		return nil, errors.Join(err, e.closePools())
	}
	if e.log, err = openLog(ctx, write); err != nil {
		return nil, errors.Join(err, e.closePools())
	}
	conn, err := write.Conn(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("take the writing connection: %w", err), e.closePools())
	}
	e.writer <- newWriter(conn, texts, db, c)
	return e, nil
}

// Shared implements store.Engine: one process writes to the file.
func (e *engine) Shared() bool { return false }

// Verify implements store.Engine. It does nothing: the connector verified the settings of each
// connection, and no other program changes them.
func (e *engine) Verify(context.Context) error { return nil }

// Confirm implements store.Engine. It does nothing: every row that a read returns is durable.
func (e *engine) Confirm(context.Context) error { return nil }

// Update implements store.Engine. The command runs in a savepoint of a batch, at its caller's turn.
func (e *engine) Update(ctx context.Context, c *store.Command) error {
	r := &request{Command: c}
	err := e.commands.Do(ctx, r)
	switch {
	case errors.Is(err, batch.ErrFull):
		return payment.ErrTooManyChanges
	case errors.Is(err, batch.ErrClosed):
		return store.ErrClosed
	case r.ended:
		return r.err
	}
	return err // the batch could not begin, or panicked, or ctx has ended before it
}

// commit commits a batch. The result of each command that has run is in its request.
func (e *engine) commit(commands []*request) error {
	w := <-e.writer
	defer func() { e.writer <- w }()
	defer e.boundLog()
	return w.commitBatch(commands)
}

// Close implements store.Engine.
func (e *engine) Close() error {
	if e.closed.Swap(true) {
		return nil
	}
	e.commands.Close()
	close(e.log.closing)
	w := <-e.writer // never returned: no batch writes any more
	e.log.emptying.Wait()
	// The readers close first. SQLite empties the write-ahead log when the last connection closes, and
	// only the connection of the writer can do that.
	return errors.Join(e.read.Close(), w.close(), e.write.Close())
}

func (e *engine) closePools() error {
	return errors.Join(e.read.Close(), e.write.Close())
}

// Observe implements store.Engine.
func (e *engine) Observe(fn func(store.Batch)) {
	w := <-e.writer
	w.observe = fn
	e.writer <- w
}

// Waiting implements store.Engine.
func (e *engine) Waiting() int { return e.commands.Waiting() }

// Page implements store.Engine. Commands run one after the other, and generate the ids of their
// rows when they run. So the order of ids is the order of commits.
func (e *engine) Page(
	ctx context.Context, s *store.Statement, _ bool, begin func(), scan func(store.Scanner) error, args ...any,
) error {
	return e.Each(ctx, store.Listing, s, begin, scan, args...)
}

// LowWaterMark implements store.Engine: lists have all committed rows.
func (e *engine) LowWaterMark(context.Context) (oldest, next int64, err error) { return 0, 0, nil }

// Stats implements store.Engine: there is no server.
func (e *engine) Stats() store.Stats { return store.Stats{LogSize: e.log.size()} }

// MakePartitions implements store.Engine: the tables have no partitions.
func (e *engine) MakePartitions(context.Context, time.Time) error { return nil }

// DropPartitions implements store.Engine: the caller removes all rows one by one.
func (e *engine) DropPartitions(
	_ context.Context, _ string, now time.Time, keep time.Duration,
) (before time.Time, rows int64, err error) {
	return now.Add(-keep), 0, nil
}

// Heartbeat implements store.Engine: the one process leads.
func (e *engine) Heartbeat(
	_ context.Context, process int64, _ time.Duration, _ func(server store.ServerClock) bool,
) (leads bool, beats map[int64]int64, err error) {
	return true, map[int64]int64{process: 1}, nil
}

// Leave implements store.Engine: there is no other process.
func (e *engine) Leave(context.Context, int64) error { return nil }

// Forget implements store.Engine, like Leave.
func (e *engine) Forget(context.Context, int64) error { return nil }

// Hold implements store.Engine. It returns an error: a process locks files of the data folder
// instead.
func (e *engine) Hold(context.Context, string) (release func() error, err error) {
	return nil, errors.New("sqlite: a file holds no locks for processes: lock its folder")
}

// Scrub implements store.Engine. Deleted rows remain in the write-ahead log of codes.db until a
// checkpoint truncates it.
func (e *engine) Scrub(ctx context.Context) error {
	var w *writer
	select {
	case w = <-e.writer:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { e.writer <- w }()
	emptied, err := w.truncateLog(ctx, "codes")
	if err == nil && !emptied {
		err = store.ErrBusy
	}
	if err != nil {
		return fmt.Errorf("scrub %s: %w", codesFile, err)
	}
	return nil
}
