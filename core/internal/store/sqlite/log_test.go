package sqlite_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/sqlite"
)

const (
	mostLog  = 512 << 10        // the size above which the store of the tests empties the log
	rowBytes = 64 << 10         // bytes of a row that the tests write
	oneWrite = rowBytes * 3 / 2 // bytes of the log that one row takes at most
)

// setupLog opens a store whose log is emptied above mostLog. SQLite writes it from its beginning
// again long before that, unless reads prevent it.
func setupLog(t *testing.T) *bundle {
	t.Helper()
	b := setup(t)
	b.engine.BoundLog(mostLog, time.Hour)
	b.engine.WaitAtMost(time.Hour)
	if err := b.engine.Exec("PRAGMA wal_autocheckpoint = 32"); err != nil {
		t.Fatal(err)
	}
	return b
}

// log returns the size of the write-ahead log.
func (b *bundle) log(t *testing.T) int64 {
	t.Helper()
	info, err := os.Stat(b.path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	if got := b.db.Stats().LogSize; got != info.Size() {
		t.Errorf("size of the log: got %d, want %d", got, info.Size())
	}
	return info.Size()
}

// fill commits a large row.
func (b *bundle) fill(t *testing.T, id int64) {
	t.Helper()
	err := b.db.Update(t.Context(), func(tx *store.Tx) error {
		return tx.InsertMerchant(id, strings.Repeat("n", rowBytes))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// fillUp commits rows from an id on until long reads are held back. It returns the next id.
func (b *bundle) fillUp(t *testing.T, id int64) (next int64) {
	t.Helper()
	for ; !b.engine.HoldsReads(); id++ {
		if size := b.log(t); size > 2*mostLog {
			t.Fatalf("the log has %d bytes, and reads are not held back", size)
		}
		b.fill(t, id)
	}
	return id
}

// reading is a read that lasts until the test ends it.
type reading struct {
	begun chan struct{}
	stop  chan struct{}
	err   chan error
}

// read starts a read.
func (b *bundle) read(ctx context.Context, p store.Purpose) *reading {
	r := &reading{begun: make(chan struct{}), stop: make(chan struct{}), err: make(chan error, 1)}
	begin := sync.OnceFunc(func() { close(r.begun) })
	go func() { r.err <- b.engine.ReadMerchant(ctx, p, func() { begin(); <-r.stop }) }()
	return r
}

// MustBegin returns when the read has begun.
func (r *reading) MustBegin(t *testing.T) *reading {
	t.Helper()
	select {
	case <-r.begun:
	case err := <-r.err:
		t.Fatalf("the read did not begin: %v", err)
	}
	return r
}

// MustEnd ends the read. On a slow machine it can have ended at its deadline.
func (r *reading) MustEnd(t *testing.T) {
	t.Helper()
	close(r.stop)
	if err := <-r.err; err != nil && !errors.Is(err, payment.ErrListTimeout) && !errors.Is(err, store.ErrStalled) {
		t.Error(err)
	}
}

// wantHeld fails if the read has begun or ended.
func (r *reading) wantHeld(t *testing.T) {
	t.Helper()
	select {
	case <-r.begun:
		t.Error("the read has begun")
	case err := <-r.err:
		t.Errorf("the read has ended: %v", err)
	default:
	}
}

// TestLogDuringEndlessReads: each list, or read of background work, begins before the end of the
// previous one. The write-ahead log stays below a bound.
func TestLogDuringEndlessReads(t *testing.T) {
	t.Parallel()
	const writes, each = 200, 4 // writes during a read
	b := setupLog(t)
	b.fill(t, 1)
	last, emptied, before := b.read(t.Context(), store.Listing).MustBegin(t), 0, int64(0)
	for n := range int64(writes) {
		b.fill(t, n+2)
		size := b.log(t)
		if size > mostLog+(each+1)*oneWrite {
			t.Fatalf("the log has %d bytes after %d writes", size, n+1)
		}
		if size < before {
			emptied++
		}
		before = size
		if n%each != 0 {
			continue
		}
		held := b.engine.HoldsReads() // until the last one has ended
		next := b.read(t.Context(), []store.Purpose{store.Listing, store.Background}[n/each%2])
		if !held {
			next.MustBegin(t)
		}
		last.MustEnd(t)
		last = next.MustBegin(t)
	}
	last.MustEnd(t)
	if emptied < 5 {
		t.Errorf("the log was emptied %d times", emptied)
	}
}

// TestShortWorkWhileReadsWait: while lists wait for the log to be emptied, reads by id and commits
// do not.
func TestShortWorkWhileReadsWait(t *testing.T) {
	t.Parallel()
	b := setupLog(t)
	b.fill(t, 1)
	long := b.read(t.Context(), store.Background).MustBegin(t)
	next := b.fillUp(t, 2)
	list, pass := b.read(t.Context(), store.Listing), b.read(t.Context(), store.Background)
	for range 100 {
		if err := b.db.Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.fill(t, next)
		next++
	}
	list.wantHeld(t)
	pass.wantHeld(t)
	long.MustEnd(t)
	list.MustBegin(t)
	pass.MustBegin(t)
	if size := b.log(t); size > 0 {
		t.Errorf("when the next reads begin, the log has %d bytes", size)
	}
	list.MustEnd(t)
	pass.MustEnd(t)
}

// TestQuickListsWhileReadsWait: while other lists wait for the log to be emptied, quick ones begin.
func TestQuickListsWhileReadsWait(t *testing.T) {
	t.Parallel()
	b := setupLog(t)
	b.fill(t, 1)
	long := b.read(t.Context(), store.Background).MustBegin(t)
	b.fillUp(t, 2)
	b.engine.WaitAtMost(1) // so that a list that waits fails
	b.read(store.QuickTime(t.Context()), store.Listing).MustBegin(t).MustEnd(t)
	if _, err := b.db.Transactions(t.Context(), tenant, payment.Page{Limit: 1}); err != nil {
		t.Error(err)
	}
	b.engine.WaitAtMost(time.Hour)
	long.MustEnd(t)
}

// TestInterruptedRead: a read that keeps the log from being emptied is interrupted, and runs again
// once the log is empty. It is not interrupted a second time.
func TestInterruptedRead(t *testing.T) {
	t.Parallel()
	b := setupLog(t)
	b.engine.InterruptAtOnce()
	b.fill(t, 1)
	b.fill(t, 2)
	first, held, again, end := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
	runs, rows := 0, 0 // the read runs in one goroutine
	done := make(chan error, 1)
	go func() {
		done <- b.engine.ReadMerchants(t.Context(), store.Background, func() { runs++; rows = 0 },
			func(ctx context.Context) error {
				switch rows++; {
				case runs == 1:
					close(first)
					<-ctx.Done()
					<-held
				case rows == 1:
					close(again)
					<-end
				}
				return nil
			})
	}()
	<-first
	next := b.fillUp(t, 3)
	close(held)
	<-again
	if size := b.log(t); size > 0 {
		t.Errorf("when the read begins again, the log has %d bytes", size)
	}
	b.fillUp(t, next)
	b.engine.Interrupt()
	close(end)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if runs != 2 || rows != int(next-1) {
		t.Errorf("got %d runs, and %d rows in the last one, want 2 and %d", runs, rows, next-1)
	}
}

// TestReadsBeginAgain: an interrupted read, of rows or of a page, calls begin before it reads all
// rows again.
func TestReadsBeginAgain(t *testing.T) {
	t.Parallel()
	b := setupLog(t)
	b.fill(t, 1)
	b.fill(t, 2)
	runs, rows := 0, 0
	begin := func() { runs++; rows = 0 }
	scan := func(store.Scanner) error {
		if rows++; runs == 1 {
			b.engine.Interrupt()
		}
		return t.Context().Err()
	}
	for name, read := range map[string]func() error{
		"rows": func() error {
			return b.engine.Each(t.Context(), store.Background, b.engine.Statement("selectMerchants"), begin, scan)
		},
		"a page": func() error {
			return b.engine.Page(t.Context(), b.engine.Statement("listMerchants"), false, begin, scan, math.MaxInt64, 10)
		},
	} {
		runs = 0
		if err := read(); err != nil || runs != 2 || rows != 2 {
			t.Errorf("%s: got %d runs and %d rows in the last one, %v: want 2 and 2", name, runs, rows, err)
		}
	}
}

// TestQuickListsThatOverlap: quick lists that leave no moment without a read are held back for the
// last attempts to empty the log. The running one is interrupted. It has no deadline, so that it
// does not end before on a slow machine.
func TestQuickListsThatOverlap(t *testing.T) {
	t.Parallel()
	b := setupLog(t)
	b.fill(t, 1)
	begun, interrupted, end := make(chan struct{}), make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	first := true // the list runs in one goroutine
	go func() {
		done <- b.engine.ReadQuickly(t.Context(), func(ctx context.Context) error {
			if first {
				first = false
				close(begun)
				<-ctx.Done()
				close(interrupted)
				<-end
			}
			return nil
		})
	}()
	<-begun
	b.fillUp(t, 2)
	<-interrupted
	next := b.read(store.QuickTime(t.Context()), store.Listing)
	next.wantHeld(t)
	close(end)
	next.MustBegin(t)
	if size := b.log(t); size > 0 {
		t.Errorf("when the next list begins, the log has %d bytes", size)
	}
	next.MustEnd(t)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestReadsThatWaitTooLong: the error of a list that ends while it waits for the log names the
// reason.
func TestReadsThatWaitTooLong(t *testing.T) {
	t.Parallel()
	b := setupLog(t)
	b.fill(t, 1)
	long := b.read(t.Context(), store.Listing).MustBegin(t)
	b.fillUp(t, 2)
	ended, end := context.WithCancel(t.Context())
	end()
	b.engine.WaitAtMost(1)
	list := b.engine.ReadMerchant(t.Context(), store.Listing, func() {})
	_, pass := b.db.Merchants(t.Context())
	b.engine.WaitAtMost(time.Hour)
	withdrawn := b.engine.ReadMerchant(ended, store.Listing, func() {})
	for _, c := range []struct{ got, want error }{
		{list, store.ErrBusy}, {pass, store.ErrBusy}, {withdrawn, context.Canceled},
	} {
		if !errors.Is(c.got, c.want) || !strings.Contains(c.got.Error(), "write-ahead log") {
			t.Errorf("got %v, want %v and the reason", c.got, c.want)
		}
	}
	next := b.read(t.Context(), store.Listing)
	long.MustEnd(t)
	next.MustBegin(t).MustEnd(t)
}

// TestLogDuringABackup: a read of another process, such as a backup, keeps the log from being
// emptied. Lists and commits continue, and the next attempt is at twice the size. After the read
// the log is emptied.
func TestLogDuringABackup(t *testing.T) {
	t.Parallel()
	b := setupLog(t)
	b.fill(t, 1)
	backup, err := b.MustWrite(t).BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := backup.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM merchants").Scan(&n); err != nil {
		t.Fatal(err)
	}
	next := int64(2)
	for ; b.log(t) <= mostLog; next++ {
		b.fill(t, next)
	}
	failed := b.log(t)
	b.read(t.Context(), store.Listing).MustBegin(t).MustEnd(t)
	for ; b.log(t)+oneWrite < 2*failed; next++ {
		b.fill(t, next)
		if b.engine.HoldsReads() {
			t.Fatalf("reads are held back at %d bytes, after an attempt at %d", b.log(t), failed)
		}
	}
	if err := backup.Rollback(); err != nil {
		t.Fatal(err)
	}
	list := b.read(t.Context(), store.Listing).MustBegin(t) // so that SQLite does not shrink the log itself
	for ; !b.engine.HoldsReads(); next++ {
		b.fill(t, next)
		if size := b.log(t); size > 3*failed {
			t.Fatalf("after the backup the log has %d bytes", size)
		}
	}
	list.MustEnd(t)
	b.read(t.Context(), store.Listing).MustBegin(t).MustEnd(t)
	if size := b.log(t); size > 0 {
		t.Errorf("after the backup the log has %d bytes", size)
	}
	list = b.read(t.Context(), store.Listing).MustBegin(t)
	b.fillUp(t, next) // to the first size, not to the double one
	list.MustEnd(t)
}

// TestReadBeyondItsDeadline: a read that runs longer than its deadline permits holds the others
// back no longer than that.
func TestReadBeyondItsDeadline(t *testing.T) {
	t.Parallel()
	b := setupLog(t)
	b.engine.BoundLog(mostLog, 1)
	b.fill(t, 1)
	long := b.read(t.Context(), store.Listing).MustBegin(t)
	for next, size := int64(2), b.log(t); size <= mostLog+oneWrite; size = b.log(t) {
		b.fill(t, next)
		next++
	}
	b.read(t.Context(), store.Listing).MustBegin(t).MustEnd(t)
	long.MustEnd(t)
}

// TestCrashWhileReadsWait: the files of a process that dies while reads wait have all its rows.
// The next process reads and writes, and empties the log.
func TestCrashWhileReadsWait(t *testing.T) {
	t.Parallel()
	b := setupLog(t)
	b.fill(t, 1)
	long := b.read(t.Context(), store.Listing).MustBegin(t)
	next := b.fillUp(t, 2)
	list := b.read(t.Context(), store.Listing)
	after := &bundle{path: filepath.Join(t.TempDir(), filepath.Base(b.path)), clock: b.clock}
	for _, suffix := range []string{"", "-wal"} { // a process that dies leaves no shared memory
		content, err := os.ReadFile(b.path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(after.path+suffix, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list.wantHeld(t)
	after.db = after.MustOpen(t)
	after.engine.BoundLog(mostLog, time.Hour)
	after.engine.WaitAtMost(time.Hour)
	if got, want := after.MustCount(t, "merchants"), int(next-1); got != want {
		t.Errorf("merchants: got %d, want %d", got, want)
	}
	after.read(t.Context(), store.Listing).MustBegin(t).MustEnd(t)
	after.fill(t, next)
	after.read(t.Context(), store.Listing).MustBegin(t).MustEnd(t)
	if size := after.log(t); size > mostLog {
		t.Errorf("after the next commit the log has %d bytes", size)
	}
	long.MustEnd(t)
	list.MustBegin(t).MustEnd(t)
}

// TestCloseWhileReadsWait: reads that wait when the store closes return ErrClosed.
func TestCloseWhileReadsWait(t *testing.T) {
	t.Parallel()
	b := setupLog(t)
	b.fill(t, 1)
	long := b.read(t.Context(), store.Listing).MustBegin(t)
	b.fillUp(t, 2)
	list := b.read(t.Context(), store.Listing)
	closed := make(chan error, 1)
	go func() { closed <- b.db.Close() }()
	for !b.engine.Closing() {
		runtime.Gosched()
	}
	if err := <-list.err; !errors.Is(err, store.ErrClosed) {
		t.Errorf("got %v, want %v", err, store.ErrClosed)
	}
	if err := <-closed; err != nil { // although a read runs
		t.Error(err)
	}
	long.MustEnd(t)
}

// TestSizeLimitOfTheLog: after a large commit the log shrinks to the limit when SQLite writes it
// from its beginning again.
func TestSizeLimitOfTheLog(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.engine.BoundLog(1<<40, time.Hour)
	b.fill(t, 1)
	err := b.db.Update(t.Context(), func(tx *store.Tx) error {
		var errs []error
		for id := range int64(sqlite.MaxLog>>20 + 1) {
			errs = append(errs, tx.InsertMerchant(2+id, strings.Repeat("n", 1<<20)))
		}
		return errors.Join(errs...)
	})
	if err != nil {
		t.Fatal(err)
	}
	if size := b.log(t); size <= sqlite.MaxLog {
		t.Fatalf("after a large commit the log has %d bytes", size)
	}
	b.fill(t, 1000)
	if got, want := b.log(t), int64(sqlite.MaxLog); got != want {
		t.Errorf("after the next commit: got %d bytes, want %d", got, want)
	}
}
