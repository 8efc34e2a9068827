package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/core/internal/store"
)

const (
	// maxLog is the size in bytes above which the write-ahead log is emptied. Without long reads that
	// overlap, SQLite writes the log from its beginning again much earlier: see walPages.
	maxLog = 64 << 20
	// longGrace is how long the running long reads have to end before they are interrupted.
	longGrace = 500 * time.Millisecond
	// truncatePatience is how long the writer waits for the reads that still use a log to empty it.
	truncatePatience = 50 * time.Millisecond
	// truncateAttempts is how often the writer tries to empty the log, between batches. On a busy
	// machine reads by id can take longer than truncatePatience. Quick lists that overlap leave no
	// moment without a read, so they are held back as well after freeAttempts of these.
	truncateAttempts, freeAttempts = 5, 3
)

// errHeldBack is the error of a read that waited too long for the log to be emptied.
var errHeldBack = fmt.Errorf("%w: lists and background work wait until the write-ahead log is emptied", store.ErrBusy)

// writeAheadLog is the log of the database file. SQLite can write it from its beginning again only
// at a moment at which no read uses it. Long reads that overlap leave no such moment. So above a
// size the next ones wait until the running ones have ended and the writer has emptied the log. A
// read that does not end soon is interrupted, and runs again after that.
type writeAheadLog struct {
	path     string
	most     int64          // maxLog
	next     int64          // the size above which the log is emptied next; the holder of the writer uses it
	long     *reads         // of lists and background work, except quick lists
	quick    *reads         // of quick lists
	closing  chan struct{}  // closed when the store closes
	emptying sync.WaitGroup // of the goroutine that empties the log
}

// openLog returns the log of the database file of the writing connection.
func openLog(ctx context.Context, write *sql.DB) (*writeAheadLog, error) {
	var file string // with symbolic links resolved
	err := write.QueryRowContext(ctx, "SELECT file FROM pragma_database_list WHERE name = 'main'").Scan(&file)
	if err != nil {
		return nil, fmt.Errorf("find the write-ahead log: %w", explained(err))
	}
	longest, _ := store.Background.Time(ctx)
	closing := make(chan struct{})
	held := func(grace time.Duration) *reads {
		return &reads{wait: longest, grace: grace, longest: longest, closing: closing, running: map[*heldRun]struct{}{}}
	}
	return &writeAheadLog{
		path: file + "-wal", most: maxLog, next: maxLog, long: held(longGrace), quick: held(0), closing: closing,
	}, nil
}

// readsOf returns the reads to which a read of a purpose belongs. Nil for a read by id.
func (l *writeAheadLog) readsOf(ctx context.Context, p store.Purpose) *reads {
	d, limited := p.Time(ctx)
	if !limited {
		return nil
	}
	if whole, _ := p.Time(store.WholeTime(ctx)); d < whole {
		return l.quick
	}
	return l.long
}

// size returns the size of the log in bytes, 0 if there is none.
func (l *writeAheadLog) size() int64 {
	info, err := os.Stat(l.path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// boundLog starts to empty the log if it is too large. The holder of the writer calls it after each
// batch. While a read of another process, such as a backup, keeps the log from being emptied, the
// next attempt is at twice the size. So lists do not wait repeatedly without effect.
func (e *engine) boundLog() {
	l := e.log
	size := l.size()
	if size <= l.most {
		l.next = l.most
	}
	if size <= l.next {
		return
	}
	if ended := l.long.hold(); ended != nil {
		l.next = 2 * size
		l.emptying.Go(func() { e.emptyLog(ended) })
	}
}

// emptyLog empties the log after the running long reads have ended, and lets the next ones begin.
func (e *engine) emptyLog(ended <-chan struct{}) {
	l := e.log
	defer l.long.release()
	if !l.long.await(ended) {
		return
	}
	// The writer commits while most of the pages are moved to the database file. It moves the rest,
	// and reports a failure.
	_, _ = e.read[store.Background].ExecContext(context.Background(), "PRAGMA main.wal_checkpoint(PASSIVE)")
	if e.tryEmptying(freeAttempts) {
		return
	}
	ended = l.quick.hold()
	defer l.quick.release()
	if l.quick.await(ended) {
		e.tryEmptying(truncateAttempts - freeAttempts)
	}
}

// tryEmptying tries to empty the log a number of times. It returns false if reads prevented that.
func (e *engine) tryEmptying(attempts int) (over bool) {
	ctx := context.Background()
	for range attempts {
		select {
		case w := <-e.writer:
			emptied, err := w.truncateLog(ctx, "main")
			e.writer <- w // to the next batch, if one waits
			e.db.Failed(err)
			if emptied || err != nil {
				return true
			}
		case <-e.log.closing:
			return true
		}
	}
	return false
}

// truncateLog moves all pages of the log of a schema to its file, and empties the log. It returns
// false if a read still uses the log after truncatePatience. Commands wait meanwhile.
func (w *writer) truncateLog(ctx context.Context, schema string) (emptied bool, err error) {
	var before int64 // in milliseconds
	if err := w.conn.QueryRowContext(ctx, "PRAGMA busy_timeout").Scan(&before); err != nil {
		return false, fmt.Errorf("read busy_timeout: %w", explained(err))
	}
	if err := w.setBusyTimeout(ctx, truncatePatience.Milliseconds()); err != nil {
		return false, err
	}
	var busy, logged, moved int
	err = w.conn.QueryRowContext(ctx, "PRAGMA "+schema+".wal_checkpoint(TRUNCATE)").Scan(&busy, &logged, &moved)
	if reset := w.setBusyTimeout(context.WithoutCancel(ctx), before); reset != nil {
		return false, reset
	}
	if err != nil {
		return false, fmt.Errorf("empty the write-ahead log of %s: %w", schema, explained(err))
	}
	return busy == 0, nil
}

// setBusyTimeout sets how long a statement of the writer waits for a lock. SQLite sets it when it
// prepares the text, so this prepares it each time.
func (w *writer) setBusyTimeout(ctx context.Context, milliseconds int64) error {
	if _, err := w.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", milliseconds)); err != nil {
		return fmt.Errorf("set busy_timeout: %w", explained(err))
	}
	return nil
}
