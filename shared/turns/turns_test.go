package turns_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/turns"
)

var (
	errTooMany = errors.New("too many")
	errBusy    = errors.New("busy")
)

// calls are the work of callers, in a bubble of synctest. Callers above 0 are later.
type calls struct {
	*turns.Turns[int]
	ended  context.Context //nolint:containedctx // it ends the work that waits
	end    context.CancelFunc
	mu     sync.Mutex // guards the other fields
	begun  []int      // callers in the order of their turns, since the last check
	turns  map[int][]*turns.Turn[int]
	failed map[int][]error
}

// newCalls returns turns with the bounds of lists: half of the slots are for quick work.
func newCalls(t *testing.T, slots int) *calls {
	t.Helper()
	c := &calls{turns: map[int][]*turns.Turn[int]{}, failed: map[int][]error{}}
	c.Turns = turns.New(turns.Bounds[int]{
		Slots: slots, Share: 1, Wait: 10 * time.Second, Queue: 32, Queues: 128, Slow: slots / 2,
		Later: func(caller int) bool { return caller > 0 }, TooMany: errTooMany, Busy: errBusy,
	})
	c.ended, c.end = context.WithCancel(t.Context())
	return c
}

// begin begins work of each caller, one after the other, and returns when each runs, waits or has
// failed.
func (c *calls) begin(callers ...int) { c.take(nil, callers) }

func (c *calls) take(slow func() bool, callers []int) {
	for _, caller := range callers {
		go func() {
			turn, err := c.Take(c.ended, turns.Work[int]{Caller: caller, Slow: slow})
			c.mu.Lock()
			defer c.mu.Unlock()
			if err != nil {
				c.failed[caller] = append(c.failed[caller], err)
				return
			}
			c.begun = append(c.begun, caller)
			c.turns[caller] = append(c.turns[caller], turn)
		}()
		synctest.Wait()
	}
}

// leave ends the oldest work of a caller that runs. Next is whose work begins then.
func (c *calls) leave(t *testing.T, caller int, next ...int) {
	t.Helper()
	c.done(caller)
	c.want(t, next...)
}

// done ends the oldest work of a caller that runs, if there is some.
func (c *calls) done(caller int) {
	c.mu.Lock()
	running := c.turns[caller]
	if len(running) > 0 {
		c.turns[caller] = running[1:]
	}
	c.mu.Unlock()
	if len(running) > 0 {
		running[0].Done()
	}
	synctest.Wait()
}

// errors returns the errors of some callers' work.
func (c *calls) errors(callers ...int) (out []error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, caller := range callers {
		out = append(out, c.failed[caller]...)
	}
	return out
}

// wantErrors checks the number of errors of a caller's work, and that each is want.
func (c *calls) wantErrors(t *testing.T, caller, n int, want error) {
	t.Helper()
	got := c.errors(caller)
	if len(got) != n || n > 0 && !errors.Is(got[0], want) {
		t.Errorf("caller %d: got %v, want %d times %v", caller, got, n, want)
	}
}

// want checks whose work has begun since the last check.
func (c *calls) want(t *testing.T, callers ...int) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Equal(c.begun, callers) {
		t.Errorf("turns: got %v, want %v", c.begun, callers)
	}
	c.begun = nil
}

// TestShare: a caller has one slot, even if more are free. The other slots are for callers without
// running work.
func TestShare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCalls(t, 4)
		c.begin(1, 1, 1, 1)
		c.want(t, 1)
		c.begin(2, 2, 3)
		c.want(t, 2, 3)
		c.leave(t, 1, 1)
		c.begin(4, 5)
		c.want(t, 4)
		c.end()
	})
}

// TestLater: callers that are not later have their turns first. If a later caller is next, it lets
// one other caller pass. If too much work waits, work of a later caller is evicted.
func TestLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCalls(t, 2)
		c.begin(1, 2, 3, -4, -5, 0)
		c.want(t, 1, 2)
		c.leave(t, 1, -4)
		c.leave(t, 2, 3)
		c.leave(t, -4, -5)
		c.leave(t, 3, 0)
		c.begin(-9, -9) // the most waiting work
		for caller := range c.Queues {
			c.begin(10 + caller)
		}
		c.wantErrors(t, -9, 0, nil)
		c.leave(t, 0, -9)
		c.end()
	})
}

// TestLaterDuringQuickWork: a caller that is not later always has slow work. A later caller's quick
// work has the other slot again and again. Another later caller's slow work still has its turn.
func TestLaterDuringQuickWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCalls(t, 2)
		slow := func() bool { return true }
		c.take(slow, []int{-1, -1})
		c.begin(1, 1)
		c.take(slow, []int{2})
		for range 4 {
			c.done(1)
			c.begin(1)
			c.done(-1)
			c.take(slow, []int{-1})
		}
		if len(c.turns[2]) == 0 {
			t.Error("the slow work of the other later caller has no turn")
		}
		c.end()
		synctest.Wait()
	})
}

// TestRotation: a caller has its next turn after all other callers whose work waits.
func TestRotation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCalls(t, 2)
		c.begin(1, 2, 1, 1, 1, 2, 2, 3, 3)
		c.want(t, 1, 2)
		c.leave(t, 1, 3)
		c.leave(t, 2, 1)
		c.leave(t, 3, 2)
		c.leave(t, 2, 3)
		c.leave(t, 3, 2)
		c.leave(t, 1, 1)
		c.end()
	})
}

// TestWait: work that waits for too long fails, and its error names the reason. Neither that work
// nor the work of a disconnected client uses a turn.
func TestWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCalls(t, 2)
		c.begin(1, 2, 1, 3)
		c.want(t, 1, 2)
		gone, leave := context.WithCancel(t.Context())
		go func() { _, _ = c.Take(gone, turns.Work[int]{Caller: 4}) }() // it never has a turn
		synctest.Wait()
		leave()
		time.Sleep(c.Wait - time.Nanosecond)
		synctest.Wait()
		if got := c.errors(1, 3); len(got) > 0 {
			t.Errorf("failed before the time: %v", got)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		c.wantErrors(t, 1, 1, errTooMany) // after the caller's own work
		c.wantErrors(t, 3, 1, errBusy)    // behind the work of others
		c.leave(t, 1)
		c.leave(t, 2)
		c.begin(5, 6)
		c.want(t, 5, 6)
	})
}

// TestWaitBehindOwnWork: work of a caller whose earlier work waits too fails because of the caller,
// also if the work of another caller runs then.
func TestWaitBehindOwnWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCalls(t, 1)
		c.begin(1, 2, 2)
		c.want(t, 1)
		time.Sleep(c.Wait - time.Nanosecond)
		c.leave(t, 1, 2)
		c.begin(1, 1)
		c.leave(t, 2, 1)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		c.wantErrors(t, 2, 1, errTooMany) // its first work had a turn
		time.Sleep(c.Wait)
		synctest.Wait()
		c.wantErrors(t, 1, 1, errTooMany)
		c.leave(t, 1)
	})
}

// TestQueue: a bounded number of a caller's work waits. The work of others waits nevertheless.
func TestQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCalls(t, 2)
		for range 1 + c.Queue {
			c.begin(1)
		}
		c.wantErrors(t, 1, 0, nil)
		c.begin(1)
		c.wantErrors(t, 1, 1, errTooMany)
		c.begin(2, 2)
		c.want(t, 1, 2)
		c.end()
	})
}

// TestSlow: all slow work together has half of the slots, and the other half is for quick work.
// Work that waits can become slow, or quick.
func TestSlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCalls(t, 2)
		var slow sync.Map
		begin := func(callers ...int) {
			for _, caller := range callers {
				c.take(func() bool { _, is := slow.Load(caller); return is }, []int{caller})
			}
		}
		slow.Store(1, true)
		slow.Store(2, true)
		begin(1, 2, 3)
		c.want(t, 1, 3)
		c.leave(t, 3)
		c.leave(t, 1, 2)
		begin(1)
		c.want(t)
		slow.Delete(1)
		begin(4)
		c.want(t, 1)
		slow.Store(4, true)
		c.leave(t, 1)
		c.leave(t, 2, 4)
		c.end()
	})
}

// TestQueues: the queues of all callers are full. One more piece of work evicts the newest piece of
// the caller with the most waiting work.
func TestQueues(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCalls(t, 2)
		c.begin(101, 102)
		full := []int{0, 1, 2, 3}
		for _, caller := range full {
			for range c.Queues / len(full) {
				c.begin(caller)
			}
		}
		c.begin(7)
		if got := c.errors(full...); len(got) != 1 || !errors.Is(got[0], errTooMany) || len(c.errors(7)) > 0 {
			t.Errorf("got %v and %v of the last caller, want one %v and none", got, c.errors(7), errTooMany)
		}
		c.end()
	})
}

// TestQueuesOfManyCallers: the queues are full with one piece of work of each caller. The work of
// another caller fails with Busy, because its caller is not the reason.
func TestQueuesOfManyCallers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCalls(t, 2)
		last := 2 + c.Queues
		all := make([]int, last)
		for i := range all {
			all[i] = i
		}
		c.begin(all...)
		if got := c.errors(all...); len(got) > 0 {
			t.Fatalf("within the bound: %v", got)
		}
		c.begin(last)
		if got := c.errors(append(all, last)...); len(got) != 1 || !errors.Is(got[0], errBusy) {
			t.Errorf("got %v, want %v", got, errBusy)
		}
		c.end()
	})
}

// TestEvictionAmongEquals: if callers have equally much waiting work, the caller with the last turn
// loses a piece. So the work that has waited longest stays, and no caller loses two pieces of work
// before the other callers lose one.
func TestEvictionAmongEquals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCalls(t, 2)
		equals := []int{11, 12, 13, 14}
		c.Queues, c.Queue = 2*len(equals), 2
		c.begin(1, 2) // these hold the slots
		c.begin(equals...)
		c.begin(equals...)
		c.begin(21, 22, 23)
		c.wantErrors(t, equals[0], 0, nil)
		for _, caller := range equals[1:] {
			c.wantErrors(t, caller, 1, errTooMany)
		}
		c.end()
	})
}

// TestEvictionKeepsTheNextTurn: each caller has one piece of waiting work. A further piece is
// refused itself. The work with the next turn is not evicted.
func TestEvictionKeepsTheNextTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCalls(t, 2)
		c.Queues = 3
		c.begin(1, 2, 11, 12, 13, 14)
		c.wantErrors(t, 14, 1, errBusy)
		c.leave(t, 1, 1, 2, 11)
		c.end()
	})
}

// newTurns returns turns for which work waits for a minute.
func newTurns(slots, share, queue, queues int) *turns.Turns[int] {
	return turns.New(turns.Bounds[int]{
		Slots: slots, Share: share, Wait: time.Minute, Queue: queue, Queues: queues, TooMany: errTooMany, Busy: errBusy,
	})
}

// TestEnds: work that ends a step goes before the caller's other work, in its order.
// Neither the bound of its caller's queue nor the bound of all queues refuses it.
func TestEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		all := newTurns(1, 1, 2, 3)
		begun := make(chan string, 8)
		release := make(chan struct{})
		work := func(ctx context.Context, name string, ends bool) {
			go func() {
				turn, err := all.Take(ctx, turns.Work[int]{Ends: ends})
				if err != nil {
					begun <- name + ": " + err.Error()
					return
				}
				begun <- name
				<-release
				turn.Done()
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

// TestEndsWaitLonger: the end of a step waits twice as long for its turn.
func TestEndsWaitLonger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		all := newTurns(1, 1, 1, 2)
		if _, err := all.Take(t.Context(), turns.Work[int]{}); err != nil {
			t.Fatal(err)
		}
		for ends, want := range map[bool]time.Duration{false: time.Minute, true: 2 * time.Minute} {
			begin := clock.Monotonic()
			if _, err := all.Take(t.Context(), turns.Work[int]{Ends: ends}); !errors.Is(err, errTooMany) {
				t.Errorf("ends %t: got %v", ends, err)
			}
			if got := clock.Monotonic() - begin; got != want {
				t.Errorf("ends %t: waited %s, want %s", ends, got, want)
			}
		}
	})
}

// TestEndsUseKeptSlots: a caller's work has all slots that it may have. One end of a step gets
// another slot, unless that is the last one. The next end waits, so that other callers get slots.
func TestEndsUseKeptSlots(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		all := newTurns(5, 2, 8, 8)
		take := func(caller int, ends bool, want error) *turns.Turn[int] {
			t.Helper()
			turn, err := all.Take(t.Context(), turns.Work[int]{Caller: caller, Ends: ends})
			if !errors.Is(err, want) {
				t.Fatalf("%d: got %v, want %v", caller, err, want)
			}
			return turn
		}
		take(1, false, nil)
		take(1, false, nil)
		take(1, false, errTooMany)
		for range 2 { // also after an end has ended
			end := take(1, true, nil)
			take(1, true, errTooMany)
			other, further := take(2, false, nil), take(3, false, nil)
			end.Done()
			take(1, true, errTooMany) // one slot is left
			other.Done()
			further.Done()
		}
	})
}

// TestStuck: no work succeeds for as long as work waits for its turn. Then the reason is
// neither the caller nor the others. Work that comes while there is none restarts that time.
func TestStuck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		errStuck := errors.New("stuck")
		all := newTurns(1, 1, 1, 2)
		all.Stuck = errStuck
		one, other := turns.Work[int]{Caller: 1}, turns.Work[int]{Caller: 2}
		want := func(w turns.Work[int], want error) {
			t.Helper()
			if _, err := all.Take(t.Context(), w); !errors.Is(err, want) {
				t.Errorf("got %v, want %v", err, want)
			}
		}
		for range 2 { // no work of the first round is left in the second one
			time.Sleep(time.Hour)
			turn, err := all.Take(t.Context(), one)
			if err != nil {
				t.Fatal(err)
			}
			gone, leave := context.WithCancel(t.Context())
			go func() { _, _ = all.Take(gone, one) }() // it never has a turn
			synctest.Wait()
			want(one, errTooMany) // its queue is full
			leave()
			synctest.Wait()
			want(one, errStuck)
			want(other, errStuck)
			time.AfterFunc(time.Second, all.Succeeded)
			want(one, errTooMany)
			time.AfterFunc(time.Second, all.Succeeded)
			want(other, errBusy)
			time.Sleep(time.Hour)
			if _, err := all.Take(gone, other); !errors.Is(err, context.Canceled) {
				t.Errorf("a client that has gone: got %v, want %v", err, context.Canceled)
			}
			turn.Done()
		}
	})
}
