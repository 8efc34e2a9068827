package store

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// The bounds of the lists that wait.
const (
	// listWait is how long a list waits for its turn.
	listWait = 2 * ListTime
	// listQueue is how many lists of one merchant wait.
	listQueue = 32
)

// turns bounds the lists that run at the same time. A merchant has at most a share of them, and the
// merchants whose lists wait have their turns one after the other.
type turns struct {
	slots, share int

	mu      sync.Mutex
	running int
	queues  []*merchantLists // of merchants with lists; the first one has the next turn
}

// merchantLists are the lists of one merchant.
type merchantLists struct {
	merchant int64
	running  int
	waiting  []chan struct{} // closed at the list's turn; the first one waits for longest
}

// newTurns returns turns for a number of lists at the same time. A merchant has at most half of
// them.
func newTurns(slots int) *turns { return &turns{slots: slots, share: max(1, slots/2)} }

// take waits for a turn of the merchant. The caller calls done when its list has ended.
// payment.ErrTooManyLists if the merchant's other lists are in the way for too long, or too many of
// them wait. ErrBusy if the lists of other merchants are in the way.
func (t *turns) take(ctx context.Context, merchant int64) (done func(), err error) {
	turn, q, err := t.enqueue(merchant)
	if err != nil {
		return nil, err
	}
	done = func() { t.leave(q) }
	over := time.NewTimer(listWait)
	defer over.Stop()
	select {
	case <-turn:
		return done, nil
	case <-over.C:
		err = fmt.Errorf("%w: the lists of other merchants take too long", ErrBusy)
	case <-ctx.Done():
		err = ctx.Err()
	}
	own, waited := t.withdraw(q, turn)
	switch {
	case !waited:
		return done, nil // its turn came meanwhile
	case own && ctx.Err() == nil:
		return nil, payment.ErrTooManyLists
	}
	return nil, err
}

// enqueue adds a list to the merchant's queue. turn is closed at its turn, which may be now.
func (t *turns) enqueue(merchant int64) (turn chan struct{}, q *merchantLists, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.queues, func(q *merchantLists) bool { return q.merchant == merchant })
	if i < 0 {
		i = len(t.queues)
		t.queues = append(t.queues, &merchantLists{merchant: merchant})
	}
	q = t.queues[i]
	if len(q.waiting) == listQueue {
		return nil, nil, payment.ErrTooManyLists
	}
	turn = make(chan struct{})
	q.waiting = append(q.waiting, turn)
	t.next()
	return turn, q, nil
}

// next gives turns while there is a slot for a list that waits. The caller holds mu.
func (t *turns) next() {
	for t.running < t.slots {
		i := slices.IndexFunc(t.queues, func(q *merchantLists) bool { return len(q.waiting) > 0 && q.running < t.share })
		if i < 0 {
			return
		}
		q := t.queues[i]
		close(q.waiting[0])
		q.waiting = q.waiting[1:]
		q.running++
		t.running++
	}
}

// leave ends a list that had its turn. Its merchant has its next turn after all others.
func (t *turns) leave(q *merchantLists) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q.running--
	t.running--
	t.forget(q)
	if q.running > 0 || len(q.waiting) > 0 {
		t.queues = append(t.queues, q)
	}
	t.next()
}

// withdraw removes a list that waits. waited is false if it has its turn. own reports whether lists
// of its merchant run.
func (t *turns) withdraw(q *merchantLists, turn chan struct{}) (own, waited bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.Index(q.waiting, turn)
	if i < 0 {
		return false, false
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
	if q.running == 0 && len(q.waiting) == 0 {
		t.forget(q)
	}
	return q.running > 0, true
}

// forget removes the queue of a merchant. The caller holds mu.
func (t *turns) forget(q *merchantLists) {
	t.queues = slices.DeleteFunc(t.queues, func(other *merchantLists) bool { return other == q })
}
