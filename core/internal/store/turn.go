package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
)

// Work of a kind is slow for slowFor after Turns.found, even if quick work of the kind follows. The
// memory of slow work is emptied when it has maxSlow entries.
const (
	slowFor = time.Minute
	maxSlow = 10_000
)

// TurnBounds are the bounds of work for which callers take turns. Work that waits holds one of the
// requests that core serves at the same time.
type TurnBounds struct {
	// Slots bounds the work that runs at the same time. Share of the slots are for the work of any
	// caller. The other slots are for callers without running work. A caller of which no end of a step
	// runs can also use one of them for such an end, but not the last one.
	Slots, Share int
	// Wait is how long work waits for its turn.
	Wait time.Duration
	// Queue bounds the waiting work of one caller, and Queues the waiting work of all callers.
	Queue, Queues int
	// Slow bounds the slow work that runs at the same time.
	Slow int
	// LiveFirst gives live mode and operators their turns before test mode, but not twice in a row if
	// test mode is next.
	LiveFirst bool
	// TooMany is the error of work that fails because of other work of its caller.
	TooMany error
	// Stuck is the error of work without a turn if no work has succeeded for Wait: see
	// Turns.Succeeded. With nil it is TooMany or ErrBusy then, too.
	Stuck error
}

// Turns bounds the work that runs at the same time: lists, or commands on a server. Callers with
// waiting work take turns.
type Turns struct {
	TurnBounds

	mu      sync.Mutex
	running int
	slow    int // running slow work
	waiting int
	queues  []*callerQueue             // of callers with work, in the order of their next turns
	slowAt  map[slowWork]time.Duration // when work was found slow, on the monotonic clock
	// succeeded is when work last succeeded, or when work came while there was none, on the monotonic
	// clock.
	succeeded time.Duration
	preferred bool // LiveFirst has decided for live mode, and test mode has had no turn since
}

// slowWork is a kind of work of a caller. A merchant's other lists stay quick if one is slow.
type slowWork struct {
	caller Caller
	kind   *Statement
}

// callerQueue is the running and waiting work of one caller.
type callerQueue struct {
	caller  Caller
	running int
	ends    int     // running work that ends a step
	ending  int     // number of turns at the head of waiting that end a step
	waiting []*turn // in order: the first one is the caller's next turn
}

// turn is the turn of one piece of work.
type turn struct {
	of    *callerQueue
	kind  *Statement // nil for work that is not found slow
	ends  bool
	ready chan error // receives nil when the turn begins, or the error if it does not
	slow  bool       // it has one of the slots of slow work
}

// NewTurns returns turns with these bounds.
func NewTurns(b TurnBounds) *Turns {
	return &Turns{TurnBounds: b, slowAt: map[slowWork]time.Duration{}}
}

// Take waits for a turn of the caller. It calls done when its work has ended. Work that ends a step
// goes before the caller's other work, waits twice as long, and is not refused for its number.
// TooMany if other work of the caller runs for too long, or too much of it waits. ErrBusy if the
// work of other callers is the reason. Stuck instead of both if no work succeeds.
func (t *Turns) Take(ctx context.Context, c Caller) (done func(), err error) {
	turn, err := t.take(ctx, c, nil, false)
	if err != nil {
		return nil, err
	}
	return func() { t.leave(turn) }, nil
}

// take is Take for a kind of work. It is slow if slow is true, or if the kind was found slow.
func (t *Turns) take(ctx context.Context, c Caller, kind *Statement, slow bool) (*turn, error) {
	turn, err := t.enqueue(c, kind, slow)
	if err != nil {
		return nil, t.reason(err)
	}
	wait := t.Wait
	if c.Ends {
		wait *= 2
	}
	over := time.NewTimer(wait)
	defer over.Stop()
	select {
	case err = <-turn.ready:
	case <-over.C:
		err = t.withdraw(turn, fmt.Errorf("%w: the work of other merchants takes too long", ErrBusy))
	case <-ctx.Done():
		err = t.withdraw(turn, ctx.Err())
	}
	if err != nil {
		return nil, t.reason(err)
	}
	return turn, nil
}

// Waiting returns how much work waits for its turn.
func (t *Turns) Waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.waiting
}

// Succeeded records that work has succeeded, with a turn or without one.
func (t *Turns) Succeeded() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.succeeded = clock.Monotonic()
}

// reason returns the error of work without a turn. The callers and their number are not the reason
// if no work has succeeded for as long as work waits for its turn.
func (t *Turns) reason(err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.Stuck == nil || !errors.Is(err, t.TooMany) && !errors.Is(err, ErrBusy) {
		return err
	}
	if clock.Monotonic()-t.succeeded < t.Wait {
		return err
	}
	return t.Stuck
}

// enqueue adds work to the caller's queue. Its turn may begin at once.
func (t *Turns) enqueue(c Caller, kind *Statement, slow bool) (*turn, error) {
	ends := c.Ends
	c.Ends, c.Bulk = false, false
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.queues) == 0 {
		t.succeeded = clock.Monotonic()
	}
	i := slices.IndexFunc(t.queues, func(q *callerQueue) bool { return q.caller == c })
	if i < 0 {
		i = len(t.queues)
		t.queues = append(t.queues, &callerQueue{caller: c})
	}
	q := t.queues[i]
	at := len(q.waiting)
	switch {
	case ends:
		at = q.ending
		q.ending++
	case at >= t.Queue:
		return nil, t.TooMany
	}
	turn := &turn{of: q, kind: kind, ends: ends, slow: slow, ready: make(chan error, 1)}
	q.waiting = slices.Insert(q.waiting, at, turn)
	t.waiting++
	t.next()
	if t.waiting > t.Queues {
		t.evict()
	}
	return turn, nil
}

// next begins turns while a slot is free for waiting work. The caller holds mu.
func (t *Turns) next() {
	for t.running < t.Slots {
		i := t.nextQueue()
		if i < 0 {
			return
		}
		q := t.queues[i]
		turn := q.waiting[0]
		turn.slow = t.isSlow(turn)
		t.dequeue(turn)
		q.running++
		t.running++
		if turn.ends {
			q.ends++
		}
		if turn.slow {
			t.slow++
		}
		turn.ready <- nil
	}
}

// nextQueue returns the index of the queue whose next work may run in a free slot, or -1. The
// caller holds mu.
func (t *Turns) nextQueue() int {
	next := slices.IndexFunc(t.queues, t.mayRun)
	if !t.LiveFirst || next < 0 || !t.queues[next].caller.test() {
		return next
	}
	live := slices.IndexFunc(t.queues, func(q *callerQueue) bool { return !q.caller.test() && t.mayRun(q) })
	t.preferred = live >= 0 && !t.preferred
	if t.preferred {
		return live
	}
	return next
}

// mayRun reports whether a caller's next work may run in a free slot. The caller holds mu.
func (t *Turns) mayRun(q *callerQueue) bool {
	if len(q.waiting) == 0 {
		return false
	}
	first := q.running == 0 || q.waiting[0].ends && q.ends == 0 && t.running < t.Slots-1
	return (first || t.running < t.Share) && (t.slow < t.Slow || !t.isSlow(q.waiting[0]))
}

// isSlow reports whether work is slow. The caller holds mu.
func (t *Turns) isSlow(w *turn) bool {
	at, found := t.slowAt[slowWork{w.of.caller, w.kind}]
	return w.slow || found && clock.Monotonic()-at < slowFor
}

// found records that work was slow: work of its kind is slow from now on.
func (t *Turns) found(w *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.slowAt) >= maxSlow {
		clear(t.slowAt)
	}
	t.slowAt[slowWork{w.of.caller, w.kind}] = clock.Monotonic()
}

// evict refuses the newest work of the caller with the most waiting work. With LiveFirst that is a
// caller in test mode, if any waits. Of callers with equally much, it is the one whose next turn
// comes last. Work that ends a step stays. The caller holds mu.
func (t *Turns) evict() {
	refusable := func(q *callerQueue) int {
		n := len(q.waiting) - q.ending
		if t.LiveFirst && n > 0 && q.caller.test() {
			n += t.Queues
		}
		return n
	}
	q := t.queues[0]
	for _, other := range t.queues[1:] {
		if refusable(other) >= refusable(q) {
			q = other
		}
	}
	if refusable(q) == 0 {
		return
	}
	last := q.waiting[len(q.waiting)-1]
	err := t.TooMany
	if len(q.waiting) == 1 && q.running == 0 {
		err = fmt.Errorf("%w: too much work waits", ErrBusy)
	}
	t.remove(last)
	last.ready <- err
}

// leave ends work that had its turn. All other callers have a turn before its caller's next one.
func (t *Turns) leave(turn *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := turn.of
	q.running--
	t.running--
	if turn.ends {
		q.ends--
	}
	if turn.slow {
		t.slow--
	}
	t.forget(q)
	if q.running > 0 || len(q.waiting) > 0 {
		t.queues = append(t.queues, q)
	}
	t.next()
}

// withdraw removes waiting work and returns why, but TooMany for ErrBusy if other work of its
// caller runs. It returns nil if the turn has begun meanwhile.
func (t *Turns) withdraw(turn *turn, why error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := turn.of
	if !slices.Contains(q.waiting, turn) {
		return <-turn.ready
	}
	t.remove(turn)
	if q.running > 0 && errors.Is(why, ErrBusy) {
		return t.TooMany
	}
	return why
}

// remove removes waiting work, and the queue of its caller if that is empty. The caller holds mu.
func (t *Turns) remove(turn *turn) {
	q := turn.of
	t.dequeue(turn)
	if q.running == 0 && len(q.waiting) == 0 {
		t.forget(q)
	}
}

// dequeue removes waiting work from its queue. The caller holds mu.
func (t *Turns) dequeue(w *turn) {
	q := w.of
	q.waiting = slices.DeleteFunc(q.waiting, func(other *turn) bool { return other == w })
	t.waiting--
	if w.ends {
		q.ending--
	}
}

// forget removes the queue of a caller. The caller holds mu.
func (t *Turns) forget(q *callerQueue) {
	t.queues = slices.DeleteFunc(t.queues, func(other *callerQueue) bool { return other == q })
}
