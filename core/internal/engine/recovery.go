package engine

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// Patience is how old an open step must be before it is taken up while the service runs: longer than any request that may still be working
// on it.
const Patience = callTimeout + 10*time.Second

const (
	// takeUpAfter is how old what its caller has given up is before it is taken up: the acquirer gets a moment to be done.
	takeUpAfter = 200 * time.Millisecond
	// openBatch is how many open steps of a kind a pass reads at a time.
	openBatch = 500
	// laneTasks is how many open steps of one tenant a pass takes up, laneFailures after how many failures in a row it leaves the rest.
	laneTasks, laneFailures = 200, 3
	// acquirerSlots is how many tenants are worked for at one acquirer at a time, so that one that hangs holds up only its own.
	acquirerSlots = 8
	// firstPause and longestPause bound how long a tenant waits after a pass in which nothing went through.
	firstPause, longestPause = 500 * time.Millisecond, time.Minute
)

// Recovery finishes what is open, when the service starts and while it runs: it looks for the open steps (open.go) and takes them up, each
// tenant's in a lane of its own (lane.go); what is done to one step is in reconcile.go, and in reversal.go for what is owed of a closed payment.
//
// What nobody works on any more is taken up at once: `unknown` payments, steps whose caller has given up, and all that a dead process left.
// What a request may still be working on is left alone for Patience. Where several cores share the store, what a dead process left is what is of a
// core that is known to be gone, and one of them takes it up for all (Peers). Each tenant's lane has its own pauses, so that one acquirer that cannot be
// reached delays nobody else.
type Recovery struct {
	e     *Engine
	born  time.Time
	slots map[bool]chan struct{} // of the acquirer of live mode, and of test mode
	lanes sync.WaitGroup

	serving bool // nothing of a dead process is left that was not tried once; only Pass's caller reads and writes it

	mu    sync.Mutex
	state map[payment.Tenant]*lane // guarded by mu
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
