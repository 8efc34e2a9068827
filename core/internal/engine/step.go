package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/vault"
)

// step is one request to the acquirer from its intent to its outcome: an authorization, a capture,
// a void, a refund or an unlinked refund. All kinds share this file and differ only in these
// methods.
//
// A step is never concluded from one attempt while another may be under way. Recovery marks a step
// before it sends anything (store.Tx.ReclaimStep). From then on, an error proves nothing: it is
// true of one attempt only. A step closed without proof gets a pending reversal in the same commit,
// and an approval that finds its step closed corrects the step or is reversed (late.go).
type step interface {
	about() about
	// again sends the request another time, under the same reference. A step whose card number is
	// gone inquires instead.
	again(ctx context.Context, acq acquirer.Acquirer) (acquirer.Answer, error)
	// commit writes the acquirer's result and returns the response that was stored with it.
	// store.ErrConflict if the step is not open.
	commit(ctx context.Context, from origin, a acquirer.Answer) (Result, error)
	// cancel closes the step as one that had no effect.
	cancel(tx *store.Tx) error
	// missing decides about a step that the acquirer does not know.
	missing(ctx context.Context) error
	// leave hands the open step to recovery, and returns the transaction for the response, nil if
	// there is none.
	leave(ctx context.Context) (*payment.Transaction, error)
	// correct records the approval a of a step that was closed without this effect. It returns the
	// response to a success with the correction recorded, and the zero Result with any other. look is
	// the pending reversal that found the approval, nil for a response.
	correct(tx *store.Tx, a acquirer.Answer, look *payment.Reversal) (Result, correction, error)
}

// about describes a step.
type about struct {
	payment.StepID
	kind      Step // for the observer
	tenant    payment.Tenant
	claim     int64  // the idempotency key that the step holds, 0 for none
	reference string // the acquirer's idempotency key
	amount    int64  // minor units
	currency  string
	captured  bool          // the step takes money: once that has settled, only a refund gives it back
	drawn     int64         // the object that used the token up
	method    string        // the payment method that the request named, "" for none
	secrets   vault.Secrets // of the token, if method is one
}

// origin is the attempt that a result belongs to: a request's, or recovery's.
type origin struct {
	request string            // request id
	again   bool              // recovery's
	look    *payment.Reversal // the pending reversal that found the result; nil for none
}

// take makes the first attempt at a step and concludes it.
func (e *Engine) take(
	ctx context.Context, requestID string, s step, send func(context.Context) (acquirer.Answer, error),
) (Result, error) {
	from := origin{request: requestID}
	ctx, cancel := attempt(ctx)
	defer cancel()
	a, err := send(ctx)
	if !errors.Is(err, acquirer.ErrUnavailable) {
		return e.conclude(ctx, from, s, a, err)
	}
	if err := e.cancelFirst(ctx, s); err != nil {
		return e.keepOpen(ctx, from, s, err)
	}
	return Result{}, ErrAcquirerUnavailable
}

// takeAgain is take for a step that recovery can repeat: both attempts send the same.
func (e *Engine) takeAgain(ctx context.Context, requestID string, s step, acq acquirer.Acquirer) (Result, error) {
	return e.take(ctx, requestID, s, func(ctx context.Context) (acquirer.Answer, error) { return s.again(ctx, acq) })
}

// resume takes an unfinished step up for recovery: it marks the step, sends it again and concludes
// it. errStillOpen if that failed.
func (e *Engine) resume(ctx context.Context, s step, reclaimed bool) error {
	o := s.about()
	acq, err := e.acquirer(o.tenant)
	if err != nil {
		return err
	}
	if !reclaimed {
		err := e.Store.Update(ctx, func(tx *store.Tx) error { return tx.ReclaimStep(o.StepID) })
		if errors.Is(err, store.ErrConflict) {
			return nil // it ended, or another recovery has it
		}
		if err != nil {
			return err
		}
	}
	a, err := s.again(ctx, acq)
	switch {
	case errors.Is(err, acquirer.ErrNotFound):
		return s.missing(ctx)
	case err != nil: // also ErrUnavailable, which proves nothing about earlier attempts
		return fmt.Errorf("%w: %w", errStillOpen, err)
	}
	return finished(e.conclude(ctx, origin{request: e.requestID(), again: true}, s, a, nil))
}

// conclude commits the acquirer's result of a step. Without a result the step stays open, and
// recovery goes on with it.
func (e *Engine) conclude(ctx context.Context, from origin, s step, a acquirer.Answer, err error) (Result, error) {
	if err == nil {
		err = e.check(s.about(), a)
	}
	if err != nil {
		return e.keepOpen(ctx, from, s, err)
	}
	out, err := s.commit(ctx, from, a)
	if err == nil {
		return out, nil
	}
	if a.Approved && errors.Is(err, store.ErrConflict) {
		if _, late := e.late(ctx, s, a, nil); late != nil {
			err = errors.Join(err, late)
		}
	}
	return e.keepOpen(ctx, from, s, err)
}

// check refuses an approval of an amount that was not requested: nothing is recorded that the
// acquirer may not mean.
func (e *Engine) check(o about, a acquirer.Answer) error {
	fits := a.Amount == o.amount
	if o.Kind == payment.AuthorizeStep { // possibly a part
		fits = min(1, o.amount) <= a.Amount && a.Amount <= o.amount
	}
	if !a.Approved || fits || o.Kind == payment.VoidStep {
		return nil
	}
	e.Observer.AcquirerContradicted(o.kind, OtherAmount)
	return fmt.Errorf("engine: the acquirer approved %d of %s, want %d", a.Amount, o.reference, o.amount)
}

// keepOpen returns the response to a step whose outcome is unknown or not committed. Recovery
// continues the step.
func (e *Engine) keepOpen(ctx context.Context, from origin, s step, cause error) (Result, error) {
	e.Log.ErrorContext(ctx, "step: outcome open", slog.String("reference", s.about().reference), slog.Any("error", cause))
	shown, err := s.leave(ctx)
	if err != nil {
		return Result{}, err
	}
	return e.unknown(from.request, shown, cause), nil
}

// cancelFirst closes a step because its first attempt certainly had no effect, and frees its key
// and token. store.ErrConflict if recovery has taken the step up.
func (e *Engine) cancelFirst(ctx context.Context, s step) error {
	id := s.about().StepID
	return e.undo(ctx, s.about(), func(tx *store.Tx) error {
		if err := tx.KeepStep(id); err != nil {
			return err
		}
		return s.cancel(tx)
	})
}

// undo commits the end of a step that had no effect, with its key freed and its token returned.
func (e *Engine) undo(ctx context.Context, o about, end func(tx *store.Tx) error) error {
	t := &payment.Transaction{Tenant: o.tenant, PaymentMethod: o.method}
	return e.returned(ctx, t, o.secrets, func(token int64, sealed payment.Sealed) error {
		return e.Store.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error {
			if err := end(tx); err != nil {
				return err
			}
			if token != 0 {
				if err := tx.ReturnToken(token, o.drawn, sealed); err != nil {
					return err
				}
			}
			return tx.ReleaseKey(o.claim)
		})
	})
}

// The codes of the engine's own refusals.
const (
	cardDeclined     = "card_declined"     // the acquirer declined a payment
	acquirerDeclined = "acquirer_declined" // the acquirer declined a capture, void or refund
	notProcessed     = "not_processed"     // the acquirer never received a step
	keyNotRollable   = "api_key_not_rollable"
)

// unavailable is why a capture or refund failed whose request certainly did not reach the acquirer.
func unavailable() *payment.Refusal {
	return &payment.Refusal{
		Code: "acquirer_unavailable", Message: "The acquirer could not be reached. Nothing was changed.",
	}
}

// followWriter changes the objects of a capture, void or refund, and returns the response to a
// success; refused is nil for one.
type followWriter func(tx *store.Tx, refused *payment.Refusal) (Result, error)

// commitFollow writes the acquirer's result of a capture, void or refund. A decline is the result of
// one attempt. If another attempt may still be under way, a look for its effect is pending from the
// same commit on.
func (e *Engine) commitFollow(
	ctx context.Context, from origin, s step, a acquirer.Answer, write followWriter,
) (Result, error) {
	o := s.about()
	var refused *payment.Refusal
	if !a.Approved {
		message := "The acquirer declined this step (response code " + a.ResponseCode + ")."
		refused = &payment.Refusal{Code: acquirerDeclined, Message: message}
	}
	var out Result
	var dropped bool
	err := e.Store.Update(context.WithoutCancel(ctx), func(tx *store.Tx) (err error) {
		look := false
		if dropped, err = mayBeDropped(tx, from, o, a); err != nil || dropped {
			return err
		}
		if refused != nil {
			if look, err = contested(tx, from, o); err != nil {
				return err
			}
		}
		if out, err = write(tx, refused); err != nil {
			return err
		}
		if refused != nil {
			if out, err = e.declined(tx, from.request, o, refused, look); err != nil {
				return err
			}
		}
		if err := endLook(tx, from, o, refused == nil); err != nil {
			return err
		}
		return tx.CompleteKey(o.claim, out.Status, out.Body)
	})
	if err == nil && dropped {
		err = errMayBeDropped
	}
	return out, err
}

// errMayBeDropped: the acquirer approved the step and may have dropped it since.
var errMayBeDropped = errors.New("engine: the acquirer may have dropped the step that it approved; an inquiry decides")

// mayBeDropped reports whether the acquirer was requested to drop an open step that a response
// approved. Then its look decides. Only an unlinked refund is dropped while it is open.
func mayBeDropped(tx *store.Tx, from origin, o about, a acquirer.Answer) (bool, error) {
	if !a.Approved || from.look != nil || o.Transaction != 0 {
		return false, nil
	}
	return mustLook(tx, o, a, false)
}

// endLook ends the pending reversal of a step that was open until this command. Only an unlinked
// refund can have one. An approval ends it whichever attempt received it: otherwise recovery would
// request that the acquirer drops the refund. A decline ends only the look that found it.
func endLook(tx *store.Tx, from origin, o about, approved bool) error {
	switch {
	case approved && o.Transaction == 0:
		_, err := tx.RemoveReversal(o.StepID)
		return err
	case from.look != nil:
		return tx.EndReversal(from.look)
	}
	return nil
}

// contested reports whether an attempt at an open step other than from may still be under way. It
// locks a step that recovery has not reclaimed, so that recovery cannot reclaim it before the commit.
func contested(tx *store.Tx, from origin, o about) (bool, error) {
	if from.again {
		return from.look == nil, nil
	}
	err := tx.KeepStep(o.StepID)
	if errors.Is(err, store.ErrConflict) { // reclaimed; the write of a step that has ended fails
		return true, nil
	}
	return false, err
}

// declined returns the response to a declined capture, void or refund. With look it writes a
// pending look for an effect of another attempt.
func (e *Engine) declined(tx *store.Tx, request string, o about, refused *payment.Refusal, look bool) (Result, error) {
	if look {
		r := o.reversal(tx.Now)
		r.Acknowledge(tx.Now) // there is nothing to release
		if err := tx.InsertReversal(r); err != nil {
			return Result{}, err
		}
	}
	if o.Transaction == 0 {
		return e.refused(request, refused, nil), nil
	}
	t, err := tx.Transaction(o.tenant, o.Transaction)
	if err != nil {
		return Result{}, err
	}
	return e.refused(request, refused, t), nil
}

// transactionOf reads the transaction of a capture, void or refund that stays open. Recovery claims
// the step once its request has returned.
func (e *Engine) transactionOf(ctx context.Context, o about) (*payment.Transaction, error) {
	if o.Transaction == 0 {
		return nil, nil //nolint:nilnil // an unlinked refund has none
	}
	return e.Store.Transaction(context.WithoutCancel(ctx), o.tenant, o.Transaction)
}
