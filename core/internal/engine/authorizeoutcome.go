package engine

import (
	"context"
	"errors"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// commit writes the outcome of an open payment. An approval of less than the payment accepts is
// released first, and is a decline then. If the acquirer refuses the release, the pending reversal
// of the part is in the commit of the decline.
func (s *authorizationStep) commit(ctx context.Context, from origin, a acquirer.Response) (Result, error) {
	if unwantedPart(s.t, a) {
		var err error
		if s.refused == 0 { // send has not released it
			s.refused, err = s.releasePart(ctx, s.t, a, from.recovery)
		}
		if err != nil {
			return Result{}, err
		}
		s.partID = a.ID
		a = tooLittle(a)
	}
	for {
		out, err := s.write(ctx, from, a)
		if !errors.Is(err, store.ErrConflict) || !s.changed(ctx) {
			return out, err
		}
	}
}

// write writes the outcome of an open payment.
func (s *authorizationStep) write(ctx context.Context, from origin, a acquirer.Response) (Result, error) {
	t := *s.t
	if err := resolve(&t, a, s.Clock.Now().UTC().Truncate(time.Millisecond)); err != nil {
		return Result{}, err
	}
	t.Result.Reached = !neverSends(t.Tenant, t.Account, t.Tag)
	if t.Status == payment.RequiresConfirmation {
		return s.commitTry(ctx, from, &t, a)
	}
	result := s.decided(from.request, &t)
	if s.refused == 0 && !t.Tenant.Live {
		return result, s.finish(ctx, &t, s.t.Claim, result)
	}
	return result, withNewIDs(func() error {
		return s.Store.Finish(ctx, t.Tenant, func(tx *store.Tx) error {
			if err := stillFirst(tx, from, s.about(), a); err != nil {
				return err
			}
			if err := tx.FinishPayment(s.newOutcome(&t, s.t.Claim, result)); err != nil {
				return err
			}
			return errors.Join(s.holdPart(tx), s.endCardAttempt(tx, a))
		})
	})
}

// commitTry writes the decline of a confirmation after which the payment waits for the next one.
// The response and the event show the payment as it waits.
func (s *authorizationStep) commitTry(
	ctx context.Context, from origin, declined *payment.Transaction, a acquirer.Response,
) (result Result, err error) {
	err = withNewIDs(func() error {
		return s.Store.Finish(ctx, declined.Tenant, func(tx *store.Tx) error {
			if err := tx.DeclineConfirmation(declined); err != nil {
				return err
			}
			t, err := tx.Transaction(declined.Tenant, declined.ID)
			if err != nil {
				return err
			}
			result = s.decided(from.request, t)
			err = tx.InsertEvent(s.event("transaction.confirmation_declined", t.Tenant, t.ID, t.Version, s.shown(t)))
			if err != nil {
				return err
			}
			if err := errors.Join(s.holdPart(tx), s.endCardAttempt(tx, a)); err != nil {
				return err
			}
			return tx.CompleteKey(s.t.Claim, result.Status, result.Body)
		})
	})
	return result, err
}

// holdPart writes the pending reversal of a part that the acquirer refused to release, if there is
// one.
func (s *authorizationStep) holdPart(tx *store.Tx) error {
	if s.refused == 0 {
		return nil
	}
	part := s.about().reversal(tx.Now)
	part.Held, part.AcquirerID = s.refused, s.partID
	return tx.InsertReversal(part)
}

// finish commits the outcome of a payment and its response.
func (e *Engine) finish(ctx context.Context, t *payment.Transaction, claim int64, result Result) error {
	return withNewIDs(func() error { return e.Store.FinishPayment(ctx, e.newOutcome(t, claim, result)) })
}

// newOutcome returns the outcome record of a resolved payment, with new ids.
func (e *Engine) newOutcome(t *payment.Transaction, claim int64, result Result) *store.OutcomeRecord {
	r := &store.OutcomeRecord{
		Transaction: t, Claim: claim, Status: result.Status, Body: result.Body,
		Event: *e.event("transaction."+string(t.Status), t.Tenant, t.ID, t.Version, e.eventBody(t, result)),
	}
	r.Redraw = func() {
		if t.Captured > 0 {
			r.Capture = e.IDs.Next()
		}
		r.Event.ID = e.IDs.Next()
	}
	r.Redraw()
	return r
}

// eventBody returns the transaction as its event shows it: the body of the response if that is the
// plain transaction.
func (e *Engine) eventBody(t *payment.Transaction, result Result) []byte {
	if result.Kind != Refused {
		return result.Body
	}
	return e.shown(t)
}

// decided returns the result of a payment, or of a confirmation, that the acquirer decided.
func (e *Engine) decided(requestID string, t *payment.Transaction) Result {
	switch {
	case t.Status == payment.Declined, t.Status == payment.RequiresConfirmation:
		return e.refused(requestID, &payment.Refusal{Code: cardDeclined}, t)
	case t.Attempt > 0:
		return e.existing(t)
	}
	return e.created(t)
}

// longestAuthorization bounds the end of an authorization as the acquirer states it. An end that is
// further from the payment, before or after it, is an error of the acquirer.
const longestAuthorization = 366 * 24 * time.Hour

// resolve applies the acquirer's outcome to an open payment. An authorization that the acquirer set
// no end lasts for payment.AuthorizationLifetime from the request on.
func resolve(t *payment.Transaction, a acquirer.Response, now time.Time) error {
	step := t.Declined()
	switch {
	case a.Approved && t.AutoCapture:
		step = payment.ApproveCapture
	case a.Approved:
		step = payment.Approve
	}
	next, err := t.Status.Next(step)
	if err != nil {
		return err
	}
	if a.Approved && (a.Amount < min(1, t.Amount) || a.Amount > t.Amount) {
		return errors.New("engine: the acquirer approved an amount outside the request")
	}
	if a.ExpiresAt.Sub(t.UpdatedAt).Abs() > longestAuthorization { // also the zero time
		a.ExpiresAt = t.UpdatedAt.Add(payment.AuthorizationLifetime)
	}
	t.Status, t.Version, t.Claim, t.UpdatedAt = next, t.Version+1, 0, now
	if a.Approved {
		t.Authorized = a.Amount
	}
	if step == payment.ApproveCapture {
		t.Captured = a.Amount
	}
	t.Result = payment.Result{
		Reached: true, AcquirerID: a.ID, DeclineCode: a.DeclineCode, Code: a.Code, NetworkTransactionID: a.NetworkTransactionID,
		NetworkLinkID: a.NetworkLinkID, ResponseCode: a.ResponseCode, ExpiresAt: a.ExpiresAt.UTC().Truncate(time.Millisecond),
		CheckCVC: a.Checks.CVC, CheckAddressLine: a.Checks.AddressLine, CheckPostalCode: a.Checks.PostalCode,
		AVSCode: a.Checks.Codes.AVS, CVCCode: a.Checks.Codes.CVC, CAVVCode: a.Checks.Codes.CAVV,
	}
	if a.Balance.Given {
		left := a.Balance.Amount
		t.Result.Balance = &left
	}
	if step != payment.Approve {
		t.Result.ExpiresAt = time.Time{}
	}
	return nil
}
