package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

const (
	// takeUpAfter is how old what its caller has given up is before it is taken up: the acquirer gets a moment to be done.
	takeUpAfter = 200 * time.Millisecond
	// laneTasks is how many open steps of one tenant a pass takes up, laneFailures after how many failures in a row it leaves the rest.
	laneTasks, laneFailures = 200, 3
	// acquirerSlots is how many tenants are worked for at one acquirer at a time, so that one that hangs holds up only its own.
	acquirerSlots = 8
	// firstPause and longestPause bound how long a tenant waits after a pass in which nothing went through.
	firstPause, longestPause = 500 * time.Millisecond, time.Minute
)

// Recovery finishes what is open while the service runs. What nobody works on any more is taken up at once: `unknown` payments, steps
// whose caller has given up, and all that a dead process left. What a request may still be working on is left alone for Patience. Each
// tenant is a lane of its own with its own pauses, so that one acquirer that cannot be reached delays nobody else.
type Recovery struct {
	e     *Engine
	born  time.Time
	slots map[bool]chan struct{} // of the acquirer of live mode, and of test mode
	lanes sync.WaitGroup

	serving bool // nothing of a dead process is left that was not tried once; only Pass's caller reads and writes it

	mu    sync.Mutex
	state map[payment.Tenant]*lane // guarded by mu
}

// lane is what is remembered of a tenant between passes.
type lane struct {
	busy     bool
	failures int       // passes in a row in which nothing went through
	next     time.Time // not before
	after    int64     // the step that failed last: the next pass begins behind it
}

// task is one open step.
type task struct {
	tenant    payment.Tenant
	id        int64
	reference string
	do        func(context.Context) error
}

// NewRecovery returns the recovery of an engine that has not served yet: all that is open now was left by a dead process.
func (e *Engine) NewRecovery() *Recovery {
	return &Recovery{
		e: e, born: e.Clock.Now(), state: map[payment.Tenant]*lane{},
		slots: map[bool]chan struct{}{false: make(chan struct{}, acquirerSlots), true: make(chan struct{}, acquirerSlots)},
	}
}

// CatchUp takes up all that can be, and returns when that is done, or after the given time of the machine's: what cannot be finished
// must not keep the service from starting, and Run goes on with it. The error is the store's.
func (r *Recovery) CatchUp(ctx context.Context, patience time.Duration) error {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	defer func() { r.serving = true }()
	for {
		started, err := r.Pass(ctx)
		if err != nil || started == 0 {
			return err
		}
		idle := make(chan struct{})
		go func() { r.lanes.Wait(); close(idle) }()
		select {
		case <-idle:
		case <-deadline.C:
			return nil
		}
	}
}

// Run makes a pass at every tick until ctx ends, and returns when no lane runs any more.
func (r *Recovery) Run(ctx context.Context, every time.Duration) {
	defer r.lanes.Wait()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if _, err := r.Pass(ctx); err != nil && ctx.Err() == nil {
			r.e.Log.ErrorContext(ctx, "reconcile failed", slog.Any("error", err))
		}
	}
}

// Pass starts a lane for every tenant that has something to take up and is not pausing, and returns how many it started.
func (r *Recovery) Pass(ctx context.Context) (int, error) {
	// Before the store is read: what a lane finishes meanwhile would still look open.
	resting := r.resting()
	ready := map[payment.Tenant][]task{}
	if err := r.collect(ctx, func(t task) {
		if tasks := ready[t.tenant]; len(tasks) < laneTasks && !resting[t.tenant] {
			ready[t.tenant] = append(tasks, t)
		}
	}); err != nil {
		return 0, fmt.Errorf("reconcile: %w", err)
	}
	for tenant, tasks := range ready {
		l := r.take(tenant, tasks)
		r.lanes.Go(func() { r.work(ctx, tenant, l, tasks) })
	}
	return len(ready), nil
}

// collect hands every open step that nobody works on to add.
func (r *Recovery) collect(ctx context.Context, add func(task)) error {
	e, now := r.e, r.e.Clock.Now()
	orphan := func(reference string, since time.Time) bool {
		_, left := e.givenUp.Load(reference)
		return !r.serving || left || since.Before(r.born) || now.Sub(since) >= Patience
	}
	cut := int64(math.MaxInt64)
	if r.serving {
		cut = now.Add(-takeUpAfter).UnixMilli() + 1
	}
	collectOne := func(tenant payment.Tenant, id int64, reference string, since time.Time, lost bool, do func(context.Context) error) {
		if _, err := e.acquirer(tenant); err == nil && (lost || orphan(reference, since)) {
			add(task{tenant, id, reference, do})
		}
	}
	_, errTransactions := drain(ctx, e.Store.OpenTransactions, cut, func(t *payment.Transaction) int64 { return t.ID },
		func(_ context.Context, t *payment.Transaction) error {
			reference := authorizationReference(t)
			if t.Operation == payment.VoidOperation {
				reference = voidReference(t)
			}
			collectOne(t.Tenant, t.ID, reference, t.UpdatedAt, t.Status == payment.Unknown,
				func(ctx context.Context) error { return e.reconcileTransaction(ctx, t) })
			return nil
		})
	_, errCaptures := drain(ctx, e.Store.OpenCaptures, cut, func(c *payment.Capture) int64 { return c.ID },
		func(_ context.Context, c *payment.Capture) error {
			collectOne(c.Tenant, c.ID, captureReference(c), c.UpdatedAt, false, func(ctx context.Context) error { return e.reconcileCapture(ctx, c) })
			return nil
		})
	_, errRefunds := drain(ctx, e.Store.OpenRefunds, cut, func(f *payment.Refund) int64 { return f.ID },
		func(_ context.Context, f *payment.Refund) error {
			collectOne(f.Tenant, f.ID, refundReference(f), f.UpdatedAt, false, func(ctx context.Context) error { return e.reconcileRefund(ctx, f) })
			return nil
		})
	return errors.Join(errTransactions, errCaptures, errRefunds)
}

// resting is the tenants that are being worked for or pausing.
func (r *Recovery) resting() map[payment.Tenant]bool {
	now := r.e.Clock.Now()
	out := map[payment.Tenant]bool{}
	r.mu.Lock()
	defer r.mu.Unlock()
	for tenant, l := range r.state {
		if l.busy || now.Before(l.next) {
			out[tenant] = true
		}
	}
	return out
}

// take makes the tenant's lane busy, and puts the steps behind the one that failed last in front.
func (r *Recovery) take(tenant payment.Tenant, tasks []task) *lane {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.state[tenant]
	if l == nil {
		l = &lane{}
		r.state[tenant] = l
	}
	l.busy = true
	slices.SortFunc(tasks, func(a, b task) int {
		return cmp.Or(cmp.Compare(tried(a, l), tried(b, l)), cmp.Compare(a.id, b.id))
	})
	return l
}

func tried(t task, l *lane) int {
	if t.id <= l.after {
		return 1
	}
	return 0
}

// work finishes a tenant's steps one after the other, and decides on its pause.
func (r *Recovery) work(ctx context.Context, tenant payment.Tenant, l *lane, tasks []task) {
	slot := r.slots[tenant.Live]
	slot <- struct{}{}
	done, failed, inARow, last := 0, 0, 0, int64(0)
	for _, t := range tasks {
		if ctx.Err() != nil || inARow == laneFailures {
			break
		}
		if err := t.do(ctx); err != nil {
			failed, inARow, last = failed+1, inARow+1, t.id
			continue
		}
		r.e.givenUp.Delete(t.reference)
		done, inARow = done+1, 0
	}
	<-slot
	r.mu.Lock()
	defer r.mu.Unlock()
	l.busy, l.after = false, last
	switch {
	case failed == 0:
		delete(r.state, tenant)
	case done > 0:
		l.failures, l.next = 0, r.e.Clock.Now().Add(firstPause)
	default:
		pause := min(firstPause<<min(l.failures, 10), longestPause)
		l.failures, l.next = l.failures+1, r.e.Clock.Now().Add(pause)
		r.e.Log.WarnContext(ctx, "reconcile: nothing went through", slog.Int("open", len(tasks)), slog.Duration("pause", pause))
	}
}
