package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// Decision is the outcome that an operator gives to a step that the acquirer cannot decide.
type Decision string

// The decisions.
const (
	DecisionApproved Decision = "approved"  // the acquirer carried the step out
	DecisionDeclined Decision = "declined"  // the acquirer refused it
	DecisionNoEffect Decision = "no_effect" // never carried out; recovery still looks for an effect, to release or record it
	DecisionReleased Decision = "released"  // only for a pending reversal: the acquirer holds nothing
)

// The reasons why a step is not resolved. Nothing was changed.
var (
	// ErrStepRunning: an attempt at the step has no result yet, or its request may still work on
	// it.
	ErrStepRunning = errors.New("engine: an attempt at the step may be in progress: retry in a minute")
	// ErrOutdated: recovery began an attempt at the step after the records, or up to Patience before
	// them.
	ErrOutdated = errors.New("engine: as-of: recovery may have ended the step since then: read the acquirer's records again")
	// ErrDecision: the step cannot have this decision.
	ErrDecision = errors.New(
		"engine: outcome: want released for a pending reversal, and approved, declined or no_effect for other steps")
)

// Resolution is an operator's decision about a step.
type Resolution struct {
	Decision Decision
	Reason   string // 10 to 500 characters: by which statement or person
	// AcquirerID is the acquirer's id of a step that it carried out, "" if unknown. Later steps name
	// it.
	AcquirerID string
	// AsOf is the time of the acquirer's records that show an approval. An attempt of recovery may
	// end the step at the acquirer, so records from before the last attempt prove nothing.
	AsOf time.Time
}

// ResolvedStep is an unfinished step. Its resolution is nil unless an operator has ended it.
type ResolvedStep struct {
	*payment.Unfinished
	Resolution *Resolution
}

// ResolveStep ends an unfinished step as an operator decides, with the events, the stored response
// and the audit record in one commit. It returns payment.ErrNotFound if there is no such unfinished
// step, and ErrStepRunning and ErrDecision as described there.
func (e *Engine) ResolveStep(ctx context.Context, r Request, f payment.UnfinishedFilter, d Resolution) (Result, error) {
	if (f.Kind == payment.ReversalStep) != (d.Decision == DecisionReleased) {
		return Result{}, ErrDecision
	}
	defer e.running.enter(ctx, r)()
	found, err := e.Store.UnfinishedSteps(ctx, f, 1)
	if err != nil {
		return Result{}, err
	}
	out, err := e.intent(ctx, r, func(tx *store.Tx, _ int64) (*Result, error) {
		if len(found) == 0 {
			return nil, payment.ErrNotFound
		}
		u := &found[0]
		if err := e.resolveHeld(tx, r, u, d); err != nil {
			return nil, err
		}
		result := e.existing(&ResolvedStep{u, &d})
		kept := *u
		kept.Client.Address = "" // no erasure of personal data changes an audit record
		return &result, e.Audit(tx, r, Action{
			Name: "steps.resolve", Object: StepName(u.Step),
			Before: string(e.shown(&ResolvedStep{&kept, nil})), After: string(e.shown(&ResolvedStep{&kept, &d})),
		})
	})
	return value(out), err
}

// resolveHeld ends a step while recovery is kept off it.
func (e *Engine) resolveHeld(tx *store.Tx, r Request, u *payment.Unfinished, d Resolution) error {
	err := tx.HoldStep(u.Step, Patience)
	switch {
	case errors.Is(err, store.ErrAttempt):
		return ErrStepRunning
	case errors.Is(err, store.ErrConflict):
		return payment.ErrNotFound
	case err != nil:
		return err
	}
	age := tx.Now.Sub(u.Since)
	if e.inFlight.has(u.Step) || u.Step.Kind != payment.ReversalStep && -store.ClockSlack < age && age < Patience {
		return ErrStepRunning // its request
	}
	if err := upToDate(tx, u.Step, d); err != nil {
		return err
	}
	if err := e.resolveStep(tx, r, u, d); errors.Is(err, store.ErrConflict) {
		return fmt.Errorf("the step has changed: %w", store.ErrChanged)
	} else if err != nil {
		return err
	}
	return tx.RemoveAttempt(u.Step)
}

// upToDate returns ErrOutdated if an attempt may have ended the step since the records that show
// its approval.
func upToDate(tx *store.Tx, s payment.StepID, d Resolution) error {
	if d.Decision != DecisionApproved {
		return nil
	}
	read := d.AsOf
	if read.After(tx.Now) { // by another clock
		read = tx.Now
	}
	attempted, err := tx.AttemptedAfter(s, read.Add(-Patience))
	if err == nil && attempted {
		err = ErrOutdated
	}
	return err
}

func (e *Engine) resolveStep(tx *store.Tx, r Request, u *payment.Unfinished, d Resolution) error {
	switch u.Step.Kind {
	case payment.ReversalStep:
		held, err := tx.Reversal(u.Step.ID)
		if err != nil {
			return err
		}
		return e.writeEnd(tx, held)
	case payment.AuthorizeStep:
		t, err := tx.TransactionForUpdate(u.Tenant, u.Step.Transaction)
		if err != nil {
			return err
		}
		return e.resolvePayment(tx, r, &authorizationStep{Engine: e, t: t}, d)
	case payment.VoidStep:
		t, err := tx.TransactionForUpdate(u.Tenant, u.Step.Transaction)
		if err != nil {
			return err
		}
		s := &voidStep{e, t}
		return e.resolveFollow(tx, r, s, s.write, d.Decision)
	case payment.CaptureStep:
		c, err := tx.Capture(u.Tenant, u.Step.ID)
		if err != nil {
			return err
		}
		c.AcquirerID = d.AcquirerID
		s := &captureStep{e, c}
		return e.resolveFollow(tx, r, s, s.write, d.Decision)
	case payment.RefundStep:
	}
	f, err := tx.Refund(u.Tenant, u.Step.ID)
	if err != nil {
		return err
	}
	f.AcquirerID = d.AcquirerID
	s := &refundStep{e, f}
	return e.resolveFollow(tx, r, s, s.write, d.Decision)
}

// resolvePayment ends an authorization. Unless it was approved, its reversal is pending: the
// acquirer may hold the amount. Without an effect it has failed, and its token stays used.
func (e *Engine) resolvePayment(tx *store.Tx, r Request, s *authorizationStep, d Resolution) error {
	if d.Decision != DecisionNoEffect {
		if err := e.recordPayment(tx, r, s.t, d); err != nil || d.Decision == DecisionApproved {
			return err
		}
		return tx.InsertReversal(s.about().reversal(tx.Now))
	}
	o := s.about()
	if err := s.fail(tx); err != nil {
		return err
	}
	if err := tx.InsertReversal(o.reversal(tx.Now)); err != nil {
		return err
	}
	return tx.ReleaseKey(o.claim)
}

// recordPayment writes an authorization with the outcome that the operator reports. An approval is
// for the whole amount. A decline is final, also of a confirmation: the acquirer has not proved it.
func (e *Engine) recordPayment(tx *store.Tx, r Request, open *payment.Transaction, d Resolution) error {
	const unchecked = "not_processed"
	approved := d.Decision == DecisionApproved
	a := acquirer.Response{
		Approved: approved, ID: d.AcquirerID, Checks: acquirer.Checks{CVC: unchecked, AddressLine: unchecked, PostalCode: unchecked},
	}
	if approved {
		a.Amount = open.Amount
	} else {
		a.DeclineCode = "generic_decline"
	}
	t := *open
	t.Status = payment.Unknown
	if err := resolve(&t, a, tx.Now); err != nil {
		return err
	}
	if approved {
		if err := tx.ForgetCardAttempts(open, limitedCard(open)); err != nil {
			return err
		}
	}
	return tx.FinishPayment(e.newOutcome(&t, open.Claim, e.decided(r.ID, &t)))
}

// resolveFollow ends a capture, void or refund. Unless it was approved, a look for its effect is
// pending. Without an effect its idempotency key stays taken until the look has ended: a retry
// would repeat a step whose effect may still arrive.
func (e *Engine) resolveFollow(tx *store.Tx, r Request, s step, write followWriter, end Decision) error {
	o := s.about()
	switch end {
	case DecisionApproved:
		out, err := write(tx, nil)
		if err != nil {
			return err
		}
		if _, err := tx.RemoveReversal(o.StepID); err != nil { // of an unlinked refund
			return err
		}
		return tx.CompleteKey(o.claim, out.Status, out.Body)
	case DecisionDeclined:
		refused := &payment.Refusal{Code: acquirerDeclined, Message: "The acquirer declined this step."}
		if _, err := write(tx, refused); err != nil {
			return err
		}
		out, err := e.declined(tx, r.ID, o, refused, true)
		if err != nil {
			return err
		}
		return tx.CompleteKey(o.claim, out.Status, out.Body)
	case DecisionNoEffect, DecisionReleased:
	}
	if _, err := write(tx, unprocessed()); err != nil {
		return err
	}
	look := o.reversal(tx.Now)
	look.Claim = o.claim
	return tx.InsertReversal(look)
}
