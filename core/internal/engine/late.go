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
// pending reversal that found the approval, nil for none; done is false if it must go on to release.
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
	e.Observer.AcquirerContradicted(o.kind, found)
	e.Log.ErrorContext(ctx, "late approval of a closed step",
		slog.String("reference", o.reference), slog.Int64("amount", a.Amount), slog.String("action", string(found)))
	return found == LateRecorded, nil
}

// correct records an approved step that was closed, and ends its pending reversal, whose
// idempotency key gets the response. If the step cannot be recorded, correct writes a pending
// reversal.
func (e *Engine) correct(tx *store.Tx, s step, a acquirer.Answer, look *payment.Reversal) (Contradiction, error) {
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
	return LateReversed, tx.InsertReversal(r)
}
