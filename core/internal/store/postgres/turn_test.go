package postgres_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/causeway-pay/causeway/core/internal/store/postgres"
)

// TestTurns: while a group is written those of all kinds gather, and then each is written whole, the one first whose first member has waited for longest.
func TestTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var order []int // by one at a time
		hold := make(chan struct{})
		one := postgres.NewQueue(func(_ context.Context, all []int) error {
			if slices.Contains(all, 0) {
				<-hold
			}
			order = append(order, all...)
			return nil
		})
		two := postgres.NewQueueBeside(one, func(_ context.Context, all []int) error { order = append(order, all...); return nil })
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
		if leading := two.Leading(); leading != 1 {
			t.Errorf("%d lead while a group of the other kind is written", leading)
		}
		close(hold)
		wg.Wait()
		if want := []int{0, 1, 3, 5, 2, 4}; !slices.Equal(order, want) {
			t.Errorf("written in the order %v, want %v", order, want)
		}
		wantWhole(t, one)
		wantWhole(t, two)
	})
}

// TestTurnOfWhoFoundNoPlace: who has waited for the pause while as many led as may has the first place that is free, long before his patience is over; who
// came later gathers on, and leads beside the others once he has waited as long.
func TestTurnOfWhoFoundNoPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var holds [postgres.GroupsAtOnce]chan struct{}
		one := postgres.NewQueue(func(_ context.Context, all []int) error { <-holds[all[0]]; return nil })
		wrote := func(n *atomic.Int32) func(context.Context, []int) error {
			return func(_ context.Context, all []int) error { n.Add(int32(len(all))); return nil }
		}
		var early, late atomic.Int32 // read while who wakes by himself may write
		two, three := postgres.NewQueueBeside(one, wrote(&early)), postgres.NewQueueBeside(one, wrote(&late))
		var wg sync.WaitGroup
		asks := func(q *postgres.Queue, n int, pause time.Duration) {
			wg.Go(func() {
				if got, done, err := q.Do(t.Context(), n); got != n || !done || err != nil {
					t.Errorf("%d: got %d, %t, %v", n, got, done, err)
				}
			})
			<-time.After(pause)
			synctest.Wait()
		}
		for i := range holds {
			holds[i] = make(chan struct{})
			asks(one, i, postgres.GroupPause)
		}
		asks(two, 7, 2*postgres.GroupPause)
		asks(three, 8, 0)
		if leading := one.Leading(); leading != len(holds) || early.Load()+late.Load() > 0 {
			t.Fatalf("%d lead, want %d, and %d of the others are written", leading, len(holds), early.Load()+late.Load())
		}
		for _, hold := range holds[:2] {
			close(hold)
			synctest.Wait()
			if early.Load() != 1 || late.Load() != 0 {
				t.Errorf("with a place free %d are written who had waited, and %d who had not", early.Load(), late.Load())
			}
		}
		<-time.After(postgres.GroupPause)
		synctest.Wait()
		if late.Load() != 1 {
			t.Error("who has waited for the pause since does not lead beside the others")
		}
		for _, hold := range holds[2:] {
			close(hold)
		}
		wg.Wait()
		wantWhole(t, two)
	})
}

// TestTurnThatTakesLong: who has waited for a group of another kind for the pause does not wait for its end.
func TestTurnThatTakesLong(t *testing.T) {
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
		wantWhole(t, one)
	})
}
