package batch_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/causeway-pay/causeway/shared/batch"
)

// bench is a queue whose commits wait until they are released, one by one.
type bench struct {
	queue   batch.Queue[int]
	mu      sync.Mutex
	batches [][]int
	release map[int]chan error // by the first item of the batch
	results sync.WaitGroup
}

func setup(q func(*batch.Queue[int])) *bench {
	b := &bench{release: map[int]chan error{}}
	b.queue.Size = 100
	b.queue.Commit = func(items []int) error {
		b.mu.Lock()
		b.batches = append(b.batches, slices.Clone(items))
		c := make(chan error)
		b.release[items[0]] = c
		b.mu.Unlock()
		return <-c
	}
	if q != nil {
		q(&b.queue)
	}
	return b
}

// add adds items in turn. Their results must be want.
//
//nolint:revive // t comes first in helpers
func (b *bench) add(t *testing.T, ctx context.Context, want error, items ...int) {
	t.Helper()
	for _, item := range items {
		b.results.Go(func() {
			if err := b.queue.Do(ctx, item); !errors.Is(err, want) {
				t.Errorf("item %d: got %v, want %v", item, err, want)
			}
		})
		synctest.Wait()
	}
}

// end ends the commit of the batch that begins with an item.
func (b *bench) end(first int, err error) {
	b.mu.Lock()
	c := b.release[first]
	b.mu.Unlock()
	c <- err
	synctest.Wait()
}

// pass lets time pass.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// wantBatches compares the batches that have begun.
func (b *bench) wantBatches(t *testing.T, want ...[]int) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.EqualFunc(b.batches, want, slices.Equal[[]int]) {
		t.Errorf("batches: got %v, want %v", b.batches, want)
	}
}

// TestItemsShareABatch: while a batch is under way others collect, in their order. Each gets the
// result of its batch, and a batch has at most Size items.
func TestItemsShareABatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		failure := errors.New("no")
		b := setup(func(q *batch.Queue[int]) { q.Size = 3 })
		b.add(t, t.Context(), nil, 1)
		b.add(t, t.Context(), failure, 5, 4, 6)
		b.add(t, t.Context(), nil, 2)
		if got := b.queue.Waiting(); got != 4 {
			t.Errorf("waiting: got %d, want 4", got)
		}
		b.wantBatches(t, []int{1})
		b.end(1, nil)
		b.wantBatches(t, []int{1}, []int{5, 4, 6})
		b.end(5, failure)
		b.wantBatches(t, []int{1}, []int{5, 4, 6}, []int{2})
		b.end(2, nil)
		b.results.Wait()
	})
}

// TestSlowItems: a batch begins while others are under way once its first item has waited for
// Slow, up to the number of slots. A slow item that finds no slot is in the next batch that can
// begin. Other items collect until no batch is under way.
func TestSlowItems(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(func(q *batch.Queue[int]) { q.Slots, q.Slow = 3, time.Second })
		b.add(t, t.Context(), nil, 1)
		pass(time.Hour)
		b.add(t, t.Context(), nil, 2, 3)
		pass(time.Second - 1)
		b.wantBatches(t, []int{1})
		pass(1)
		b.wantBatches(t, []int{1}, []int{2, 3})
		b.add(t, t.Context(), nil, 4)
		pass(time.Second)
		b.add(t, t.Context(), nil, 5)
		pass(time.Second)
		b.add(t, t.Context(), nil, 6)
		b.wantBatches(t, []int{1}, []int{2, 3}, []int{4})
		b.end(2, nil)
		b.wantBatches(t, []int{1}, []int{2, 3}, []int{4}, []int{5, 6})
		b.add(t, t.Context(), nil, 7)
		b.end(1, nil)
		b.end(4, nil)
		b.wantBatches(t, []int{1}, []int{2, 3}, []int{4}, []int{5, 6})
		b.end(5, nil)
		b.wantBatches(t, []int{1}, []int{2, 3}, []int{4}, []int{5, 6}, []int{7})
		b.end(7, nil)
		b.results.Wait()
	})
}

// TestOneSlot: without more slots a slow batch holds up the others.
func TestOneSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(nil)
		b.add(t, t.Context(), nil, 1, 2)
		pass(time.Hour)
		b.wantBatches(t, []int{1})
		b.end(1, nil)
		b.end(2, nil)
		b.results.Wait()
	})
}

// TestKinds: a batch has the items of one kind, and the longest-waiting item is in the next one.
func TestKinds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(func(q *batch.Queue[int]) {
			q.Size, q.Kind = 3, func(item int) any { return item % 2 }
		})
		b.add(t, t.Context(), nil, 0, 1, 2, 3, 4, 6, 8, 5)
		b.end(0, nil)
		b.end(1, nil)
		b.end(2, nil)
		b.end(8, nil)
		b.wantBatches(t, []int{0}, []int{1, 3, 5}, []int{2, 4, 6}, []int{8})
		b.results.Wait()
	})
}

// TestEndedContexts: an item that waits is withdrawn when its context ends. An item in a batch has
// the result of the batch.
func TestEndedContexts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("too late")
		b := setup(nil)
		ctx, cancel := context.WithCancelCause(t.Context())
		b.add(t, ctx, nil, 1)
		b.add(t, ctx, cause, 2)
		b.add(t, t.Context(), nil, 3)
		cancel(cause)
		synctest.Wait()
		if got := b.queue.Waiting(); got != 1 {
			t.Errorf("waiting: got %d, want 1", got)
		}
		b.end(1, nil)
		b.end(3, nil)
		b.wantBatches(t, []int{1}, []int{3})
		b.results.Wait()
		b.queue.Close() // it does not wait for the withdrawn item
	})
}

// TestPanics: the items of a batch that panics end with an error without the value, and later
// batches are committed. No slot is lost.
func TestPanics(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		panics := true
		q := batch.Queue[int]{Size: 1, Slots: 2, Slow: time.Second, Commit: func([]int) error {
			if panics {
				panic("4242424242424242")
			}
			return nil
		}}
		for range 4 {
			if err := q.Do(t.Context(), 1); err == nil || strings.Contains(err.Error(), "4242") {
				t.Errorf("got %v, want an error without the value", err)
			}
		}
		panics = false
		if err := q.Do(t.Context(), 2); err != nil {
			t.Error(err)
		}
	})
}

// TestLimit: an item is refused while as many wait as may.
func TestLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(func(q *batch.Queue[int]) { q.Limit = 2 })
		b.add(t, t.Context(), nil, 1, 2, 3)
		b.add(t, t.Context(), batch.ErrFull, 4)
		b.end(1, nil)
		b.add(t, t.Context(), nil, 5)
		b.end(2, nil)
		b.end(5, nil)
		b.wantBatches(t, []int{1}, []int{2, 3}, []int{5})
		b.results.Wait()
	})
}

// TestClose: Close returns once the accepted items have their results. Later items are refused.
func TestClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(nil)
		b.add(t, t.Context(), nil, 1, 2)
		var closed atomic.Bool
		b.results.Go(func() { b.queue.Close(); closed.Store(true) })
		synctest.Wait()
		b.add(t, t.Context(), batch.ErrClosed, 3)
		b.end(1, nil)
		if closed.Load() {
			t.Error("closed while an item waits for its result")
		}
		b.end(2, nil)
		if !closed.Load() {
			t.Error("not closed once all items have their results")
		}
		b.queue.Close()
		b.results.Wait()
	})
}

// TestRandomLoad: under any load, the committed items are those whose call returned no error.
// Batches keep the order of each client and the bounds.
func TestRandomLoad(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		synctest.Test(t, func(t *testing.T) { randomLoad(t, rand.New(rand.NewPCG(seed, 0))) })
	}
}

func randomLoad(t *testing.T, r *rand.Rand) {
	t.Helper()
	const clients, each = 20, 20
	var mu sync.Mutex // guards r and committed
	var committed []int
	random := func(n int) int { mu.Lock(); defer mu.Unlock(); return r.IntN(n) }
	failure := errors.New("no")
	q := batch.Queue[int]{Size: 1 + r.IntN(8), Slots: r.IntN(4), Slow: 5}
	var underWay atomic.Int64
	q.Commit = func(items []int) error {
		if n := underWay.Add(1); n > int64(max(q.Slots, 1)) || len(items) > q.Size {
			t.Errorf("%d batches at once, one of %d items", n, len(items))
		}
		defer underWay.Add(-1)
		<-time.After(time.Duration(random(20)))
		switch random(8) {
		case 0:
			return failure
		case 1:
			panic("no")
		}
		mu.Lock()
		defer mu.Unlock()
		committed = append(committed, items...)
		return nil
	}
	want := make([][]int, clients)
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			for i := range each {
				<-time.After(time.Duration(random(10)))
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+random(40)))
				if q.Do(ctx, c*each+i) == nil {
					want[c] = append(want[c], c*each+i)
				}
				cancel()
			}
		})
	}
	wg.Wait()
	if got := byClient(committed, clients, each); !slices.EqualFunc(got, want, slices.Equal[[]int]) {
		t.Errorf("committed: got %v, want %v", got, want)
	}
	q.Close()
	synctest.Wait()
	if n := q.Waiting(); n != 0 || underWay.Load() != 0 {
		t.Errorf("%d items wait and %d batches are under way after the end", n, underWay.Load())
	}
}

// byClient returns the items of each client. Client n has the items from n*each on.
func byClient(items []int, clients, each int) [][]int {
	out := make([][]int, clients)
	for _, item := range items {
		out[item/each] = append(out[item/each], item)
	}
	return out
}
