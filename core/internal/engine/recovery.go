package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/pass"
	"github.com/causeway-pay/causeway/shared/panics"
)

// sweepEvery is how often the attempts at steps that have ended are removed.
const sweepEvery = time.Minute

// Recovery finishes the steps that no request works on, at the start of the service and while it
// runs. It reads them, a page of each tenant in turn (steptable.go), and queues them by tenant and
// kind (lane.go). It tries several of each queue at a time. One step is handled in attempt.go, a
// pending reversal in reversal.go.
//
// A step that cannot be finished delays no other step. Before an attempt begins, it is written with
// the time of the next one. The pauses of a step double up to payment.RetryAfter's longest, and
// there is no last attempt.
//
// It claims payments in unknown and open steps on which no request works. In its own process these
// are all steps that are not in flight, at any age. If cores share a store, the leader
// claims the steps of cores that have ended. After Patience it also claims the steps of running
// cores (Cluster).
type Recovery struct {
	e     *Engine
	steps *unfinished // used by Pass alone
	lanes *lanes
	swept time.Time // when Pass last removed the attempts at ended steps
}

// NewRecovery returns the recovery of an engine that has not served yet. If no other core shares
// the store, a process that has ended left each unfinished step.
func (e *Engine) NewRecovery() *Recovery {
	r := &Recovery{e: e, steps: e.newUnfinished()}
	r.lanes = newLanes(e.Log, e.Tracer, e.serves, r.try)
	return r
}

// CatchUp tries every unfinished step once. It returns when all were tried, or when patience has
// passed on the machine's clock. A step that cannot be finished must not prevent the start of the
// service: Run continues it. The error is from the store.
func (r *Recovery) CatchUp(ctx context.Context, patience time.Duration) error {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	defer r.serve()
	for {
		started, whole, err := r.readAndStart(ctx)
		if err != nil || started == 0 && whole {
			return err
		}
		if started > 0 {
			r.steps.expectWhole()
		}
		select {
		case <-r.lanes.noWorkers():
		case <-deadline.C:
			return nil
		}
	}
}

// serve ends the start. From now on a failed step waits for its pause, and requests run at the same
// time.
func (r *Recovery) serve() {
	r.steps.serving = true
	r.lanes.serve()
}

// Run makes a pass at every tick until ctx ends, and returns when no step is being tried any more.
func (r *Recovery) Run(ctx context.Context, every time.Duration) {
	defer func() { <-r.lanes.noWorkers() }()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if _, err := r.Pass(ctx); err != nil && ctx.Err() == nil {
			r.e.Log.ErrorContext(ctx, "recovery: the pass failed; it is retried", slog.Any("error", err))
		}
	}
}

// Pass reads the next pages of unfinished steps and queues the steps that are due. It returns the
// number of queues to which it added steps.
func (r *Recovery) Pass(ctx context.Context) (int, error) {
	started, _, err := r.readAndStart(ctx)
	return started, err
}

// readAndStart is Pass. whole reports whether every step was read since expectWhole.
func (r *Recovery) readAndStart(ctx context.Context) (started int, whole bool, err error) {
	now := r.e.Clock.Now()
	r.lanes.beginPass(ctx, now)
	whole = true
	skipping := r.e.Store.BeginPass(pass.Recovery)
	for _, s := range r.steps.tables {
		err := s.read(ctx, func(t task, a payment.StepAttempt) { r.lanes.offer(t, a, now) })
		whole = whole && (s.whole() || err != nil)
		if err := skipping.Skip(ctx, "unfinished "+string(s.kind)+" steps", s.id, err); err != nil {
			return 0, false, fmt.Errorf("recovery: %w", err)
		}
	}
	r.steps.report()
	if err := skipping.Skip(ctx, "attempts at ended steps", 0, r.sweep(ctx, now)); err != nil {
		return 0, false, fmt.Errorf("recovery: %w", err)
	}
	return r.lanes.start(ctx), whole, nil
}

// sweep removes the attempts at steps that have ended, if this core leads.
func (r *Recovery) sweep(ctx context.Context, now time.Time) error {
	if since := now.Sub(r.swept); !r.e.Cluster.Leads() || 0 <= since && since < sweepEvery {
		return nil
	}
	r.swept = now
	return r.e.Store.RemoveEndedAttempts(ctx)
}

// try makes one attempt at a step. It returns errSkipped if the step has ended, or another core is
// trying it.
func (r *Recovery) try(ctx context.Context, t task) error {
	patience := Patience
	if r.e.Cluster == nil {
		patience = 0 // an attempt of an earlier process ended with it
	}
	pause := func(attempts int64) time.Duration { return payment.RetryAfter(t.id.Kind, attempts) }
	err := r.e.Store.Update(ctx, func(tx *store.Tx) error { return tx.BeginAttempt(t.id, patience, pause) })
	if errors.Is(err, store.ErrConflict) {
		return errSkipped
	}
	if err != nil {
		return r.postpone(ctx, t, err)
	}
	err = r.do(ctx, t)
	r.e.Observer.RecoveryAttempted(t.id.Kind, err == nil)
	end := func(tx *store.Tx) error { return tx.FinishAttempt(t.id) }
	if err != nil {
		end = func(tx *store.Tx) error { return tx.FailAttempt(t.id, whyFailed(err)) }
	}
	if wrote := r.e.Store.Update(context.WithoutCancel(ctx), end); wrote != nil {
		r.e.Log.ErrorContext(ctx, "recovery: the result of an attempt was not written; it is retried",
			slog.String("reference", t.reference), slog.Any("error", wrote))
	}
	return err
}

// do carries out one attempt at a step.
func (*Recovery) do(ctx context.Context, t task) error {
	ctx, cancel := attemptContext(ctx)
	defer cancel()
	return panics.Catch(func() error { return t.do(ctx) }) // one step must not end the process
}

// postpone postpones a step whose attempt could not be written, and returns the error.
func (r *Recovery) postpone(ctx context.Context, t task, err error) error {
	if ended := r.e.Store.BeginPass(pass.Recovery).Skip(ctx, string(t.id.Kind), keyOf(t.id).object, err); ended != nil {
		return ended
	}
	r.lanes.refuse(t.id, r.e.Clock.Now())
	return err
}
