package postgres_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/postgres"
)

// TestBatchesOfKinds: while a batch is written, payments of all kinds collect. Then there is one
// batch of each kind. The first batch is of the kind of the payment with the next turn.
func TestBatchesOfKinds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var order []int // one batch writes at a time
		hold := make(chan struct{})
		one := postgres.NewQueue(func(_ context.Context, all []int) error {
			if slices.Contains(all, 0) {
				<-hold
			}
			order = append(order, all...)
			return nil
		})
		two := postgres.NewSharedQueue(one, func(_ context.Context, all []int) error {
			order = append(order, all...)
			return nil
		})
		var wg sync.WaitGroup
		for i, q := range []*postgres.Queue{one, two, one, two, one, two} {
			wg.Go(func() {
				if got, done, err := q.Do(t.Context(), i); got != i || !done || err != nil {
					t.Errorf("%d: got %d, %t, %v", i, got, done, err)
				}
			})
			<-time.After(time.Microsecond)
			synctest.Wait()
		}
		close(hold)
		wg.Wait()
		if want := []int{0, 1, 3, 5, 2, 4}; !slices.Equal(order, want) {
			t.Errorf("written in the order %v, want %v", order, want)
		}
		wantIdle(t, one)
		wantIdle(t, two)
	})
}

// TestTurnsAtBatches: more payments of one tenant wait than a batch has. A payment of another
// tenant is in the next batch.
func TestTurnsAtBatches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var batches [][]int // one batch writes at a time
		hold := make(chan struct{})
		q := postgres.NewQueue(func(_ context.Context, all []int) error {
			if slices.Contains(all, 0) {
				<-hold
			}
			batches = append(batches, slices.Clone(all))
			return nil
		})
		var wg sync.WaitGroup
		do := func(n int) {
			wg.Go(func() { _, _, _ = q.Do(t.Context(), n) })
			synctest.Wait()
		}
		for n := range 1 + 2*postgres.BatchSize {
			do(n)
		}
		do(postgres.TenantNumbers)
		close(hold)
		wg.Wait()
		if len(batches) < 2 || !slices.Contains(batches[1], postgres.TenantNumbers) {
			t.Errorf("got %v, want %d in the second batch", batches, postgres.TenantNumbers)
		}
		wantIdle(t, q)
	})
}

// held is a queue of numbers. Its first batch waits for free, so that later numbers collect.
type held struct {
	*postgres.Queue
	batches [][]int // one batch writes at a time
	free    chan struct{}
	calls   sync.WaitGroup
}

// hold returns a queue whose first batch has the number 0. bytes is the data of a number.
func hold(t *testing.T, bytes func(n int) int) *held {
	t.Helper()
	h := &held{free: make(chan struct{})}
	h.Queue = postgres.NewQueue(func(_ context.Context, all []int) error {
		if slices.Contains(all, 0) {
			<-h.free
		}
		h.batches = append(h.batches, slices.Clone(all))
		return nil
	})
	h.Bytes = bytes
	h.add(t, 0)
	return h
}

// add adds numbers in turn.
func (h *held) add(t *testing.T, numbers ...int) {
	t.Helper()
	for _, n := range numbers {
		h.calls.Go(func() {
			if _, done, err := h.Do(t.Context(), n); !done || err != nil {
				t.Errorf("%d: got %t, %v", n, done, err)
			}
		})
		synctest.Wait()
	}
}

// want ends the first batch and compares the later ones.
func (h *held) want(t *testing.T, want ...[]int) {
	t.Helper()
	close(h.free)
	h.calls.Wait()
	if got := h.batches[1:]; !slices.EqualFunc(got, want, slices.Equal[[]int]) {
		t.Errorf("got the batches %v, want %v", got, want)
	}
	wantIdle(t, h.Queue)
}

// TestLargePayments: a tenant sends large payments. A batch bounds their data, and payments of
// another tenant come first.
func TestLargePayments(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const other = postgres.TenantNumbers
		h := hold(t, func(n int) int {
			if n < other {
				return postgres.SmallBytes + postgres.BatchSize/4*postgres.UnitBytes
			}
			return postgres.SmallBytes
		})
		h.add(t, 1, 2, 3, 4, 5, 6, 7)
		h.add(t, other, other+1)
		h.want(t, []int{other, other + 1, 1, 2, 3}, []int{4, 5, 6}, []int{7})
	})
}

// TestSmallPayments: as many small payments share a batch as its bound allows.
func TestSmallPayments(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := hold(t, func(int) int { return postgres.SmallBytes })
		var all []int
		for n := range postgres.BatchSize + 1 {
			all = append(all, n+1)
		}
		h.add(t, all...)
		h.want(t, all[:postgres.BatchSize], all[postgres.BatchSize:])
	})
}

// TestBatchesOfTestMode: a tenant of live mode has twice as many turns as one of test mode.
func TestBatchesOfTestMode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := hold(t, nil)
		const test, live = postgres.TenantNumbers, postgres.LiveNumbers
		h.add(t, test, test+1, test+2, live, live+1, live+2, live+3)
		h.want(t, []int{test, live, live + 1, test + 1, live + 2, live + 3, test + 2})
	})
}

// TestWeight: the weight of an intent and of an outcome record is that of the data in their rows.
func TestWeight(t *testing.T) {
	t.Parallel()
	of := &payment.Transaction{Tenant: payment.Tenant{Merchant: 1}, Details: make([]byte, 1000)}
	if got, bytes := postgres.WeighIntent(&store.Intent{Transaction: of}); got != of.Tenant || bytes != 1000 {
		t.Errorf("an intent: got %v, %d", got, bytes)
	}
	r := &store.OutcomeRecord{Transaction: of, Body: make([]byte, 200), Event: payment.Event{Data: make([]byte, 30)}}
	for claim, want := range map[int64]int{0: 30, 1: 230} {
		r.Claim = claim
		if got, bytes := postgres.WeighOutcome(r); got != of.Tenant || bytes != want {
			t.Errorf("an outcome record of claim %d: got %v, %d, want %d", claim, got, bytes, want)
		}
	}
}

// TestSlowBatchOfAnotherKind: a payment that has waited for batchWait behind a batch of another
// kind does not wait for its end.
func TestSlowBatchOfAnotherKind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		one := postgres.NewQueue(func(context.Context, []int) error { <-hold; return nil })
		two := postgres.NewSharedQueue(one, func(context.Context, []int) error { return nil })
		var wg sync.WaitGroup
		wg.Go(func() { _, _, _ = one.Do(t.Context(), 1) })
		synctest.Wait()
		if got, done, err := two.Do(t.Context(), 2); got != 2 || !done || err != nil {
			t.Errorf("got %d, %t, %v", got, done, err)
		}
		close(hold)
		wg.Wait()
		wantIdle(t, one)
	})
}
