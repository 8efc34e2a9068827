package engine

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// task is one open step.
type task struct {
	tenant    payment.Tenant
	step      Step
	since     time.Time // when it went on last, of a reversal when it was due
	id        int64
	reference string // what the step is given up under; "" where no request works on it
	do        func(context.Context) error
}

// collect hands every open step that nobody works on to add.
func (r *Recovery) collect(ctx context.Context, add func(task)) error {
	e, now, leads := r.e, r.e.Clock.Now(), r.e.Peers.Leads()
	e.forgetGivenUp(now)
	orphan := func(reference string, core int64, begun time.Time) bool {
		_, left := e.givenUp.Load(reference)
		if e.Peers != nil {
			return e.Peers.mayTakeUp(core, left, now.Sub(begun))
		}
		return !r.serving || left || begun.Before(r.born) || now.Sub(begun) >= Patience
	}
	cut := int64(math.MaxInt64)
	if r.serving {
		cut = now.Add(-takeUpAfter).UnixMilli() + 1
	}
	open, oldest := map[Step]int{}, time.Time{}
	addOne := func(t task, free bool) {
		if open[t.step]++; oldest.IsZero() || t.since.Before(oldest) {
			oldest = t.since
		}
		if _, err := e.acquirer(t.tenant); err == nil && free {
			add(t)
		}
	}
	err := errors.Join(
		each(ctx, since(e.Store.OpenTransactions, cut), func(t *payment.Transaction) int64 {
			step, reference := StepAuthorize, authorizationReference(t)
			if t.Operation == payment.VoidOperation {
				step, reference = StepVoid, voidReference(t)
			}
			addOne(task{t.Tenant, step, t.UpdatedAt, t.ID, reference, func(ctx context.Context) error { return e.reconcileTransaction(ctx, t) }},
				t.Status == payment.Unknown && leads || orphan(reference, t.Core, t.UpdatedAt))
			return t.ID
		}),
		each(ctx, since(e.Store.OpenCaptures, cut), func(c *payment.Capture) int64 {
			reference := captureReference(c)
			addOne(task{c.Tenant, StepCapture, c.UpdatedAt, c.ID, reference, func(ctx context.Context) error { return e.reconcileCapture(ctx, c) }},
				orphan(reference, c.Core, c.UpdatedAt))
			return c.ID
		}),
		each(ctx, since(e.Store.OpenRefunds, cut), func(f *payment.Refund) int64 {
			reference := refundReference(f)
			addOne(task{f.Tenant, StepRefund, f.UpdatedAt, f.ID, reference, func(ctx context.Context) error { return e.reconcileRefund(ctx, f) }},
				orphan(reference, f.Core, f.UpdatedAt))
			return f.ID
		}),
		each(ctx, since(e.Store.DueReversals, now), func(o *payment.Reversal) int64 {
			addOne(task{tenant: o.Tenant, step: StepReversal, since: o.DueAt, id: o.ID, do: func(ctx context.Context) error { return e.reconcileReversal(ctx, o) }}, leads)
			return o.ID
		}),
	)
	if err == nil && leads {
		e.Observer.RecoveryLooked(open, oldest)
	}
	return err
}

// page reads what comes after a row, a bounded number of rows.
type page[T any] func(ctx context.Context, after int64) ([]T, error)

// since makes a list of the store's, of what is open since or due at a time, one of pages.
func since[T, V any](list func(ctx context.Context, at V, after int64, limit int) ([]T, error), at V) page[T] {
	return func(ctx context.Context, after int64) ([]T, error) { return list(ctx, at, after, openBatch) }
}

// each shows every row to one, which returns what the next page comes after.
func each[T any](ctx context.Context, next page[T], one func(T) int64) error {
	after := int64(0)
	for {
		rows, err := next(ctx, after)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			after = one(row)
		}
	}
}
