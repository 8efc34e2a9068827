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

// late handles an approval of a step that was closed without effect. The step is corrected. If its
// amount is no longer available, the acquirer must reverse it, and so it must an authorization,
// whose merchant may have paid in another way. A step that stands is left alone. look is the
// pending reversal that found the approval, nil for a response, which records nothing if a release
// may have been requested (leftToLook). done is false if look must go on to release.
func (e *Engine) late(ctx context.Context, s step, a acquirer.Answer, look *payment.Reversal) (done bool, err error) {
	o := s.about()
	var found Contradiction
	err = e.Store.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		found = ""
		closed, err := s.closed(tx, a)
		if err == nil && closed {
			found, err = e.correct(tx, s, a, look)
		}
		if err != nil || look == nil || found != "" {
			return err
		}
		if err := tx.EndReversal(look); err != nil {
			return err
		}
		return tx.ReleaseKey(look.Claim)
	})
	if err != nil || found == "" {
		return true, err
	}
	e.contradicted(ctx, o, a, found)
	return found == LateRecorded, nil
}

// contradicted counts and logs an approval of a step that had failed, or that was to be dropped.
func (e *Engine) contradicted(ctx context.Context, o about, a acquirer.Answer, what Contradiction) {
	e.Observer.AcquirerContradicted(o.kind, what)
	e.Log.ErrorContext(ctx, "late approval of a closed step", slog.String("reference", o.reference), slog.Int64("amount", a.Amount),
		slog.String("action", string(what)))
}

// leftToLook reports whether a pending reversal must decide about a capture, void or refund that a
// response approved. The acquirer may have processed a release request after it sent the response,
// so an inquiry must report what is left. The reversal is due at once. A closed step whose reversal
// has ended gets a new one. leftToLook changes nothing if no release was requested.
func leftToLook(tx *store.Tx, o about, a acquirer.Answer, closed bool) (bool, error) {
	exists, requested, err := tx.ReleaseRequested(o.StepID)
	if err != nil || exists && !requested || !exists && !closed {
		return false, err
	}
	look := o.reversal(tx.Now)
	look.Held = a.Amount
	return true, tx.InsertReversal(look)
}

// correct records an approved step that was closed, and ends its pending reversal, whose
// idempotency key gets the response. If the step cannot be recorded, correct writes a pending
// reversal. It returns no contradiction if a look decides, or if the approval is one that the step
// was closed for.
func (e *Engine) correct(tx *store.Tx, s step, a acquirer.Answer, look *payment.Reversal) (Contradiction, error) {
	if o := s.about(); look == nil && o.Kind != payment.AuthorizeStep {
		if left, err := leftToLook(tx, o, a, true); err != nil || left {
			return "", err
		}
	}
	out, err := s.correct(tx)
	if err == nil {
		claim, err := tx.RemoveReversal(s.about().StepID)
		if err != nil {
			return "", err
		}
		return LateRecorded, tx.CompleteKey(claim, out.Status, out.Body)
	}
	if !errors.Is(err, store.ErrConflict) {
		return "", err
	}
	if look != nil {
		return LateReversed, nil // it goes on to release
	}
	r := s.about().reversal(tx.Now)
	r.Held = a.Amount
	if errors.Is(err, errPartDeclined) {
		return "", tx.InsertReversal(r)
	}
	return LateReversed, tx.InsertReversal(r)
}
