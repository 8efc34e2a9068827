package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/clock"
)

// The bounds of the lists that wait. Each of them holds one of the requests that core serves at the
// same time.
const (
	// listWait is how long a list waits for its turn.
	listWait = 2 * listTime
	// listQueue is how many lists of one merchant wait, and listQueues how many of all merchants.
	listQueue  = 32
	listQueues = 128
)

// A merchant is slow for slowFor after a list that took longer than quickList: quick lists in between
// do not hide the slow ones. The memory of slow merchants is emptied at mostSlow.
const (
	quickList = 500 * time.Millisecond
	slowFor   = time.Minute
	mostSlow  = 10_000
)

// turns bounds the lists that run at the same time. A merchant has at most a share of them, and so
// have all slow merchants together. The merchants whose lists wait have their turns one after the
// other.
type turns struct {
	slots, share int

	mu      sync.Mutex
	running int
	slowly  int // of those that run, the lists of slow merchants
	waiting int
	queues  []*merchantLists        // of merchants with lists; the first one has the next turn
	slow    map[int64]time.Duration // when the last slow list of a merchant ended, on the monotonic clock
}

// merchantLists are the lists of one merchant.
type merchantLists struct {
	merchant int64
	running  int
	waiting  []*listTurn // the first one waits for longest
}

// listTurn is the turn of a list.
type listTurn struct {
	of    *merchantLists
	come  chan error // receives nil at the turn, or the reason why it does not come
	begun time.Duration
	slow  bool // of a slow merchant
}

// newTurns returns turns for a number of lists at the same time. A merchant has at most half of
// them.
func newTurns(slots int) *turns {
	return &turns{slots: slots, share: max(1, slots/2), slow: map[int64]time.Duration{}}
}

// take waits for a turn of the merchant. The caller calls done when its list has ended.
// payment.ErrTooManyLists if the merchant's other lists are in the way for too long, or too many of
// them wait. ErrBusy if the lists of other merchants are in the way.
func (t *turns) take(ctx context.Context, merchant int64) (done func(), err error) {
	turn, err := t.enqueue(merchant)
	if err != nil {
		return nil, err
	}
	over := time.NewTimer(listWait)
	defer over.Stop()
	select {
	case err = <-turn.come:
	case <-over.C:
		err = t.withdraw(turn, fmt.Errorf("%w: the lists of other merchants take too long", ErrBusy))
	case <-ctx.Done():
		err = t.withdraw(turn, ctx.Err())
	}
	if err != nil {
		return nil, err
	}
	return func() { t.leave(turn) }, nil
}

// enqueue adds a list to the merchant's queue. Its turn may come at once.
func (t *turns) enqueue(merchant int64) (*listTurn, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.queues, func(q *merchantLists) bool { return q.merchant == merchant })
	if i < 0 {
		i = len(t.queues)
		t.queues = append(t.queues, &merchantLists{merchant: merchant})
	}
	q := t.queues[i]
	if len(q.waiting) == listQueue {
		return nil, payment.ErrTooManyLists
	}
	turn := &listTurn{of: q, come: make(chan error, 1)}
	q.waiting = append(q.waiting, turn)
	t.waiting++
	t.next()
	if t.waiting > listQueues {
		t.evict()
	}
	return turn, nil
}

// next gives turns while there is a slot for a list that waits. The caller holds mu.
func (t *turns) next() {
	for t.running < t.slots {
		i := slices.IndexFunc(t.queues, t.mayRun)
		if i < 0 {
			return
		}
		q := t.queues[i]
		turn := q.waiting[0]
		turn.begun, turn.slow = clock.Monotonic(), t.isSlow(q.merchant)
		q.waiting = q.waiting[1:]
		t.waiting--
		q.running++
		t.running++
		if turn.slow {
			t.slowly++
		}
		turn.come <- nil
	}
}

// mayRun reports whether a merchant's next list may run in a free slot. The caller holds mu.
func (t *turns) mayRun(q *merchantLists) bool {
	return len(q.waiting) > 0 && q.running < t.share && (t.slowly < t.share || !t.isSlow(q.merchant))
}

// isSlow reports whether a merchant is slow. The caller holds mu.
func (t *turns) isSlow(merchant int64) bool {
	at, found := t.slow[merchant]
	return found && clock.Monotonic()-at < slowFor
}

// evict ends the newest list of the merchant that has most of those that wait. The caller holds mu.
func (t *turns) evict() {
	q := slices.MaxFunc(t.queues, func(a, b *merchantLists) int { return len(a.waiting) - len(b.waiting) })
	last := q.waiting[len(q.waiting)-1]
	err := payment.ErrTooManyLists
	if len(q.waiting) == 1 && q.running == 0 {
		err = fmt.Errorf("%w: too many lists wait", ErrBusy)
	}
	t.remove(last)
	last.come <- err
}

// leave ends a list that had its turn. Its merchant has its next turn after all others.
func (t *turns) leave(turn *listTurn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := turn.of
	q.running--
	t.running--
	if turn.slow {
		t.slowly--
	}
	t.note(q.merchant, clock.Monotonic()-turn.begun)
	t.forget(q)
	if q.running > 0 || len(q.waiting) > 0 {
		t.queues = append(t.queues, q)
	}
	t.next()
}

// note remembers a slow list of a merchant. The caller holds mu.
func (t *turns) note(merchant int64, took time.Duration) {
	switch {
	case took > quickList:
		if len(t.slow) >= mostSlow {
			clear(t.slow)
		}
		t.slow[merchant] = clock.Monotonic()
	case !t.isSlow(merchant):
		delete(t.slow, merchant)
	}
}

// withdraw removes a list that waits, and returns why: payment.ErrTooManyLists for ErrBusy if lists of
// its merchant run. It returns nil if the list has its turn.
func (t *turns) withdraw(turn *listTurn, why error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := turn.of
	if !slices.Contains(q.waiting, turn) {
		return <-turn.come
	}
	t.remove(turn)
	if q.running > 0 && errors.Is(why, ErrBusy) {
		return payment.ErrTooManyLists
	}
	return why
}

// remove removes a list that waits. The caller holds mu.
func (t *turns) remove(turn *listTurn) {
	q := turn.of
	q.waiting = slices.DeleteFunc(q.waiting, func(other *listTurn) bool { return other == turn })
	t.waiting--
	if q.running == 0 && len(q.waiting) == 0 {
		t.forget(q)
	}
}

// forget removes the queue of a merchant. The caller holds mu.
func (t *turns) forget(q *merchantLists) {
	t.queues = slices.DeleteFunc(t.queues, func(other *merchantLists) bool { return other == q })
}
