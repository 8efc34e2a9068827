package engine

import (
	"context"
	"errors"
	"log/slog"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// What a Recovery does with one open step of each kind.

// errStillOpen: the acquirer could not be asked; the step stays open.
var errStillOpen = errors.New("engine: still open")

func (e *Engine) reconcileTransaction(ctx context.Context, t *payment.Transaction) error {
	if t.Operation == payment.VoidOperation {
		return e.resume(ctx, &void{e, t}, !t.ReclaimedAt.IsZero())
	}
	return e.resume(ctx, &authorization{Engine: e, t: t}, !t.ReclaimedAt.IsZero())
}

func (e *Engine) reconcileCapture(ctx context.Context, c *payment.Capture) error {
	return e.resume(ctx, &capture{e, c}, !c.ReclaimedAt.IsZero())
}

func (e *Engine) reconcileRefund(ctx context.Context, f *payment.Refund) error {
	return e.resume(ctx, e.newRefundStep(f), !f.ReclaimedAt.IsZero())
}

// newRefundStep returns the step of a stored refund.
func (e *Engine) newRefundStep(f *payment.Refund) step {
	if f.Transaction == 0 {
		return &unlinkedRefund{refund: refund{e, f}}
	}
	return &refund{e, f}
}

// missing closes a payment that the acquirer does not know. A late approval is released: a pending
// reversal is in the same commit.
func (s *authorization) missing(ctx context.Context) error {
	t, o, end := s.t, s.about(), s.cancel
	// A payment that was to be confirmed waits again: the payer may want to pay in another way. One
	// of which no response was sent is removed: a retry under its key is a first request. Any other
	// has failed, and keeps its token.
	if t.Attempt == 0 && (t.Status != payment.Processing || t.Claim == 0) {
		end, o.method = s.fail, ""
	}
	err := s.undo(ctx, o, func(tx *store.Tx) error {
		if err := end(tx); err != nil {
			return err
		}
		return tx.InsertReversal(o.reversal(tx.Now))
	})
	if errors.Is(err, store.ErrConflict) {
		return nil // it has ended meanwhile
	}
	if err == nil {
		s.Log.WarnContext(ctx, "reconcile: payment had no effect", slog.String("transaction", authorizationReference(t)),
			slog.String("status", string(t.Status)), slog.Bool("keyed", t.Claim != 0))
	}
	return err
}

// fail writes a payment that moved nothing as failed.
func (s *authorization) fail(tx *store.Tx) error {
	t := *s.t
	next, err := t.Status.Next(payment.Fail)
	if err != nil {
		return err
	}
	t.Status, t.Version, t.UpdatedAt = next, t.Version+1, tx.Now
	t.Result = payment.Result{
		FailureCode: notProcessed, FailureMessage: "The acquirer never processed this payment; no money was moved.",
	}
	if err := tx.ResolveTransaction(&t); err != nil {
		return err
	}
	return tx.InsertEvent(s.event("transaction.failed", t.Tenant, t.ID, t.Version, s.shown(&t)))
}

// finished returns errStillOpen for a step that was taken up and stays open.
func finished(a Result, err error) error {
	if err == nil && a.Kind == Unknown {
		return errors.Join(errStillOpen, a.cause)
	}
	return err
}
