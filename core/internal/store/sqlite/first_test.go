package sqlite_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/store"
)

// lead runs two commands in one batch and returns their results.
func (b *bundle) lead(t *testing.T, fn, later func(*store.Tx) error) (first, second error) {
	t.Helper()
	release := b.block(t)
	one, two := b.queue(fn), b.queue(later)
	release()
	return <-one, <-two
}

// TestFirstOfABatchFails: the first command of a batch has no savepoint. Its failure rolls back the
// batch, which begins again.
func TestFirstOfABatchFails(t *testing.T) {
	t.Parallel()
	b := setup(t)
	failure := errors.New("no")
	for i, failing := range []func(*store.Tx) error{
		func(tx *store.Tx) error { return errors.Join(tx.InsertMerchant(1, "shop"), failure) },
		func(tx *store.Tx) error {
			return errors.Join(tx.InsertMerchant(1, "shop"), tx.InsertMerchant(1, "shop"))
		},
		func(tx *store.Tx) error { panic(tx.InsertMerchant(1, "shop")) },
	} {
		first, second := b.lead(t, failing, merchant(int64(10+i)))
		if first == nil || second != nil {
			t.Errorf("%d: got %v and %v, want an error and none", i, first, second)
		}
		if got, want := b.MustCount(t, "merchants"), i+1; got != want {
			t.Errorf("%d: got %d merchants, want %d", i, got, want)
		}
	}
}

// TestFirstOfABatchHidesItsRollback: a first command ignores a full disk. Later commands of the
// batch must not write outside of its transaction.
func TestFirstOfABatchHidesItsRollback(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if err := b.engine.Exec("PRAGMA max_page_count = 100", "PRAGMA cache_size = 10"); err != nil {
		t.Fatal(err)
	}
	failure := errors.New("no")
	first, second := b.lead(t, func(tx *store.Tx) error {
		_ = tx.InsertMerchant(1, strings.Repeat("n", 1<<20))
		return nil
	}, func(tx *store.Tx) error {
		return errors.Join(tx.InsertMerchant(2, "shop"), failure)
	})
	if !errors.Is(first, store.ErrUnavailable) || !errors.Is(second, failure) {
		t.Errorf("got %v and %v", first, second)
	}
	if first, second = b.lead(t, func(tx *store.Tx) error {
		_ = tx.InsertMerchant(3, strings.Repeat("n", 1<<20))
		return nil
	}, merchant(4)); !errors.Is(first, store.ErrUnavailable) || second != nil {
		t.Errorf("got %v and %v", first, second)
	}
	if got, want := b.MustCount(t, "merchants"), 1; got != want {
		t.Errorf("got %d merchants, want %d", got, want)
	}
}

// TestLaterOfABatchHidesItsRollback: a later command that ignores a full disk fails with the batch.
// The commands after it are in the next batch. A row exists if and only if its command succeeded.
func TestLaterOfABatchHidesItsRollback(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if err := b.engine.Exec("PRAGMA max_page_count = 100", "PRAGMA cache_size = 10"); err != nil {
		t.Fatal(err)
	}
	release := b.block(t)
	first := b.queue(merchant(1))
	hides := b.queue(func(tx *store.Tx) error {
		_ = tx.InsertMerchant(2, strings.Repeat("n", 1<<20))
		return nil
	})
	last := b.queue(merchant(3))
	release()
	for id, err := range map[int64]error{1: <-first, 2: <-hides} {
		if !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("merchant %d: got %v, want %v", id, err, store.ErrUnavailable)
		}
	}
	if err := <-last; err != nil {
		t.Errorf("merchant 3: %v", err)
	}
	if got, want := b.MustCount(t, "merchants"), 1; got != want {
		t.Errorf("got %d merchants, want %d", got, want)
	}
}

// TestWritesBehindALostBatch: a command that ignores a full disk and continues writes nothing. The
// cases are the first and a later command of a batch.
func TestWritesBehindALostBatch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if err := b.engine.Exec("PRAGMA max_page_count = 100", "PRAGMA cache_size = 10"); err != nil {
		t.Fatal(err)
	}
	ignoresFullDisk := func(id int64) func(*store.Tx) error {
		return func(tx *store.Tx) error {
			_ = tx.InsertMerchant(id, strings.Repeat("n", 1<<20))
			return tx.InsertMerchant(id+1, "shop")
		}
	}
	release := b.block(t)
	first, between, later := b.queue(ignoresFullDisk(10)), b.queue(merchant(1)), b.queue(ignoresFullDisk(20))
	release()
	for name, err := range map[string]error{"first": <-first, "later": <-later} {
		if !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("%s: got %v, want %v", name, err, store.ErrUnavailable)
		}
	}
	want := 0
	if <-between == nil {
		want = 1
	}
	if got := b.MustCount(t, "merchants"); got != want {
		t.Errorf("got %d merchants, want %d", got, want)
	}
}

// TestTimeOfABatch: a batch has one time, which is not before the request of any of its commands.
// That holds even if the clock was set back meanwhile.
func TestTimeOfABatch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	release := b.block(t)
	var times [2]time.Time
	first := b.queue(func(tx *store.Tx) error { times[0] = tx.Now; return nil })
	b.clock.Advance(time.Minute)
	requested := b.clock.Now().Truncate(time.Millisecond) // as the store keeps it
	second := b.queue(func(tx *store.Tx) error { times[1] = tx.Now; return nil })
	b.clock.Advance(-2 * time.Minute)
	release()
	if err := errors.Join(<-first, <-second); err != nil {
		t.Fatal(err)
	}
	if !times[0].Equal(requested) || !times[1].Equal(requested) {
		t.Errorf("got %s, want %s for both", times, requested)
	}
}
