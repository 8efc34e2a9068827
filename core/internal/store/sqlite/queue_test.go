package sqlite_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/sqlite"
)

func TestBatchIsolation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	failure := errors.New("no")
	release := b.block(t)
	first := b.queue(merchant(1))
	failing := b.queue(func(tx *store.Tx) error { return errors.Join(tx.InsertMerchant(2, "shop"), failure) })
	panicking := b.queue(func(tx *store.Tx) error {
		if err := tx.InsertMerchant(3, "shop"); err != nil {
			return err
		}
		panic("4242424242424242")
	})
	duplicate := b.queue(func(tx *store.Tx) error {
		return errors.Join(tx.InsertMerchant(4, "shop"), tx.InsertMerchant(1, "shop"))
	})
	last := b.queue(merchant(5))
	release()
	if err := <-first; err != nil {
		t.Error(err)
	}
	if err := <-failing; !errors.Is(err, failure) {
		t.Errorf("failing: got %v", err)
	}
	if err := <-panicking; err == nil || strings.Contains(err.Error(), "4242") {
		t.Errorf("panicking: got %v, want an error without the value", err)
	}
	if err := <-duplicate; !errors.Is(err, store.ErrDuplicate) {
		t.Errorf("duplicate: got %v, want %v", err, store.ErrDuplicate)
	}
	if err := <-last; err != nil {
		t.Error(err)
	}
	if got, want := b.MustCount(t, "merchants"), 2; got != want {
		t.Errorf("merchants: got %d, want %d", got, want)
	}
	if err := b.db.Update(t.Context(), merchant(6)); err != nil {
		t.Errorf("the writer after a panic: %v", err)
	}
}

func TestOneBatchHasOneTime(t *testing.T) {
	t.Parallel()
	b := setup(t)
	release := b.block(t)
	var seen []time.Time
	note := func(tx *store.Tx) error { seen = append(seen, tx.Now); return nil }
	one, two := b.queue(note), b.queue(note)
	b.clock.Advance(time.Millisecond)
	release()
	if err := errors.Join(<-one, <-two); err != nil {
		t.Fatal(err)
	}
	if !seen[0].Equal(seen[1]) {
		t.Errorf("two commands of one batch have the times %s and %s", seen[0], seen[1])
	}
	if got, want := seen[0], b.clock.Now().Truncate(time.Millisecond); !got.Equal(want) {
		t.Errorf("now: got %s, want %s", got, want)
	}
}

// fillQueue makes commands of a caller wait behind the one that holds the writer, until one of them
// is refused. It returns their errors.
func (b *bundle) fillQueue(ctx context.Context, c store.Caller, n int) (done chan error) {
	before := b.db.Waiting()
	done = make(chan error, n)
	for range n {
		go func() { done <- b.db.UpdateOf(ctx, c, func(*store.Tx) error { return nil }) }()
	}
	for b.db.Waiting() < before+n && len(done) == 0 {
		runtime.Gosched()
	}
	return done
}

// TestQueueFull: a caller with as many commands as may wait or run is refused. Other callers are
// not.
func TestQueueFull(t *testing.T) {
	t.Parallel()
	b := setup(t)
	release := b.block(t)
	const waiting = sqlite.MaxQueue - 1 // behind the one that holds the writer
	done := b.fillQueue(context.Background(), store.Caller{}, waiting)
	if err := b.db.Update(t.Context(), merchant(1)); !errors.Is(err, payment.ErrTooManyChanges) {
		t.Errorf("got %v, want %v", err, payment.ErrTooManyChanges)
	}
	other := b.of(context.Background(), test(1), func() {})
	release()
	for range waiting {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if err := <-other; err != nil {
		t.Errorf("of another caller: %v", err)
	}
	if err := b.db.Update(t.Context(), merchant(1)); err != nil {
		t.Errorf("once there is room again: %v", err)
	}
}

// TestQueueNeverFull: the ends of steps and background work are not refused for their number.
func TestQueueNeverFull(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		caller     store.Caller
		background bool
	}{
		"the ends of steps": {store.Caller{Tenant: tenant, Ends: true}, false},
		"background work":   {store.Caller{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			ctx := context.Background()
			if c.background {
				ctx = store.InBackground(ctx)
			}
			release := b.block(t)
			const waiting = sqlite.MaxQueue + 1
			done := b.fillQueue(ctx, c.caller, waiting)
			release()
			for range waiting {
				if err := <-done; err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestUpdateUnderAnEndedContext(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.db.Update(ended, merchant(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func TestCloseDrains(t *testing.T) {
	t.Parallel()
	b := setup(t)
	release := b.block(t)
	var waiting []<-chan error
	for i := range 50 {
		waiting = append(waiting, b.queue(merchant(int64(i+1))))
	}
	closed := make(chan error, 1)
	go func() { closed <- b.db.Close() }()
	for !b.engine.Closing() {
		runtime.Gosched()
	}
	if err := b.db.Update(t.Context(), merchant(99)); !errors.Is(err, store.ErrClosed) {
		t.Errorf("got %v, want %v", err, store.ErrClosed)
	}
	release()
	for _, w := range waiting {
		if err := <-w; err != nil {
			t.Error(err)
		}
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if err := b.db.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
	if info, err := os.Stat(b.path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the file: got %v, %v, want 0600", info.Mode(), err)
	}
	if _, err := os.Stat(b.path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the write-ahead log after a close: got %v, want it gone", err)
	}
	if got, want := b.MustCount(t, "merchants"), 50; got != want {
		t.Errorf("merchants: got %d, want %d", got, want)
	}
}
