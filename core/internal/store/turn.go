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

// A tenant is slow for slowFor after work that took longer than TurnBounds.Quick: quick work in
// between does not hide the slow one. The memory of slow tenants is emptied at mostSlow.
const (
	slowFor  = time.Minute
	mostSlow = 10_000
)

// TurnBounds are the bounds of work that takes turns. Work that waits holds one of the requests that
// core serves at the same time.
type TurnBounds struct {
	// Slots bounds the work that runs at the same time. Share of the slots are for the work of any
	// tenant. The others are for tenants of which nothing runs.
	Slots, Share int
	// Wait is how long work waits for its turn.
	Wait time.Duration
	// Queue bounds the work of one tenant that waits, and Queues that of all tenants.
	Queue, Queues int
	// Quick is how long work may take unless its tenant is slow. Slow tenants have Share slots
	// together. With 0 no tenant is slow.
	Quick time.Duration
	// TooMany is the error of work that its tenant's other work is in the way of.
	TooMany error
}

// Turns bounds the work that runs at the same time: lists, or commands on a server. The tenants whose
// work waits have their turns one after the other.
type Turns struct {
	TurnBounds

	mu      sync.Mutex
	running int
	slowly  int // of those that run, the work of slow tenants
	waiting int
	queues  []*tenantQueue                   // of tenants with work; the first one has the next turn
	slow    map[payment.Tenant]time.Duration // when the last slow work of a tenant ended, on the monotonic clock
}

// tenantQueue is the work of one tenant.
type tenantQueue struct {
	tenant  payment.Tenant
	running int
	ending  int     // of those that wait, the first ones: they end a step
	waiting []*turn // the first one has the tenant's next turn
}

// turn is the turn of one piece of work.
type turn struct {
	of    *tenantQueue
	ends  bool
	come  chan error // receives nil at the turn, or the reason why it does not come
	begun time.Duration
	slow  bool // of a slow tenant
}

// NewTurns returns turns.
func NewTurns(b TurnBounds) *Turns {
	return &Turns{TurnBounds: b, slow: map[payment.Tenant]time.Duration{}}
}

// Take waits for a turn of the tenant. The caller calls done when its work has ended. Work that ends
// a step goes before the tenant's other work, and is not refused for its number. TooMany if the
// tenant's other work is in the way for too long, or too much of it waits. ErrBusy if the work of
// other tenants is in the way.
func (t *Turns) Take(ctx context.Context, tenant payment.Tenant, ends bool) (done func(), err error) {
	turn, err := t.enqueue(tenant, ends)
	if err != nil {
		return nil, err
	}
	over := time.NewTimer(t.Wait)
	defer over.Stop()
	select {
	case err = <-turn.come:
	case <-over.C:
		err = t.withdraw(turn, fmt.Errorf("%w: the work of other merchants takes too long", ErrBusy))
	case <-ctx.Done():
		err = t.withdraw(turn, ctx.Err())
	}
	if err != nil {
		return nil, err
	}
	return func() { t.leave(turn) }, nil
}

// enqueue adds work to the tenant's queue. Its turn may come at once.
func (t *Turns) enqueue(tenant payment.Tenant, ends bool) (*turn, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.queues, func(q *tenantQueue) bool { return q.tenant == tenant })
	if i < 0 {
		i = len(t.queues)
		t.queues = append(t.queues, &tenantQueue{tenant: tenant})
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
	turn := &turn{of: q, ends: ends, come: make(chan error, 1)}
	q.waiting = slices.Insert(q.waiting, at, turn)
	t.waiting++
	t.next()
	if t.waiting > t.Queues {
		t.evict()
	}
	return turn, nil
}

// next gives turns while there is a slot for work that waits. The caller holds mu.
func (t *Turns) next() {
	for t.running < t.Slots {
		i := slices.IndexFunc(t.queues, t.mayRun)
		if i < 0 {
			return
		}
		q := t.queues[i]
		turn := q.waiting[0]
		turn.begun, turn.slow = clock.Monotonic(), t.isSlow(q.tenant)
		t.dequeue(turn)
		q.running++
		t.running++
		if turn.slow {
			t.slowly++
		}
		turn.come <- nil
	}
}

// mayRun reports whether a tenant's next work may run in a free slot. The caller holds mu.
func (t *Turns) mayRun(q *tenantQueue) bool {
	return len(q.waiting) > 0 && (q.running == 0 || t.running < t.Share) && (t.slowly < t.Share || !t.isSlow(q.tenant))
}

// isSlow reports whether a tenant is slow. The caller holds mu.
func (t *Turns) isSlow(tenant payment.Tenant) bool {
	at, found := t.slow[tenant]
	return found && clock.Monotonic()-at < slowFor
}

// evict refuses the newest work of the tenant that has most of the work that waits. Work that ends a
// step stays. The caller holds mu.
func (t *Turns) evict() {
	refusable := func(q *tenantQueue) int { return len(q.waiting) - q.ending }
	q := slices.MaxFunc(t.queues, func(a, b *tenantQueue) int { return refusable(a) - refusable(b) })
	if refusable(q) == 0 {
		return
	}
	last := q.waiting[len(q.waiting)-1]
	err := t.TooMany
	if len(q.waiting) == 1 && q.running == 0 {
		err = fmt.Errorf("%w: too much work waits", ErrBusy)
	}
	t.remove(last)
	last.come <- err
}

// leave ends work that had its turn. Its tenant has its next turn after all others.
func (t *Turns) leave(turn *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := turn.of
	q.running--
	t.running--
	if turn.slow {
		t.slowly--
	}
	t.note(q.tenant, clock.Monotonic()-turn.begun)
	t.forget(q)
	if q.running > 0 || len(q.waiting) > 0 {
		t.queues = append(t.queues, q)
	}
	t.next()
}

// note remembers slow work of a tenant. The caller holds mu.
func (t *Turns) note(tenant payment.Tenant, took time.Duration) {
	switch {
	case t.Quick > 0 && took > t.Quick:
		if len(t.slow) >= mostSlow {
			clear(t.slow)
		}
		t.slow[tenant] = clock.Monotonic()
	case !t.isSlow(tenant):
		delete(t.slow, tenant)
	}
}

// withdraw removes work that waits, and returns why: TooMany for ErrBusy if work of its tenant runs.
// It returns nil if the work has its turn.
func (t *Turns) withdraw(turn *turn, why error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := turn.of
	if !slices.Contains(q.waiting, turn) {
		return <-turn.come
	}
	t.remove(turn)
	if q.running > 0 && errors.Is(why, ErrBusy) {
		return t.TooMany
	}
	return why
}

// remove removes work that waits. The caller holds mu.
func (t *Turns) remove(turn *turn) {
	q := turn.of
	t.dequeue(turn)
	if q.running == 0 && len(q.waiting) == 0 {
		t.forget(q)
	}
}

// dequeue takes work from its queue. The caller holds mu.
func (t *Turns) dequeue(w *turn) {
	q := w.of
	q.waiting = slices.DeleteFunc(q.waiting, func(other *turn) bool { return other == w })
	t.waiting--
	if w.ends {
		q.ending--
	}
}

// forget removes the queue of a tenant. The caller holds mu.
func (t *Turns) forget(q *tenantQueue) {
	t.queues = slices.DeleteFunc(t.queues, func(other *tenantQueue) bool { return other == q })
}
