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

// A tenant is slow for slowFor after work that took longer than TurnBounds.Quick, even if quick
// work follows. The memory of slow tenants is emptied when it has maxSlow of them.
const (
	slowFor = time.Minute
	maxSlow = 10_000
)

// TurnBounds are the bounds of work for which tenants take turns. Work that waits holds one of the
// requests that core serves at the same time.
type TurnBounds struct {
	// Slots bounds the work that runs at the same time. Share of the slots are for the work of any
	// tenant. The other slots are for tenants without running work.
	Slots, Share int
	// Wait is how long work waits for its turn.
	Wait time.Duration
	// Queue bounds the waiting work of one tenant, and Queues the waiting work of all tenants.
	Queue, Queues int
	// Quick is how long work may take before its tenant counts as slow. All slow tenants together
	// have Share slots. With 0 no tenant is slow.
	Quick time.Duration
	// TooMany is the error of work that fails because of other work of its tenant.
	TooMany error
}

// Turns bounds the work that runs at the same time: lists, or commands on a server. Tenants with
// waiting work take turns.
type Turns struct {
	TurnBounds

	mu      sync.Mutex
	running int
	slow    int // running work of slow tenants
	waiting int
	queues  []*tenantQueue                   // of tenants with work, in the order of their next turns
	slowAt  map[payment.Tenant]time.Duration // when the last slow work of a tenant ended, on the monotonic clock
}

// tenantQueue is the running and waiting work of one tenant.
type tenantQueue struct {
	tenant  payment.Tenant
	running int
	ending  int     // number of turns at the head of waiting that end a step
	waiting []*turn // in order: the first one is the tenant's next turn
}

// turn is the turn of one piece of work.
type turn struct {
	of    *tenantQueue
	ends  bool
	ready chan error // receives nil when the turn begins, or the error if it does not
	begun time.Duration
	slow  bool // its tenant was slow at its beginning
}

// NewTurns returns turns with these bounds.
func NewTurns(b TurnBounds) *Turns {
	return &Turns{TurnBounds: b, slowAt: map[payment.Tenant]time.Duration{}}
}

// Take waits for a turn of the tenant. The caller calls done when its work has ended. Work that
// ends a step goes before the tenant's other work, and is not refused for its number. TooMany if
// other work of the tenant runs for too long, or too much of it waits. ErrBusy if the work of other
// tenants is the reason.
func (t *Turns) Take(ctx context.Context, tenant payment.Tenant, ends bool) (done func(), err error) {
	turn, err := t.enqueue(tenant, ends)
	if err != nil {
		return nil, err
	}
	over := time.NewTimer(t.Wait)
	defer over.Stop()
	select {
	case err = <-turn.ready:
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

// enqueue adds work to the tenant's queue. Its turn may begin at once.
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
	turn := &turn{of: q, ends: ends, ready: make(chan error, 1)}
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
			t.slow++
		}
		turn.ready <- nil
	}
}

// mayRun reports whether a tenant's next work may run in a free slot. The caller holds mu.
func (t *Turns) mayRun(q *tenantQueue) bool {
	return len(q.waiting) > 0 && (q.running == 0 || t.running < t.Share) && (t.slow < t.Share || !t.isSlow(q.tenant))
}

// isSlow reports whether a tenant is slow. The caller holds mu.
func (t *Turns) isSlow(tenant payment.Tenant) bool {
	at, found := t.slowAt[tenant]
	return found && clock.Monotonic()-at < slowFor
}

// evict refuses the newest work of the tenant with the most waiting work. Work that ends a step
// stays. The caller holds mu.
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
	last.ready <- err
}

// leave ends work that had its turn. All other tenants have a turn before its tenant's next one.
func (t *Turns) leave(turn *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := turn.of
	q.running--
	t.running--
	if turn.slow {
		t.slow--
	}
	t.note(q.tenant, clock.Monotonic()-turn.begun)
	t.forget(q)
	if q.running > 0 || len(q.waiting) > 0 {
		t.queues = append(t.queues, q)
	}
	t.next()
}

// note records whether work of a tenant was slow. The caller holds mu.
func (t *Turns) note(tenant payment.Tenant, took time.Duration) {
	switch {
	case t.Quick > 0 && took > t.Quick:
		if len(t.slowAt) >= maxSlow {
			clear(t.slowAt)
		}
		t.slowAt[tenant] = clock.Monotonic()
	case !t.isSlow(tenant):
		delete(t.slowAt, tenant)
	}
}

// withdraw removes waiting work and returns why, but TooMany for ErrBusy if other work of its
// tenant runs. It returns nil if the turn has begun meanwhile.
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

// remove removes waiting work, and the queue of its tenant if that is empty. The caller holds mu.
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

// forget removes the queue of a tenant. The caller holds mu.
func (t *Turns) forget(q *tenantQueue) {
	t.queues = slices.DeleteFunc(t.queues, func(other *tenantQueue) bool { return other == q })
}
