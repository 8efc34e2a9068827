package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// A step that the acquirer does not have is closed, or waits to be closed, with a pending reversal
// in the same commit. So the store has decided before core sends a drop request. A later approval
// cannot become the step's outcome unnoticed.

// recoverReversal looks for the effect of a step, and releases or records an effect that it
// finds.
func (e *Engine) recoverReversal(ctx context.Context, r *payment.Reversal) error {
	acq, err := e.account(ctx, r.Tenant, r.Account)
	if err != nil {
		return err
	}
	about, err := e.sentReversed(ctx, r)
	if err != nil {
		return err
	}
	a, err := acq.Inquire(ctx, about)
	step := r.Step.Kind
	switch {
	case errors.Is(err, acquirer.ErrUndecided) && step != payment.AuthorizeStep,
		errors.Is(err, acquirer.ErrNotListed) && r.Refused == 0 && r.Held == 0:
		return e.undecided(ctx, r, err)
	case errors.Is(err, acquirer.ErrNotFound) &&
		(step == payment.VoidStep || r.Asked > 0 && r.Refused == 0 && r.Held == 0):
		return e.lookAgain(ctx, r) // a void cannot be dropped
	case errors.Is(err, acquirer.ErrNotFound):
		return e.requestRelease(ctx, acq, r, false)
	case err != nil:
		return fmt.Errorf("%w: %w", errStillOpen, err)
	case step != payment.AuthorizeStep && !a.Released:
		return e.found(ctx, acq, r, a)
	case !a.Approved || a.Released || a.Amount == 0:
		return e.endReversal(ctx, r)
	}
	if r.Held == 0 { // a late response has counted its approval
		e.Observer.AcquirerContradicted(step, LateReversed)
	}
	r.Held, r.AcquirerID = a.Amount, cmp.Or(a.ID, r.AcquirerID)
	return e.requestRelease(ctx, acq, r, true)
}

// found handles the result of a capture, void or refund that a look found. The result becomes the
// outcome of a pending step. An approval corrects a closed step. If its amount is no longer
// available, the approval is released. A void cannot be released. If it never fits, or the amount
// is another one, an operator must resolve it.
//
// A decline of a closed step does not end the look. The request was sent more than once, and the
// decline may be for the repeated request while the first is still in progress. An authorization is
// sent once under its reference, so a decline ends its look.
func (e *Engine) found(ctx context.Context, acq acquirer.Acquirer, r *payment.Reversal, a acquirer.Response) error {
	s, state, err := e.stepOf(ctx, r)
	switch {
	case err != nil:
		return err
	case state == payment.StepPending:
		return e.foundPending(ctx, r, s, a)
	case !a.Approved:
		return e.lookAgain(ctx, r)
	}
	if err := e.check(s.about(), a); err != nil {
		return e.undecided(ctx, r, err)
	}
	done, err := e.late(ctx, s, a, r)
	if err != nil || done {
		return unlessChanged(err)
	}
	r.Held, r.AcquirerID = a.Amount, cmp.Or(a.ID, r.AcquirerID)
	if r.Step.Kind == payment.VoidStep {
		return e.undecided(ctx, r, errNotRecordable)
	}
	return e.requestRelease(ctx, acq, r, true)
}

// errNotRecordable: the acquirer shows a void that the transaction cannot record.
var errNotRecordable = errors.New("engine: the payment is voided at the acquirer, and cannot be voided here any more")

// undecided counts a look whose result neither records nor ends a step. After LateWindow the
// reversal waits for an operator, and recovery sends no more inquiries. The alert comes before the
// commit, so that no death of the process can prevent it.
func (e *Engine) undecided(ctx context.Context, r *payment.Reversal, why error) error {
	if r.LookAgain(e.Clock.Now()) {
		return e.changeReversal(ctx, r, (*store.Tx).PostponeReversal)
	}
	r.DueAt = payment.Never()
	e.Observer.AcquirerContradicted(r.Step.Kind, Undecided)
	e.Log.ErrorContext(ctx, "reversal: the acquirer's records do not decide; an operator must resolve it",
		slog.String("reference", stepReference(r.Step)), slog.Any("error", why))
	if err := e.changeReversal(ctx, r, (*store.Tx).PostponeReversal); err != nil {
		return err
	}
	return fmt.Errorf("%w: %w", errStillOpen, why)
}

// foundPending concludes a pending step with the result that a look found. An approval contradicts
// the acquirer if it was requested to drop the step.
func (e *Engine) foundPending(ctx context.Context, r *payment.Reversal, s step, a acquirer.Response) error {
	err := leftOpen(e.conclude(ctx, origin{request: e.requestID(), recovery: true, look: r}, s, a, nil))
	if err == nil && a.Approved && r.Requested {
		e.contradicted(ctx, s.about(), a, LateRecorded)
	}
	return err
}

// stepOf reads the step of a pending reversal that is not an authorization, and its state.
func (e *Engine) stepOf(ctx context.Context, r *payment.Reversal) (step, payment.StepState, error) {
	switch r.Step.Kind {
	case payment.CaptureStep:
		c, err := e.Store.Capture(ctx, r.Tenant, r.Step.ID)
		if err != nil {
			return nil, "", err
		}
		return &captureStep{e, c}, c.State, nil
	case payment.RefundStep:
		f, err := e.Store.Refund(ctx, r.Tenant, r.Step.ID)
		if err != nil {
			return nil, "", err
		}
		return e.newRefundStep(f), f.State, nil
	case payment.VoidStep, payment.AuthorizeStep, payment.ReversalStep:
	}
	t, err := e.Store.Transaction(ctx, r.Tenant, r.Step.Transaction)
	if err != nil {
		return nil, "", err
	}
	state := voidState(t, r.Step.ID)
	t.OperationID = r.Step.ID
	return &voidStep{e, t}, state, nil
}

// requestRelease requests the release of a known step. For an unknown one it requests that the
// acquirer drops its request. The reference and tag of the release request are written before it is
// sent. From then on an approval in a response to the step is no proof of an effect (late.go). If
// the reversal was changed or ended meanwhile, no request is sent.
//
// A refund that certainly had no effect is not sent again under its reference. An acquirer that
// undoes a refund by its reference would find the first one, and the second one would stand.
func (e *Engine) requestRelease(ctx context.Context, acq acquirer.Acquirer, r *payment.Reversal, known bool) error {
	original, err := e.sentReversed(ctx, r)
	if err != nil {
		return err
	}
	original.Amount = cmp.Or(r.Held, r.Amount)
	reference := reversalReference(r, known)
	repeated := r.Release == reference
	if !repeated {
		tag, err := prepare(ctx, acq)
		if err != nil {
			return fmt.Errorf("%w: %w", errStillOpen, err)
		}
		r.Requested, r.Release, r.ReleaseTag = true, reference, tag
		err = e.Store.Update(ctx, func(tx *store.Tx) error { return tx.PostponeReversal(r) })
		if err != nil {
			return unlessChanged(err)
		}
		r.Version++
	}
	byRefund := known && r.ByRefund()
	undo := acq.Refund
	if !byRefund {
		undo = func(ctx context.Context, f acquirer.Follow) (acquirer.Response, error) {
			return releaseByVoid(ctx, acq, f)
		}
	}
	a, err := undo(ctx, acquirer.Follow{
		Reference: reference, Tag: r.ReleaseTag, Again: repeated, Drop: !known, Original: original,
		Amount: original.Amount, Currency: r.Currency, Last4: e.last4Of(ctx, r),
	})
	if err != nil {
		return e.releaseFailed(ctx, r, byRefund, repeated, err)
	}
	return e.concludeRelease(ctx, r, a, known)
}

// releaseFailed handles a release request without a response. The next attempt repeats the request
// under its reference. The exception is a refund that certainly had no effect. The next refund has
// another reference and tag: each reference is sent once. Only its own attempt proves that a refund
// was not sent. An acquirer that searches for a repeated refund would search for ever.
func (e *Engine) releaseFailed(ctx context.Context, r *payment.Reversal, byRefund, repeated bool, cause error) error {
	open := fmt.Errorf("%w: %w", errStillOpen, cause)
	switch {
	case byRefund && !repeated && errors.Is(cause, acquirer.ErrUnavailable):
		r.Asked++
		return errors.Join(open, e.changeReversal(ctx, r, (*store.Tx).PostponeReversal))
	case byRefund && repeated && errors.Is(cause, acquirer.ErrNotFound):
		r.Asked++
		return e.changeReversal(ctx, r, (*store.Tx).PostponeReversal)
	}
	return open
}

// concludeRelease writes the acquirer's response to a release or drop request. An approved release
// ends the reversal.
func (e *Engine) concludeRelease(ctx context.Context, r *payment.Reversal, a acquirer.Response, known bool) error {
	what := []any{slog.String("reference", stepReference(r.Step)), slog.Int64("held", r.Held)}
	switch {
	case !a.Approved:
		r.Refuse(e.Clock.Now())
		e.Log.ErrorContext(ctx, "reversal: the acquirer refused to release an ended payment; it is retried", append(what,
			slog.String("response_code", a.ResponseCode), slog.Int64("refused", r.Refused), slog.Time("again", r.DueAt))...)
	case known:
		e.Log.WarnContext(ctx, "reversal: late approval reversed", what...)
		return e.endReversal(ctx, r)
	default:
		r.Acknowledge(e.Clock.Now())
	}
	return e.changeReversal(ctx, r, (*store.Tx).PostponeReversal)
}

// last4Of returns the last digits of the payment source of a reversed step, "" if they are unknown.
// Captures, voids and refunds do not store them: their transaction does.
func (e *Engine) last4Of(ctx context.Context, r *payment.Reversal) string {
	if r.Last4 != "" || r.Step.Kind == payment.AuthorizeStep {
		return r.Last4
	}
	t, err := e.Store.Transaction(ctx, r.Tenant, r.Step.Transaction)
	if err != nil {
		return "" // an unlinked refund whose source was erased has no transaction
	}
	return last4(t.Details)
}

// lookAgain postpones a look that found no effect. It ends the reversal once LateWindow has passed.
func (e *Engine) lookAgain(ctx context.Context, r *payment.Reversal) error {
	if !r.LookAgain(e.Clock.Now()) {
		return e.endReversal(ctx, r)
	}
	return e.changeReversal(ctx, r, (*store.Tx).PostponeReversal)
}

// endReversal ends r because the step had no effect. It frees the step's idempotency key, and fails
// a refund that waited for the end.
func (e *Engine) endReversal(ctx context.Context, r *payment.Reversal) error {
	return e.changeReversal(ctx, r, e.writeEnd)
}

// writeEnd is the command of endReversal.
func (e *Engine) writeEnd(tx *store.Tx, r *payment.Reversal) error {
	if err := tx.EndReversal(r); err != nil {
		return err
	}
	if err := tx.ReleaseKey(r.Claim); err != nil || r.Step.Kind != payment.RefundStep {
		return err
	}
	f, err := tx.Refund(r.Tenant, r.Step.ID)
	if err != nil || f.State != payment.StepPending {
		return err
	}
	claim := f.Claim
	refused := &payment.Refusal{
		Code: notProcessed, Message: "No money was moved: the acquirer never processed this refund, or reversed it.",
	}
	if _, err := (&refundStep{e, f}).write(tx, refused); err != nil {
		return err
	}
	return tx.ReleaseKey(claim)
}

// changeReversal commits a change of a reversal. It does nothing if the reversal was changed or
// ended meanwhile.
func (e *Engine) changeReversal(
	ctx context.Context, r *payment.Reversal, change func(*store.Tx, *payment.Reversal) error,
) error {
	return unlessChanged(e.Store.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error { return change(tx, r) }))
}

// unlessChanged drops the error of a reversal that was changed or ended meanwhile: the other change
// stands.
func unlessChanged(err error) error {
	if errors.Is(err, store.ErrConflict) {
		return nil
	}
	return err
}
