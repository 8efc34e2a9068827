package store_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/clock"
)

// lists are lists of merchants that take turns, in a bubble of synctest.
type lists struct {
	*store.Turns
	ended   context.Context //nolint:containedctx // it ends the lists that wait
	end     context.CancelFunc
	kind    *store.Statement
	mu      sync.Mutex // guards the other fields
	running []int64    // merchants in the order of their turns
	done    map[int64][]func()
	slow    map[int64]func() // records that the newest list of a merchant is slow
	failed  map[int64][]error
}

func newLists(t *testing.T, slots int) *lists {
	t.Helper()
	l := &lists{
		Turns: store.NewTurns(store.ListBounds(slots)),
		done:  map[int64][]func(){}, slow: map[int64]func(){}, failed: map[int64][]error{},
	}
	l.ended, l.end = context.WithCancel(t.Context())
	return l
}

// list begins a list of each merchant, one after the other, and returns when each runs, waits or
// has failed.
func (l *lists) list(merchants ...int64) { l.take(false, merchants) }

// live is list in live mode; merchant 0 is for operators.
func (l *lists) live(merchants ...int64) { l.take(true, merchants) }

func (l *lists) take(live bool, merchants []int64) {
	for _, m := range merchants {
		go func() {
			tenant := payment.Tenant{Merchant: m, Live: live && m != 0}
			done, found, err := l.TakeList(l.ended, store.Caller{Tenant: tenant}, l.kind)
			l.mu.Lock()
			defer l.mu.Unlock()
			if err != nil {
				l.failed[m] = append(l.failed[m], err)
				return
			}
			l.running = append(l.running, m)
			l.done[m] = append(l.done[m], done)
			l.slow[m] = found
		}()
		synctest.Wait()
	}
}

// leave ends the oldest list of a merchant that runs.
func (l *lists) leave(m int64) {
	l.mu.Lock()
	done := l.done[m][0]
	l.done[m] = l.done[m][1:]
	l.mu.Unlock()
	done()
	synctest.Wait()
}

// found records that the newest list of a merchant is slow.
func (l *lists) found(m int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.slow[m]()
}

// errors returns the errors of a merchant's lists.
func (l *lists) errors(m int64) []error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed[m]
}

func (l *lists) want(t *testing.T, merchants ...int64) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Equal(l.running, merchants) {
		t.Errorf("turns: got %v, want %v", l.running, merchants)
	}
}

// TestTurnsShare: a merchant has one slot, even if more are free. The others are for merchants
// without a running list.
func TestTurnsShare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLists(t, 4)
		l.list(1, 1, 1, 1)
		l.want(t, 1)
		l.list(2, 2, 3)
		l.want(t, 1, 2, 3)
		l.leave(1)
		l.want(t, 1, 2, 3, 1)
		l.list(4, 5)
		l.want(t, 1, 2, 3, 1, 4)
		l.end()
	})
}

// TestTurnsOfLiveMode: lists of live mode, and of operators, have their turns before lists of test
// mode. A list of test mode that is next lets one of them pass. If too many lists wait, one of test
// mode is evicted.
func TestTurnsOfLiveMode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLists(t, 2)
		l.list(1, 2, 3)
		l.live(4, 5, 0)
		l.want(t, 1, 2)
		l.leave(1)
		l.want(t, 1, 2, 4)
		l.leave(2)
		l.want(t, 1, 2, 4, 3)
		l.leave(4)
		l.want(t, 1, 2, 4, 3, 5)
		l.leave(3)
		l.want(t, 1, 2, 4, 3, 5, 0)
		l.live(9)
		for m := range int64(l.Queues) {
			l.list(10 + m)
		}
		if got := l.errors(9); len(got) > 0 {
			t.Errorf("a list of live mode: got %v", got)
		}
		l.leave(0)
		l.want(t, 1, 2, 4, 3, 5, 0, 9)
		l.end()
	})
}

// TestTurnsGoRound: a merchant has its next turn after all other merchants whose lists wait.
func TestTurnsGoRound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLists(t, 2)
		l.list(1, 2, 1, 1, 1, 2, 2, 3, 3)
		l.want(t, 1, 2)
		l.leave(1)
		l.want(t, 1, 2, 3)
		l.leave(2)
		l.want(t, 1, 2, 3, 1)
		l.leave(3)
		l.want(t, 1, 2, 3, 1, 2)
		l.leave(2)
		l.want(t, 1, 2, 3, 1, 2, 3)
		l.leave(3)
		l.leave(1)
		l.want(t, 1, 2, 3, 1, 2, 3, 2, 1)
		l.end()
	})
}

// TestTurnsWait: a list that waits for too long fails, and its error names the reason. Neither that
// list nor one whose client has gone takes a turn.
func TestTurnsWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLists(t, 2)
		l.list(1, 2, 1, 3)
		gone, leave := context.WithCancel(t.Context())
		go func() { _, _ = l.Take(gone, store.Caller{Tenant: payment.Tenant{Merchant: 4}}) }() // it never has a turn
		synctest.Wait()
		leave()
		time.Sleep(l.Wait - time.Nanosecond)
		synctest.Wait()
		if got := slices.Concat(l.errors(1), l.errors(3)); len(got) > 0 {
			t.Errorf("failed before the time: %v", got)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if got := l.errors(1); len(got) != 1 || !errors.Is(got[0], payment.ErrTooManyLists) {
			t.Errorf("behind the merchant's own list: got %v, want %v", got, payment.ErrTooManyLists)
		}
		if got := l.errors(3); len(got) != 1 || !errors.Is(got[0], store.ErrBusy) {
			t.Errorf("behind the lists of others: got %v, want %v", got, store.ErrBusy)
		}
		l.leave(1)
		l.leave(2)
		l.list(5, 6)
		l.want(t, 1, 2, 5, 6)
	})
}

// TestTurnsQueue: a merchant has at most a number of waiting lists. The lists of other merchants
// wait nevertheless.
func TestTurnsQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLists(t, 2)
		for range 1 + int64(l.Queue) {
			l.list(1)
		}
		if got := l.errors(1); len(got) > 0 {
			t.Errorf("within the bound: %v", got)
		}
		l.list(1)
		if got := l.errors(1); len(got) != 1 || !errors.Is(got[0], payment.ErrTooManyLists) {
			t.Errorf("got %v, want %v", got, payment.ErrTooManyLists)
		}
		l.list(2, 2)
		l.want(t, 1, 2)
		l.end()
	})
}

// newSlowLists returns turns of two slots, after slow lists of merchants 1 and 2.
func newSlowLists(t *testing.T) *lists {
	t.Helper()
	l := newLists(t, 2)
	l.kind = store.ListTransactions
	l.list(1, 2)
	l.found(1)
	l.found(2)
	l.leave(1)
	l.leave(2)
	return l
}

// TestTurnsOfSlowLists: all slow lists together have half of the slots, and the other half is for
// quick ones. A merchant's lists of another kind stay quick if one kind is slow.
func TestTurnsOfSlowLists(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newSlowLists(t)
		l.list(1, 2, 3)
		l.want(t, 1, 2, 1, 3)
		l.leave(3)
		l.want(t, 1, 2, 1, 3)
		l.leave(1) // a quick one
		l.want(t, 1, 2, 1, 3, 2)
		l.list(1)
		l.want(t, 1, 2, 1, 3, 2)
		l.kind = store.ListCustomers
		l.list(4)
		l.want(t, 1, 2, 1, 3, 2, 4)
		l.leave(4)
		l.list(5, 1)
		l.leave(5)
		l.leave(2)
		l.want(t, 1, 2, 1, 3, 2, 4, 5, 1)
		l.end()
	})
}

// TestSlowListsOfAMinuteAgo: a kind of lists that was slow has a quick turn again after a minute.
func TestSlowListsOfAMinuteAgo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newSlowLists(t)
		time.Sleep(store.SlowFor - time.Nanosecond)
		l.list(1, 2)
		l.want(t, 1, 2, 1)
		l.leave(1)
		l.want(t, 1, 2, 1, 2)
		l.leave(2)
		time.Sleep(time.Nanosecond)
		l.list(1, 2)
		l.want(t, 1, 2, 1, 2, 1, 2)
		l.end()
	})
}

// TestTurnsOfAll: the queues of all merchants are full. One more list evicts the newest list of the
// merchant with the most waiting lists.
func TestTurnsOfAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLists(t, 2)
		l.list(101, 102)
		for m := range int64(l.Queues / l.Queue) {
			for range int64(l.Queue) {
				l.list(m)
			}
		}
		l.list(7)
		failed := 0
		for m := range int64(l.Queues / l.Queue) {
			for _, err := range l.errors(m) {
				failed++
				if !errors.Is(err, payment.ErrTooManyLists) {
					t.Errorf("merchant %d: got %v, want %v", m, err, payment.ErrTooManyLists)
				}
			}
		}
		if failed != 1 || len(l.errors(7)) > 0 {
			t.Errorf("got %d failed lists and %v of the last merchant, want 1 and none", failed, l.errors(7))
		}
		l.end()
	})
}

// TestTurnsOfManyMerchants: the queues are full with one list of each merchant. The list of another
// merchant fails with ErrBusy, because its merchant is not the reason.
func TestTurnsOfManyMerchants(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLists(t, 2)
		failed := func() (out []error) {
			for m := range int64(3 + l.Queues) {
				out = append(out, l.errors(m)...)
			}
			return out
		}
		for m := range int64(2 + l.Queues) {
			l.list(m)
		}
		if got := failed(); len(got) > 0 {
			t.Fatalf("within the bound: %v", got)
		}
		l.list(2 + int64(l.Queues))
		if got := failed(); len(got) != 1 || !errors.Is(got[0], store.ErrBusy) {
			t.Errorf("got %v, want %v", got, store.ErrBusy)
		}
		l.end()
	})
}

// TestTurnsOfEndedSteps: work that ends a step goes before the tenant's other work, in its order.
// Neither the bound of its tenant's queue nor the bound of all queues refuses it.
func TestTurnsOfEndedSteps(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		errTooMany := errors.New("too many")
		turns := store.NewTurns(store.TurnBounds{
			Slots: 1, Share: 1, Wait: time.Minute, Queue: 2, Queues: 3, TooMany: errTooMany,
		})
		tenant := payment.Tenant{Merchant: 1, Live: true}
		begun := make(chan string, 8)
		release := make(chan struct{})
		work := func(ctx context.Context, name string, ends bool) {
			go func() {
				done, err := turns.Take(ctx, store.Caller{Tenant: tenant, Ends: ends})
				if err != nil {
					begun <- name + ": " + err.Error()
					return
				}
				begun <- name
				<-release
				done()
			}()
			synctest.Wait()
		}
		for _, name := range []string{"first", "second", "third"} {
			work(t.Context(), name, false)
		}
		over, end := context.WithCancel(t.Context())
		work(over, "ended", true)
		end()
		synctest.Wait()
		work(t.Context(), "end", true)
		work(t.Context(), "next end", true) // evicts the third
		work(t.Context(), "last end", true) // evicts the second
		work(t.Context(), "further end", true)
		work(t.Context(), "fourth", false) // the queue is full
		var got []string
		for range 4 {
			got = append(got, <-begun)
		}
		close(release)
		synctest.Wait()
		for len(begun) > 0 {
			got = append(got, <-begun)
		}
		want := []string{
			"first", "ended: context canceled", "third: too many", "second: too many", "fourth: too many",
			"end", "next end", "last end", "further end",
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// TestTurnsOfPayers: work of payers does not delay the work of the merchant's secret keys.
func TestTurnsOfPayers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := store.NewTurns(store.TurnBounds{
			Slots: 2, Share: 1, Wait: time.Minute, Queue: 1, Queues: 1, TooMany: payment.ErrTooManyChanges,
		})
		for _, payer := range []bool{true, false} {
			if _, err := turns.Take(t.Context(), store.Caller{Tenant: payment.Tenant{Merchant: 1}, Payer: payer}); err != nil {
				t.Errorf("payer %t: %v", payer, err)
			}
		}
	})
}

// TestEndsOfStepsWaitLonger: the end of a step waits twice as long for its turn.
func TestEndsOfStepsWaitLonger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := store.NewTurns(store.TurnBounds{
			Slots: 1, Share: 1, Wait: time.Minute, Queue: 1, Queues: 2, TooMany: payment.ErrTooManyChanges,
		})
		c := store.Caller{Tenant: payment.Tenant{Merchant: 1}}
		if _, err := turns.Take(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		for ends, want := range map[bool]time.Duration{false: time.Minute, true: 2 * time.Minute} {
			begin := clock.Monotonic()
			c.Ends = ends
			if _, err := turns.Take(t.Context(), c); !errors.Is(err, payment.ErrTooManyChanges) {
				t.Errorf("ends %t: got %v", ends, err)
			}
			if got := clock.Monotonic() - begin; got != want {
				t.Errorf("ends %t: waited %s, want %s", ends, got, want)
			}
		}
	})
}

// TestEndsOfStepsUseKeptSlots: a merchant's work has all slots that it may have. One end of a step
// has another slot, unless that is the last one. The next end waits, so that other merchants have
// theirs.
func TestEndsOfStepsUseKeptSlots(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := store.NewTurns(store.TurnBounds{
			Slots: 5, Share: 2, Wait: time.Minute, Queue: 8, Queues: 8, TooMany: payment.ErrTooManyChanges,
		})
		one := payment.Tenant{Merchant: 1}
		take := func(c store.Caller, want error) (done func()) {
			t.Helper()
			done, err := turns.Take(t.Context(), c)
			if !errors.Is(err, want) {
				t.Fatalf("%v: got %v, want %v", c, err, want)
			}
			return done
		}
		take(store.Caller{Tenant: one}, nil)
		take(store.Caller{Tenant: one}, nil)
		take(store.Caller{Tenant: one}, payment.ErrTooManyChanges)
		for range 2 { // also after an end has ended
			done := take(store.Caller{Tenant: one, Ends: true}, nil)
			take(store.Caller{Tenant: one, Ends: true}, payment.ErrTooManyChanges)
			others := take(store.Caller{Tenant: payment.Tenant{Merchant: 2}}, nil)
			further := take(store.Caller{Tenant: payment.Tenant{Merchant: 3}}, nil)
			done()
			take(store.Caller{Tenant: one, Ends: true}, payment.ErrTooManyChanges) // one slot is left
			others()
			further()
		}
	})
}

// TestTurnsOfStuckWork: no work succeeds for as long as work waits for its turn. Then the reason is
// neither the caller nor the others. Work that comes while there is none begins that time anew.
func TestTurnsOfStuckWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		errStuck := errors.New("stuck")
		turns := store.NewTurns(store.TurnBounds{
			Slots: 1, Share: 1, Wait: time.Minute, Queue: 1, Queues: 2, TooMany: payment.ErrTooManyChanges, Stuck: errStuck,
		})
		one, other := store.Caller{Tenant: payment.Tenant{Merchant: 1}}, store.Caller{Tenant: payment.Tenant{Merchant: 2}}
		want := func(c store.Caller, want error) {
			t.Helper()
			if _, err := turns.Take(t.Context(), c); !errors.Is(err, want) {
				t.Errorf("got %v, want %v", err, want)
			}
		}
		time.Sleep(time.Hour)
		done, err := turns.Take(t.Context(), one)
		if err != nil {
			t.Fatal(err)
		}
		gone, leave := context.WithCancel(t.Context())
		go func() { _, _ = turns.Take(gone, one) }() // it never has a turn
		synctest.Wait()
		want(one, payment.ErrTooManyChanges) // its queue is full
		leave()
		synctest.Wait()
		want(one, errStuck)
		want(other, errStuck)
		time.AfterFunc(time.Second, turns.Succeeded)
		want(one, payment.ErrTooManyChanges)
		time.AfterFunc(time.Second, turns.Succeeded)
		want(other, store.ErrBusy)
		time.Sleep(time.Hour)
		if _, err := turns.Take(gone, other); !errors.Is(err, context.Canceled) {
			t.Errorf("a client that has gone: got %v, want %v", err, context.Canceled)
		}
		done()
	})
}

// TestTurnsOfModes: work of a merchant in test mode does not delay its work in live mode.
func TestTurnsOfModes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := store.NewTurns(store.TurnBounds{
			Slots: 2, Share: 1, Wait: time.Minute, Queue: 1, Queues: 1, TooMany: payment.ErrTooManyChanges,
		})
		for _, live := range []bool{false, true} {
			if _, err := turns.Take(t.Context(), store.Caller{Tenant: payment.Tenant{Merchant: 1, Live: live}}); err != nil {
				t.Errorf("live %t: %v", live, err)
			}
		}
	})
}
