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

// wantBegun compares the items of all batches that have begun, in any order. Batches that begin at
// the same moment have none.
func (b *bench) wantBegun(t *testing.T, want ...int) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if got := slices.Sorted(slices.Values(slices.Concat(b.batches...))); !slices.Equal(got, want) {
		t.Errorf("begun: got %v, want %v", got, want)
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

// TestLimit: an item is refused while as many items of its caller as may have no result. The items
// of other callers are accepted.
func TestLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(func(q *batch.Queue[int]) { q.Limit, q.Caller = func(int) int { return 3 }, hundreds })
		b.add(t, t.Context(), nil, 1, 2, 3)
		b.add(t, t.Context(), batch.ErrFull, 4)
		b.add(t, t.Context(), nil, 101)
		ctx, cancel := context.WithCancelCause(t.Context())
		b.add(t, ctx, context.Canceled, 102)
		cancel(context.Canceled)
		synctest.Wait()
		b.add(t, t.Context(), nil, 103, 104)
		b.add(t, t.Context(), batch.ErrFull, 105)
		b.end(1, nil)
		b.add(t, t.Context(), nil, 5)
		b.end(101, nil)
		b.end(5, nil)
		b.wantBatches(t, []int{1}, []int{101, 2, 103, 3, 104}, []int{5})
		b.results.Wait()
	})
}

// TestItemsWithoutALimit: items without a limit are accepted, although their caller's others are
// refused.
func TestItemsWithoutALimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(func(q *batch.Queue[int]) { q.Limit = func(item int) int { return 3 * (item % 2) } })
		b.add(t, t.Context(), nil, 1, 3, 5)
		b.add(t, t.Context(), batch.ErrFull, 7)
		b.add(t, t.Context(), nil, 2, 4)
		b.end(1, nil)
		b.wantBatches(t, []int{1}, []int{3, 5, 2, 4})
		b.end(3, nil)
		b.results.Wait()
	})
}

// hundreds is the caller of an item: those below 100 have one, and so on.
func hundreds(item int) any { return item / 100 }

// TestTurns: callers take turns in each batch. An item waits for about one item of each
// other caller, also if it arrives during a batch.
func TestTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(func(q *batch.Queue[int]) { q.Size, q.Caller = 3, hundreds })
		b.add(t, t.Context(), nil, 1, 2, 3, 4, 5, 6, 7, 101, 102, 201)
		b.end(1, nil)
		b.add(t, t.Context(), nil, 301)
		b.end(101, nil)
		b.add(t, t.Context(), nil, 202)
		b.end(301, nil)
		b.end(202, nil)
		b.end(6, nil)
		b.wantBatches(t, []int{1}, []int{101, 201, 2}, []int{301, 102, 3}, []int{202, 4, 5}, []int{6, 7})
		b.results.Wait()
	})
}

// TestLater: a later caller has half as many turns. It has them although the items of other callers
// follow each other.
func TestLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(func(q *batch.Queue[int]) {
			q.Caller, q.Later = hundreds, func(item int) bool { return item < 100 }
		})
		b.add(t, t.Context(), nil, 500, 1, 2, 3, 101, 102, 103, 104, 105)
		b.end(500, nil)
		b.end(1, nil)
		b.wantBatches(t, []int{500}, []int{1, 101, 102, 2, 103, 104, 3, 105})
		b.results.Wait()
	})
	synctest.Test(t, func(t *testing.T) {
		b := setup(func(q *batch.Queue[int]) {
			q.Size, q.Caller, q.Later = 1, hundreds, func(item int) bool { return item < 100 }
		})
		b.add(t, t.Context(), nil, 500, 1, 2)
		for n, first := range []int{500, 1, 501} {
			b.add(t, t.Context(), nil, 501+n)
			b.end(first, nil)
		}
		b.wantBatches(t, []int{500}, []int{1}, []int{501}, []int{2})
		b.end(2, nil)
		b.end(502, nil)
		b.end(503, nil)
		b.results.Wait()
	})
}

// TestItemsLeftOver: the items that a commit did not run wait again. They keep their order, and
// take turns with items that have come meanwhile. An item whose context has ended is withdrawn.
func TestItemsLeftOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("too late")
		cost := map[int]int64{1: 1}
		b := setup(func(q *batch.Queue[int]) {
			q.Caller, q.Cost = hundreds, func(item int) int64 { return cost[item] }
		})
		ctx, cancel := context.WithCancelCause(t.Context())
		b.add(t, t.Context(), nil, 1, 2, 3, 4)
		b.add(t, ctx, cause, 5)
		b.add(t, t.Context(), nil, 101, 102)
		b.end(1, nil)
		b.wantBatches(t, []int{1}, []int{101, 2, 102, 3, 4, 5})
		cancel(cause)
		b.add(t, t.Context(), nil, 201, 6)
		cost[101] = 1
		b.end(101, nil)
		b.wantBatches(t, []int{1}, []int{101, 2, 102, 3, 4, 5}, []int{201, 2, 102, 3, 4, 6})
		if got := b.queue.Waiting(); got != 0 {
			t.Errorf("waiting: got %d, want 0", got)
		}
		for _, item := range []int{201, 2, 102, 3, 4, 6} {
			cost[item] = 1
		}
		b.end(201, nil)
		b.results.Wait()
		b.queue.Close()
	})
}

// TestCostlyItems: a caller whose items have cost more has its next turn later. Its earlier cost
// counts although it had no items in between, and others had no items before.
func TestCostlyItems(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cost := map[int]int64{}
		b := setup(func(q *batch.Queue[int]) {
			q.Size, q.Caller, q.Cost = 4, hundreds, func(item int) int64 { return max(1, cost[item]) }
		})
		cost[1] = 5
		b.add(t, t.Context(), nil, 1, 101, 102, 103, 104, 105, 106, 107)
		b.end(1, nil)
		b.add(t, t.Context(), nil, 2, 3, 201)
		b.end(101, nil)
		b.wantBatches(t, []int{1}, []int{101, 102, 103, 104}, []int{201, 105, 106, 2})
		b.end(201, nil)
		b.wantBatches(t, []int{1}, []int{101, 102, 103, 104}, []int{201, 105, 106, 2}, []int{107, 3})
		b.end(107, nil)
		b.results.Wait()
	})
}

// TestCostByTheLastItem: the next items of a caller are expected to cost as much as the last one.
// So the items of others come between them.
func TestCostByTheLastItem(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(func(q *batch.Queue[int]) {
			q.Caller, q.Cost = hundreds, func(item int) int64 { return 1 + int64(item)%2 }
		})
		b.add(t, t.Context(), nil, 1, 3, 5, 7, 100, 102, 104, 106)
		b.end(1, nil)
		b.wantBatches(t, []int{1}, []int{100, 102, 3, 104, 106, 5, 7})
		b.end(100, nil)
		b.results.Wait()
	})
}

// TestNoCredit: a caller has no more turns than others because it had no items before.
func TestNoCredit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(func(q *batch.Queue[int]) { q.Size, q.Caller = 1, hundreds })
		b.add(t, t.Context(), nil, 101, 102, 103, 104, 105, 106)
		order := []int{101, 102, 103, 201, 104, 202, 105, 203, 106}
		for _, item := range order {
			if item == 103 {
				b.add(t, t.Context(), nil, 201, 202, 203)
			}
			b.end(item, nil)
		}
		b.results.Wait()
	})
}

// TestIdle: once no item has waited, all callers have the same turn.
func TestIdle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(func(q *batch.Queue[int]) {
			q.Caller, q.Cost = hundreds, func(item int) int64 { return 1 + int64(item)%2 }
		})
		b.add(t, t.Context(), nil, 1)
		b.end(1, nil)
		b.add(t, t.Context(), nil, 200, 2, 100)
		b.end(200, nil)
		b.end(2, nil)
		b.wantBatches(t, []int{1}, []int{200}, []int{2, 100})
		b.results.Wait()
	})
}

// TestSlowItemsOfCallers: a batch begins for the item that has waited longest, although an item of
// another caller has the next turn. Both begin then.
func TestSlowItemsOfCallers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(func(q *batch.Queue[int]) { q.Size, q.Slots, q.Slow, q.Caller = 1, 3, time.Second, hundreds })
		b.add(t, t.Context(), nil, 1, 2)
		pass(time.Second / 4)
		b.add(t, t.Context(), nil, 3)
		pass(time.Second / 4)
		b.add(t, t.Context(), nil, 101)
		pass(time.Second / 2)
		b.wantBegun(t, 1, 2, 101)
		pass(time.Second / 4)
		b.wantBegun(t, 1, 2, 101)
		b.end(1, nil)
		b.wantBegun(t, 1, 2, 3, 101)
		b.end(2, nil)
		b.end(3, nil)
		b.end(101, nil)
		b.results.Wait()
	})
}

// TestMost: a batch ends where its items are expected to cost more than it may. Cheap items of
// other callers share it. A costly item is in a batch alone. The estimate follows the last items.
func TestMost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(func(q *batch.Queue[int]) {
			q.Most, q.Caller = 5, hundreds
			q.Cost = func(item int) int64 { return map[bool]int64{true: 21, false: 1}[item < 3] }
		})
		b.add(t, t.Context(), nil, 1, 2, 3, 4, 5, 101, 102, 103, 104)
		b.end(1, nil)
		b.end(101, nil)
		b.end(2, nil)
		b.end(3, nil)
		b.end(4, nil)
		b.end(5, nil)
		b.wantBatches(t, []int{1}, []int{101, 102, 103, 104}, []int{2}, []int{3}, []int{4}, []int{5})
		b.results.Wait()
	})
}

// TestEstimate: an item with an estimate costs that. Earlier items of its caller do not count.
// A batch costs no more than Most. An item for which it has no room is in a later one.
func TestEstimate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(func(q *batch.Queue[int]) {
			q.Most, q.Caller, q.Estimate = 5, hundreds, func(item int) int64 { return 1 + int64(item%10) }
		})
		b.add(t, t.Context(), nil, 500, 3, 0, 10, 20, 9, 101, 110, 120, 201)
		for _, first := range []int{500, 3, 201, 0, 9} {
			b.end(first, nil)
		}
		b.wantBatches(t, []int{500}, []int{3, 110}, []int{201, 101, 120}, []int{0, 10, 20}, []int{9})
		b.results.Wait()
	})
}

// TestItemsUnderWay: a caller pays for its items when their batch begins. The next batch, which
// begins meanwhile, is of another caller.
func TestItemsUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(func(q *batch.Queue[int]) { q.Size, q.Slots, q.Slow, q.Caller = 1, 2, time.Second, hundreds })
		b.add(t, t.Context(), nil, 1, 2, 3, 101)
		pass(time.Second)
		b.wantBatches(t, []int{1}, []int{101})
		b.end(1, nil)
		b.end(101, nil)
		b.end(2, nil)
		b.end(3, nil)
		b.results.Wait()
	})
}

// TestCostlyItemsUnderWay: a caller whose items under way cost Most has no more of them, although
// slots are free. A slow item of another caller begins a batch.
func TestCostlyItemsUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(func(q *batch.Queue[int]) {
			q.Slots, q.Slow, q.Caller, q.Most = 4, time.Second, hundreds, 5
			q.Estimate = func(item int) int64 { return int64(item%100) + 1 }
		})
		b.add(t, t.Context(), nil, 3, 2, 4, 1)
		pass(time.Second)
		b.wantBatches(t, []int{3}, []int{2})
		b.add(t, t.Context(), nil, 101)
		pass(time.Second)
		b.wantBatches(t, []int{3}, []int{2}, []int{101})
		b.end(3, nil)
		b.wantBatches(t, []int{3}, []int{2}, []int{101}, []int{4})
		b.end(2, nil)
		b.wantBatches(t, []int{3}, []int{2}, []int{101}, []int{4})
		b.end(4, nil)
		b.wantBatches(t, []int{3}, []int{2}, []int{101}, []int{4}, []int{1})
		b.end(101, nil)
		b.end(1, nil)
		b.results.Wait()
	})
}

// TestWrongEstimates: at the end of a batch its callers pay the difference to the real cost. They
// pay nothing for an item that it did not run.
func TestWrongEstimates(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cost := map[int]int64{1: 9, 101: 1, 301: 1}
		b := setup(func(q *batch.Queue[int]) {
			q.Caller, q.Estimate = hundreds, func(int) int64 { return 4 }
			q.Cost = func(item int) int64 { return cost[item] }
		})
		b.add(t, t.Context(), nil, 301, 1, 101, 201)
		b.end(301, nil)
		b.add(t, t.Context(), nil, 2, 102, 103)
		b.end(1, nil)
		for _, item := range []int{2, 102, 103, 201} {
			cost[item] = 1
		}
		b.end(201, nil)
		b.wantBatches(t, []int{301}, []int{1, 101, 201}, []int{201, 102, 103, 2})
		b.results.Wait()
	})
}

// TestFailureOfItemsLeftOver: the error of a commit is the result of all its items. None of them
// waits again.
func TestFailureOfItemsLeftOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		failure := errors.New("no")
		b := setup(func(q *batch.Queue[int]) { q.Cost = func(item int) int64 { return int64(item % 2) } })
		b.add(t, t.Context(), nil, 1)
		b.add(t, t.Context(), failure, 2, 4)
		b.end(1, nil)
		b.end(2, failure)
		b.wantBatches(t, []int{1}, []int{2, 4})
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

// TestRandomLoad: under any load, the committed items are those whose call returned no error. Each
// is committed once. Batches keep the order of each client and the bounds.
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
	failure, cost := errors.New("no"), make([]int64, clients*each)
	q := batch.Queue[int]{
		Size: 1 + r.IntN(8), Slots: r.IntN(4), Slow: 5, Most: r.Int64N(10),
		Caller:   func(item int) any { return item / each / 3 }, // three clients each
		Cost:     func(item int) int64 { mu.Lock(); defer mu.Unlock(); return cost[item] },
		Estimate: [2]func(int) int64{func(item int) int64 { return 1 + int64(item%7) }}[r.IntN(2)],
	}
	var underWay atomic.Int64
	q.Commit = func(items []int) error {
		if n := underWay.Add(1); n > int64(max(q.Slots, 1)) || len(items) > q.Size {
			t.Errorf("%d batches at the same time, one of %d items", n, len(items))
		}
		defer underWay.Add(-1)
		<-time.After(time.Duration(random(20)))
		switch random(8) {
		case 0:
			return failure
		case 1:
			panic("no")
		}
		runs := 1 + random(len(items))
		mu.Lock()
		defer mu.Unlock()
		for _, item := range items[:runs] {
			committed, cost[item] = append(committed, item), 1+r.Int64N(9)
		}
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
	wantEnd(t, &q, &underWay)
}

// wantEnd closes a queue. No item waits, and no batch is under way after that.
func wantEnd(t *testing.T, q *batch.Queue[int], underWay *atomic.Int64) {
	t.Helper()
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

// TestSlowItemBehindAnotherTurn: if the turn of a slow item comes after another one's, both begin
// as there are slots for them.
func TestSlowItemBehindAnotherTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const slow = 10 * time.Millisecond
		b := setup(func(q *batch.Queue[int]) {
			q.Size, q.Slots, q.Slow = 1, 3, slow
			q.Caller = func(item int) any { return item / 100 }
		})
		b.add(t, t.Context(), nil, 900)
		b.add(t, t.Context(), nil, 101)
		pass(slow)
		b.add(t, t.Context(), nil, 102)
		b.end(101, nil) // caller 1 has had a turn
		pass(1)
		b.add(t, t.Context(), nil, 201)
		pass(slow - 1)
		b.wantBegun(t, 101, 102, 201, 900)
		b.end(201, nil)
		b.end(102, nil)
		b.end(900, nil)
		b.results.Wait()
	})
}
