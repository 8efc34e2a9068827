package postgres_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

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
		two := postgres.NewQueueBeside(one, func(_ context.Context, all []int) error {
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

// TestSlowBatchOfAnotherKind: a payment that has waited for batchWait behind a batch of another
// kind does not wait for its end.
func TestSlowBatchOfAnotherKind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		one := postgres.NewQueue(func(context.Context, []int) error { <-hold; return nil })
		two := postgres.NewQueueBeside(one, func(context.Context, []int) error { return nil })
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
