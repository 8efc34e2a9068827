package engine

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// reversal returns the pending reversal of a step that is closed at a time. It is due at once.
func (o about) reversal(at time.Time) *payment.Reversal {
	return &payment.Reversal{
		Step: o.StepID, Tenant: o.tenant, Amount: o.amount, Currency: o.currency, Captured: o.captured, Since: at, DueAt: at,
	}
}

// correction is the effect of an approval on its step (step.correct).
type correction string

const (
	notClosed     correction = "not_closed"     // the step is open, or has this effect
	recorded      correction = "recorded"       // the step was closed, and now has the effect
	leftToLook    correction = "left_to_look"   // a pending reversal decides (mustLook)
	samePart      correction = "same_part"      // a payment that was declined for the same unwanted part
	notRecordable correction = "not_recordable" // the step is closed, and the acquirer must reverse the effect
)

// late handles an approval of a step that was closed without effect. The step is corrected if
// possible. The acquirer must reverse a step whose amount is no longer available, and every
// authorization: the merchant may have been paid otherwise. A step that is not closed is left alone.
// look is the pending reversal that found the approval, nil for a response. done is false if look
// must go on to release.
func (e *Engine) late(ctx context.Context, s step, a acquirer.Answer, look *payment.Reversal) (done bool, err error) {
	var found Contradiction
	err = e.Store.Update(context.WithoutCancel(ctx), func(tx *store.Tx) (err error) {
		found, err = writeCorrection(tx, s, a, look)
		return err
	})
	if err != nil || found == "" {
		return true, err
	}
	e.contradicted(ctx, s.about(), a, found)
	return found == LateRecorded, nil
}

// writeCorrection corrects a step. The idempotency key of its pending reversal gets the response. If
// a response approved a step that cannot be recorded, writeCorrection writes a pending reversal. It
// returns "" if the approval contradicts nothing: the step was not closed, a look decides, or the
// step was closed for this approval.
func writeCorrection(tx *store.Tx, s step, a acquirer.Answer, look *payment.Reversal) (Contradiction, error) {
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
	case look != nil:
		return LateReversed, nil // look goes on to release
	}
	r := o.reversal(tx.Now)
	r.Held = a.Amount
	if result == samePart {
		return "", tx.InsertReversal(r)
	}
	return LateReversed, tx.InsertReversal(r)
}

// correctFollow is step.correct of a capture, void or refund in a state. record writes the step and
// its events; store.ErrConflict if the amount is no longer available.
func correctFollow(
	tx *store.Tx, o about, state payment.StepState, a acquirer.Answer, look *payment.Reversal,
	record func() (Result, error),
) (Result, correction, error) {
	if state != payment.StepFailed {
		return Result{}, notClosed, nil
	}
	if look == nil {
		if must, err := mustLook(tx, o, a, true); err != nil || must {
			return Result{}, leftToLook, err
		}
	}
	out, err := record()
	if errors.Is(err, store.ErrConflict) {
		return Result{}, notRecordable, nil
	}
	return out, recorded, err
}

// contradicted counts and logs an approval of a step that had failed, or that was to be dropped.
func (e *Engine) contradicted(ctx context.Context, o about, a acquirer.Answer, what Contradiction) {
	e.Observer.AcquirerContradicted(o.kind, what)
	e.Log.ErrorContext(ctx, "late approval of a closed step", slog.String("reference", o.reference), slog.Int64("amount", a.Amount),
		slog.String("action", string(what)))
}

// mustLook reports whether a pending reversal must decide about a capture, void or refund that a
// response approved. The acquirer may have processed a release request after it sent the response,
// so an inquiry must report what is left. The reversal is due at once. A closed step whose reversal
// has ended gets a new one. mustLook changes nothing if no release was requested.
func mustLook(tx *store.Tx, o about, a acquirer.Answer, closed bool) (bool, error) {
	exists, requested, err := tx.ReleaseRequested(o.StepID)
	if err != nil || exists && !requested || !exists && !closed {
		return false, err
	}
	look := o.reversal(tx.Now)
	look.Held = a.Amount
	return true, tx.InsertReversal(look)
}
