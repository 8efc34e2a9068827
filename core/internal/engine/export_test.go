package engine

import (
	"context"
	"log/slog"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// Wait waits for the lanes that a pass has started.
func (r *Recovery) Wait() { <-r.lanes.noWorkers() }

// Serve ends the start without an attempt at any step.
func (r *Recovery) Serve() { r.serve() }

// NoEffect returns the proof that an attempt has no effect.
var NoEffect = noEffect

// HoldCodeKeys makes every request without the hour's key wait until release is called.
func HoldCodeKeys(e *Engine) (release func()) {
	e.codes.turn <- struct{}{}
	return func() { <-e.codes.turn }
}

// Lanes are the lanes of recovery without a store.
type Lanes struct {
	lanes *lanes
	try   func(LaneStep) error
	ctx   context.Context //nolint:containedctx // of all passes; Stop ends it
	Stop  func()          // drops the steps that wait
}

// LaneStep is an unfinished step for a lane.
type LaneStep struct {
	Tenant payment.Tenant
	Kind   payment.StepKind
	ID     int64
	Last   payment.StepAttempt // the zero value if it was not tried
}

// NewLanes returns the lanes of a recovery that serves, whose attempts call try.
func NewLanes(try func(LaneStep) error) *Lanes {
	l := &Lanes{try: try}
	l.ctx, l.Stop = context.WithCancel(context.Background())
	serves := func(payment.Tenant) bool { return true }
	l.lanes = newLanes(slog.New(slog.DiscardHandler), nil, serves, func(ctx context.Context, t task) error { return t.do(ctx) })
	l.lanes.serve()
	return l
}

// Pass makes a pass that reads some steps.
func (l *Lanes) Pass(now time.Time, steps ...LaneStep) {
	l.lanes.beginPass(l.ctx, now)
	for _, s := range steps {
		l.lanes.offer(task{
			id:     payment.StepID{Kind: s.Kind, Transaction: s.ID, ID: s.ID},
			tenant: s.Tenant, mine: true, do: func(context.Context) error { return l.try(s) },
		}, s.Last, now)
	}
	l.lanes.start(l.ctx)
}

// Queued returns how many steps wait in all lanes.
func (l *Lanes) Queued() (n int) {
	l.lanes.mu.Lock()
	defer l.lanes.mu.Unlock()
	for _, of := range l.lanes.queues {
		n += len(of.queue)
	}
	return n
}

// Wait waits for all attempts.
func (l *Lanes) Wait() { <-l.lanes.noWorkers() }

// FirstVoid makes the first attempt at a void.
func (e *Engine) FirstVoid(ctx context.Context, t *payment.Transaction, acq acquirer.Acquirer) error {
	_, err := (&voidStep{e, t}).attempt(ctx, acq, false)
	return err
}
