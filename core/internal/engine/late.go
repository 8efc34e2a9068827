package engine

import (
	"context"
	"log/slog"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// late handles an approval of a step that was closed without effect. It corrects the step if
// possible. If the amount is no longer available, the acquirer must reverse the step. It must also
// reverse every authorization, because the merchant may have been paid otherwise. A step that is
// not closed is left alone. look is the pending reversal that found the approval, nil for a
// response. done is false if look must go on to release.
func (e *Engine) late(ctx context.Context, s step, a acquirer.Response, look *payment.Reversal) (done bool, err error) {
	var found Contradiction
	err = e.Store.Finish(ctx, s.about().tenant, func(tx *store.Tx) (err error) {
		found, err = writeCorrection(tx, s, a, look)
		return err
	})
	if err != nil || found == "" {
		return true, err
	}
	if found == Undecided && look.Held > 0 {
		return false, nil // an earlier look has reported it
	}
	e.contradicted(ctx, s.about(), a, found)
	return found == LateRecorded, nil
}

// writeCorrection corrects a step. The idempotency key of its pending reversal gets the response.
// If a response approved a step that cannot be recorded, writeCorrection writes a pending reversal.
// It returns "" if the approval does not contradict the record. That is so if the step was not
// closed, if a look decides, or if this approval closed the step.
func writeCorrection(tx *store.Tx, s step, a acquirer.Response, look *payment.Reversal) (Contradiction, error) {
	o := s.about()
	out, result, err := s.correct(tx, a, look)
	switch {
	case err != nil || result == leftToLook || result == notClosed && look == nil:
		return "", err
	case result == notClosed:
		if err := tx.EndReversal(look); err != nil {
			return "", err
		}
		return "", tx.ReleaseKey(look.Claim)
	case result == recorded:
		claim, err := tx.RemoveReversal(o.StepID)
		if err != nil {
			return "", err
		}
		return LateRecorded, tx.CompleteKey(claim, out.Status, out.Body)
	case look != nil && o.Kind == payment.VoidStep:
		return Undecided, nil // nothing releases a void
	case look != nil:
		return LateReversed, nil // look goes on to release
	}
	r := o.reversal(tx.Now)
	r.Held, r.AcquirerID = a.Amount, a.ID
	if result == samePart {
		return "", tx.InsertReversal(r)
	}
	return LateReversed, tx.InsertReversal(r)
}

// contradicted counts and logs an approval of a step that had failed, or that the acquirer had to
// drop.
func (e *Engine) contradicted(ctx context.Context, o about, a acquirer.Response, what Contradiction) {
	e.Observer.AcquirerContradicted(o.Kind, what)
	e.Log.ErrorContext(ctx, "the acquirer approved a step that core had closed: see action", slog.String("reference", o.reference), slog.Int64("amount", a.Amount),
		slog.String("action", string(what)))
}

// mustLook reports whether a pending reversal must decide about a capture, void or refund that a
// response approved. The acquirer may have processed a release request after it sent the response,
// so an inquiry must find the present state. The reversal is due immediately. A closed step whose
// reversal has ended gets a new one. mustLook changes nothing if no release was requested.
func mustLook(tx *store.Tx, o about, a acquirer.Response, closed bool) (bool, error) {
	exists, requested, err := tx.ReleaseRequested(o.StepID)
	if err != nil || exists && !requested || !exists && !closed {
		return false, err
	}
	look := o.reversal(tx.Now)
	look.Held, look.AcquirerID = a.Amount, a.ID
	return true, tx.InsertReversal(look)
}
