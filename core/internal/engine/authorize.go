package engine

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/vault"
)

// Payment is a validated wish to authorize, and with AutoCapture also capture, an amount. An amount of 0 verifies the source, and is not captured.
type Payment struct {
	Amount          int64 // minor units
	Currency        string
	AutoCapture     bool
	Partial         bool   // less than Amount may be approved
	PriorCode       string // under which the issuer approved before; "" as a rule
	PaymentMethod   string
	acquirer.Source       // lives as long as the call
	Drawn           Drawn // where the source comes from in the store, and whose it is
	Billing         acquirer.Billing
	ThreeDSecure    acquirer.ThreeDSecure
	Initiator       acquirer.Initiator
	Details         []byte      // what the transaction shows of the merchant's own data and the source
	Terms           store.Terms // what of the details lists find it by
}

// Authorize creates a transaction.
func (e *Engine) Authorize(ctx context.Context, r Request, p Payment) (Answer, error) {
	acq, err := e.acquirer(r.Tenant)
	if err != nil {
		return Answer{}, err
	}
	defer e.enter(ctx, r)()
	now := e.Clock.Now().UTC().Truncate(time.Millisecond)
	t := &payment.Transaction{
		Tenant: r.Tenant, Status: payment.Processing, AutoCapture: p.AutoCapture, Partial: p.Partial, Amount: p.Amount,
		Currency: p.Currency, PaymentMethod: p.PaymentMethod, Details: p.Details, CreatedAt: now, UpdatedAt: now,
	}
	replay, err := e.begin(ctx, r, p, t)
	if err != nil || replay != nil {
		return value(replay), e.abandon(err, authorizationReference(t))
	}
	answer, err := call(ctx, func(ctx context.Context) (acquirer.Answer, error) {
		return acq.Authorize(ctx, acquirer.Authorize{
			Reference: authorizationReference(t), Amount: t.Amount, Currency: t.Currency, Capture: t.AutoCapture, Partial: t.Partial,
			PriorCode: p.PriorCode,
			Source:    p.Source, Billing: p.Billing, ThreeDSecure: p.ThreeDSecure, Initiator: p.Initiator,
		})
	})
	switch {
	case err == nil:
		return e.authorized(ctx, r.ID, t, answer), nil
	case errors.Is(err, acquirer.ErrUnavailable):
		if err := e.takeBack(ctx, t, p.Drawn.secrets, nil); err != nil {
			return Answer{}, e.abandon(err, authorizationReference(t))
		}
		return Answer{}, ErrAcquirerUnavailable
	default:
		return e.lost(ctx, r.ID, t), nil
	}
}

// authorized commits the acquirer's word on an open payment and returns the answer that was stored with it.
func (e *Engine) authorized(ctx context.Context, requestID string, open *payment.Transaction, a acquirer.Answer) Answer {
	if unwantedPart(open, a) {
		if !a.Released && !e.releasePart(ctx, open, a.Amount) {
			return e.stillHeld(ctx, requestID, open)
		}
		a = tooLittle(a)
	}
	t := *open
	if err := resolve(&t, a, e.Clock.Now().UTC().Truncate(time.Millisecond)); err != nil {
		e.Log.ErrorContext(ctx, "authorize: outcome does not fit", slog.Any("error", err))
		return e.lostAnswer(requestID, open)
	}
	answer := e.Present.Created(requestID, &t)
	if err := e.end(ctx, &t, open.Claim, answer); err != nil {
		// Either recovery was there first or the store is in trouble. What stands is in the store, and the key leads to it.
		e.Log.ErrorContext(ctx, "authorize: outcome not committed", slog.String("transaction", authorizationReference(&t)), slog.Any("error", err))
		e.giveUp(authorizationReference(open))
		if a.Approved && errors.Is(err, store.ErrConflict) {
			e.oweLate(ctx, &t)
		}
		return e.lostAnswer(requestID, open)
	}
	return answer
}

// writeOutcome writes a resolved payment, the capture it is when it was captured at once, its event and its answer.
func (e *Engine) writeOutcome(tx *store.Tx, t *payment.Transaction, claim int64, answer Answer) error {
	if err := tx.ResolveTransaction(t); err != nil {
		return err
	}
	if t.Attempt > 0 || !t.Result.ExpiresAt.IsZero() { // one that waited to be confirmed has the end of that to be replaced
		if err := tx.SetExpiry(t.Tenant, t.ID, t.Result.ExpiresAt); err != nil {
			return err
		}
	}
	if t.Captured > 0 {
		c := payment.Capture{
			Transaction: t.ID, Tenant: t.Tenant, State: payment.StepSucceeded, Amount: t.Captured, Currency: t.Currency, Final: true,
			Details: []byte("{}"), CreatedAt: t.UpdatedAt, UpdatedAt: t.UpdatedAt,
		}
		if err := e.insertNew(func(id int64) error { c.ID = id; return tx.InsertCapture(&c) }); err != nil {
			return err
		}
	}
	if err := tx.InsertEvent(e.event("transaction."+string(t.Status), t.Tenant, t.ID, t.Version, e.eventBody(t, answer))); err != nil {
		return err
	}
	return tx.CompleteKey(claim, answer.Status, answer.Body)
}

// eventBody is the transaction as its event shows it: the answer's own body when that is the plain transaction.
func (e *Engine) eventBody(t *payment.Transaction, answer Answer) []byte {
	if t.Status == payment.Authorized || t.Status == payment.Captured {
		return answer.Body
	}
	return e.Present.Transaction(t).Body
}

// resolve applies the acquirer's answer to an open payment.
func resolve(t *payment.Transaction, a acquirer.Answer, now time.Time) error {
	step := payment.Decline
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
	t.Status, t.Version, t.Claim, t.UpdatedAt = next, t.Version+1, 0, now
	if a.Approved {
		t.Authorized = a.Amount
	}
	if step == payment.ApproveCapture {
		t.Captured = a.Amount
	}
	t.Result = payment.Result{
		Reached: true, DeclineCode: a.DeclineCode, Code: a.Code, NetworkTransactionID: a.NetworkTransactionID,
		ResponseCode: a.ResponseCode, ExpiresAt: a.ExpiresAt.UTC().Truncate(time.Millisecond),
		CheckCVC: a.Checks.CVC, CheckAddressLine: a.Checks.AddressLine, CheckPostalCode: a.Checks.PostalCode,
		AVSCode: a.Checks.Codes.AVS, CVCCode: a.Checks.Codes.CVC, CAVVCode: a.Checks.Codes.CAVV,
	}
	if a.Balance.Given {
		left := a.Balance.Amount
		t.Result.Balance = &left
	}
	if a.ExpiresAt.IsZero() || t.Captured > 0 {
		t.Result.ExpiresAt = time.Time{}
	}
	return nil
}

// lost marks a payment whose answer did not come; its key stays claimed until recovery knows.
func (e *Engine) lost(ctx context.Context, requestID string, t *payment.Transaction) Answer {
	err := e.Store.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error { return tx.LoseTransaction(t) })
	if err != nil {
		e.giveUp(authorizationReference(t))
		e.Log.ErrorContext(ctx, "authorize: not marked unknown", slog.String("transaction", authorizationReference(t)), slog.Any("error", err))
	}
	t.Status = payment.Unknown
	return e.lostAnswer(requestID, t)
}

// takeBack removes the intent of a payment that had no effect and that nobody was told of, and frees its key and its token, as if the
// request had not come. used is what the token hid, as far as that is still known; owed is nil when the acquirer certainly never saw it.
func (e *Engine) takeBack(ctx context.Context, t *payment.Transaction, used vault.Secrets, owed *payment.Reversal) error {
	return e.undo(ctx, t, used, func(tx *store.Tx) error {
		if err := tx.RemoveTransaction(t.ID); err != nil {
			return err
		}
		return owe(tx, owed)
	})
}

// undo commits the end of an intent that had no effect, with its key freed and its token returned.
func (e *Engine) undo(ctx context.Context, t *payment.Transaction, used vault.Secrets, end func(tx *store.Tx) error) error {
	return e.returned(t, used, func(token int64, sealed payment.Sealed) error {
		return e.Store.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error {
			if err := end(tx); err != nil {
				return err
			}
			if token != 0 {
				if err := tx.ReturnToken(token, t.ID, sealed); err != nil {
					return err
				}
			}
			return tx.ReleaseKey(t.Claim)
		})
	})
}

func value(a *Answer) Answer {
	if a == nil {
		return Answer{}
	}
	return *a
}
