package turns

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
)

// Bounds are the bounds of work for which callers take turns.
type Bounds[C comparable] struct {
	// Slots bounds the work that runs at the same time. Any caller can use Share of the slots. Only
	// a caller without running work can use the rest. Exception: for work that ends a step, a
	// caller with running work can use one of the rest, except the last free one.
	Slots, Share int
	// Wait is how long work waits for its turn.
	Wait time.Duration
	// Queue bounds the waiting work of one caller, and Queues the waiting work of all callers.
	Queue, Queues int
	// Slow bounds the slow work that runs at the same time.
	Slow int
	// Later reports whether other callers are preferred to a caller. That happens at most once before
	// each of its turns. Nil prefers no caller.
	Later func(C) bool
	// TooMany is the error of work that gets no turn because of other work of its caller. Busy is the
	// error if the work of other callers is the reason.
	TooMany, Busy error
	// Stuck replaces both errors if no work has succeeded for Wait: see Turns.Succeeded. Nil replaces
	// neither.
	Stuck error
}

// Work is one piece of work of a caller.
type Work[C comparable] struct {
	Caller C
	// Ends reports whether the work ends a step, such as a payment whose outcome must be written, or
	// is needed for that. It goes before the caller's other work, waits twice as long, and is not
	// refused for its number.
	Ends bool
	// Slow reports whether the work is slow now. It must not block. Nil is for work that is not slow.
	Slow func() bool
}

// Turns bounds the work that runs at the same time. Callers with waiting work take turns.
type Turns[C comparable] struct {
	Bounds[C]

	mu      sync.Mutex
	running int
	slow    int // running slow work
	waiting int
	queues  []*queue[C] // of callers with work, in the order of their next turns
	// succeeded is the monotonic time when work last succeeded, or when the first work arrived after a
	// time without work.
	succeeded time.Duration
}

// queue is the running and waiting work of one caller.
type queue[C comparable] struct {
	caller  C
	running int
	ends    int        // running work that ends a step
	waiting []*Turn[C] // in order: the first one is the caller's next turn
	passed  bool       // another caller was preferred to this one, which has had no turn since
}

// Turn is the turn of one piece of work.
type Turn[C comparable] struct {
	Slow bool // the work has one of the slots of slow work

	work  Work[C]
	turns *Turns[C]
	of    *queue[C]
	after bool       // other work of the caller waited before it
	ready chan error // receives nil when the turn begins, or the error if it does not
}

// New returns turns with these bounds.
func New[C comparable](b Bounds[C]) *Turns[C] { return &Turns[C]{Bounds: b} }

// Take waits for a turn of the caller. The caller calls Done when its work has ended. Take returns
// TooMany if other work of the caller runs or waits for too long, or too much of it waits. It
// returns Busy if the work of other callers is the reason. If no work succeeds, it returns Stuck
// instead.
func (t *Turns[C]) Take(ctx context.Context, w Work[C]) (*Turn[C], error) {
	turn, err := t.enqueue(w)
	if err != nil {
		return nil, t.reason(err)
	}
	wait := t.Wait
	if w.Ends {
		wait *= 2
	}
	over := time.NewTimer(wait)
	defer over.Stop()
	select {
	case err = <-turn.ready:
	case <-over.C:
		err = t.withdraw(turn, fmt.Errorf("%w: the work of other callers takes too long", t.Busy))
	case <-ctx.Done():
		err = t.withdraw(turn, ctx.Err())
	}
	if err != nil {
		return nil, t.reason(err)
	}
	return turn, nil
}

// Waiting returns how much work waits for its turn.
func (t *Turns[C]) Waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.waiting
}

// Succeeded records that work has succeeded, with a turn or without one.
func (t *Turns[C]) Succeeded() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.succeeded = clock.Monotonic()
}

// reason returns the error of work without a turn. The callers and their number are not the reason
// if no work has succeeded for as long as work waits for its turn.
func (t *Turns[C]) reason(err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.Stuck == nil || !errors.Is(err, t.TooMany) && !errors.Is(err, t.Busy) {
		return err
	}
	if clock.Monotonic()-t.succeeded < t.Wait {
		return err
	}
	return t.Stuck
}

// enqueue adds work to the caller's queue. Its turn may begin immediately.
func (t *Turns[C]) enqueue(w Work[C]) (*Turn[C], error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.queues) == 0 {
		t.succeeded = clock.Monotonic()
	}
	i := slices.IndexFunc(t.queues, func(q *queue[C]) bool { return q.caller == w.Caller })
	if i < 0 {
		i = len(t.queues)
		t.queues = append(t.queues, &queue[C]{caller: w.Caller})
	}
	q := t.queues[i]
	at := len(q.waiting)
	switch {
	case w.Ends:
		at = q.ending()
	case at >= t.Queue:
		return nil, t.TooMany
	}
	turn := &Turn[C]{work: w, turns: t, of: q, after: at > 0, ready: make(chan error, 1)}
	q.waiting = slices.Insert(q.waiting, at, turn)
	t.waiting++
	t.next()
	if t.waiting > t.Queues {
		t.evict()
	}
	return turn, nil
}

// ending returns the number of turns at the head of a queue that end a step.
func (q *queue[C]) ending() int {
	if n := slices.IndexFunc(q.waiting, func(w *Turn[C]) bool { return !w.work.Ends }); n >= 0 {
		return n
	}
	return len(q.waiting)
}

// next begins turns while a slot is free for waiting work. The caller holds mu.
func (t *Turns[C]) next() {
	for t.running < t.Slots {
		i := t.nextQueue()
		if i < 0 {
			return
		}
		turn := t.queues[i].waiting[0]
		turn.Slow = turn.isSlow()
		turn.count(1)
		t.dequeue(turn)
		turn.ready <- nil
	}
}

// nextQueue returns the index of the queue whose next work may run in a free slot, or -1. The
// caller holds mu.
func (t *Turns[C]) nextQueue() int {
	next := slices.IndexFunc(t.queues, t.mayRun)
	if t.Later == nil || next < 0 || !t.Later(t.queues[next].caller) {
		return next
	}
	first := slices.IndexFunc(t.queues, func(q *queue[C]) bool { return !t.Later(q.caller) && t.mayRun(q) })
	q := t.queues[next]
	q.passed = first >= 0 && !q.passed
	if q.passed {
		return first
	}
	return next
}

// mayRun reports whether a caller's next work may run in a free slot. The caller holds mu.
func (t *Turns[C]) mayRun(q *queue[C]) bool {
	if len(q.waiting) == 0 {
		return false
	}
	first := q.running == 0 || q.waiting[0].work.Ends && q.ends == 0 && t.running < t.Slots-1
	return (first || t.running < t.Share) && (t.slow < t.Slow || !q.waiting[0].isSlow())
}

func (w *Turn[C]) isSlow() bool { return w.work.Slow != nil && w.work.Slow() }

// evict refuses the newest work of the caller with the most waiting work. If work of later callers
// waits, it chooses among these callers. Among callers with equally much waiting work, it chooses
// the caller with the last turn. It does not refuse work that ends a step. The caller holds mu.
func (t *Turns[C]) evict() {
	refusable := func(q *queue[C]) int {
		n := len(q.waiting) - q.ending()
		if t.Later != nil && n > 0 && t.Later(q.caller) {
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
		err = fmt.Errorf("%w: too much work waits", t.Busy)
	}
	t.dequeue(last)
	last.ready <- err
}

// Done ends the work of a turn. All other callers have a turn before its caller's next one.
func (w *Turn[C]) Done() {
	t, q := w.turns, w.of
	t.mu.Lock()
	defer t.mu.Unlock()
	w.count(-1)
	t.queues = slices.DeleteFunc(t.queues, func(other *queue[C]) bool { return other == q })
	if !q.idle() {
		t.queues = append(t.queues, q)
	}
	t.next()
}

// count counts a running turn, by 1 when it begins and by -1 when it ends. The caller holds mu.
func (w *Turn[C]) count(n int) {
	w.of.running += n
	w.turns.running += n
	if w.work.Ends {
		w.of.ends += n
	}
	if w.Slow {
		w.turns.slow += n
	}
}

// withdraw removes waiting work and returns why. If the caller has earlier work, it returns TooMany
// instead of Busy: between two turns of a caller others have theirs. It returns nil if the turn has
// begun meanwhile.
func (t *Turns[C]) withdraw(turn *Turn[C], why error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Contains(turn.of.waiting, turn) {
		return <-turn.ready
	}
	t.dequeue(turn)
	if (turn.after || turn.of.running > 0) && errors.Is(why, t.Busy) {
		return t.TooMany
	}
	return why
}

// dequeue removes waiting work, and the queue of its caller if that is idle. The caller holds mu.
func (t *Turns[C]) dequeue(w *Turn[C]) {
	w.of.waiting = slices.DeleteFunc(w.of.waiting, func(other *Turn[C]) bool { return other == w })
	t.waiting--
	t.queues = slices.DeleteFunc(t.queues, (*queue[C]).idle)
}

// idle reports whether a caller has neither running nor waiting work.
func (q *queue[C]) idle() bool { return q.running == 0 && len(q.waiting) == 0 }
