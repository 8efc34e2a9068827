package engine

import (
	"context"
	"errors"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// Prepare creates a transaction that waits to be confirmed. Its response shows the client secret.
// The acquirer gets no request yet, so p needs no source. The payment source that p names must
// exist, and is not used.
func (e *Engine) Prepare(ctx context.Context, r Request, p Payment) (Result, error) {
	defer e.running.enter(ctx, r)()
	if err := e.anyAccount(ctx, r.Tenant, p.Currency); err != nil {
		return e.unsent(ctx, r, err)
	}
	now := e.Clock.Now().UTC().Truncate(time.Millisecond)
	t := &payment.Transaction{
		Tenant: r.Tenant, Status: payment.RequiresConfirmation, AutoCapture: p.AutoCapture, Partial: p.Partial, Attempt: 1, Amount: p.Amount,
		Currency: p.Currency, PaymentMethod: p.PaymentMethod, Details: p.Details, Client: r.client(),
		CreatedAt: now, UpdatedAt: now,
	}
	named := p.Drawn
	named.Token = 0
	done, err := e.intent(ctx, r, func(tx *store.Tx, _ int64) (*Result, error) {
		t.ID = e.IDs.Next()
		if err := tx.InsertUnconfirmed(t); err != nil {
			return nil, err
		}
		if err := tx.InsertTerms(t.Tenant, t.ID, p.Terms); err != nil {
			return nil, err
		}
		result := e.rendered(Result{Kind: Created, Object: t, Credential: e.clientSecret(t.Tenant, t.ID)})
		return &result, e.draw(tx, r.Tenant, named, t.ID)
	})
	return value(done), err
}

// Confirm takes a waiting transaction, as it was read, from the source of p. Amount, currency,
// capture and partial approval come from the transaction. p has the amount and currency that the
// payer has seen, or neither. If the transaction differs from them, the confirmation is refused. p
// has no PriorCode.
func (e *Engine) Confirm(ctx context.Context, r Request, waiting *payment.Transaction, p Payment) (Result, error) {
	defer e.running.enter(ctx, r)()
	routes, tag, err := e.route(ctx, r.Tenant, waiting.Currency, p.Source)
	if err != nil {
		return e.unsent(ctx, r, err)
	}
	t := *waiting
	t.Account, t.Tag, t.VoidTag = routes[0].ID, tag, ""
	t.Status, t.PaymentMethod, t.Details, t.Confirmer = payment.Processing, p.PaymentMethod, p.Details, r.client()
	w := e.inFlight.request()
	defer w.end()
	allowed := false
	done, err := e.intent(ctx, r, func(tx *store.Tx, claim int64) (_ *Result, err error) {
		t.Claim, t.UpdatedAt = claim, tx.Now
		err = store.ErrConflict
		if waiting.WhyNoConfirmOf(p.Amount, p.Currency) == nil {
			err = tx.BeginConfirmation(&t)
		}
		if errors.Is(err, store.ErrConflict) {
			return e.refuseConfirm(tx, r, t.ID, p)
		}
		if err != nil {
			return nil, err
		}
		if allowed, err = tx.BeginCardAttempt(&t, limitedCard(&t)); err == nil && !allowed {
			err = tx.NeverSend(&t)
		}
		if err != nil {
			return nil, err
		}
		w.of(authorizationStepID(&t))
		if err := tx.InsertTerms(t.Tenant, t.ID, p.Terms); err != nil { // the source determines the customer
			return nil, err
		}
		return nil, e.draw(tx, r.Tenant, p.Drawn, t.ID)
	})
	if err != nil || done != nil {
		return value(done), err
	}
	a := &authorizationStep{Engine: e, t: &t, secrets: p.Drawn.secrets}
	return a.takePayment(ctx, r.ID, allowed, routes, p)
}

// RefusedForSource reports whether err refused a confirmation for the token or payment method that
// it named. Such refusals count towards payment.MaxRefusedConfirmations.
func RefusedForSource(err error) bool {
	for _, refusal := range []error{payment.ErrNoSource, payment.ErrTokenUsed, payment.ErrTokenExpired, payment.ErrOtherCustomer} {
		if errors.Is(err, refusal) {
			return true
		}
	}
	return false
}

// RefuseConfirmation counts a confirmation of t that was refused for its source, and stores the
// refusal under the request's key in the same commit. A repeated request gets the stored response
// and is not counted; RefuseConfirmation returns ErrKeyReused if another request has the key. It
// completes even if the client disconnects, so that a client cannot avoid the count.
func (e *Engine) RefuseConfirmation(
	ctx context.Context, r Request, t *payment.Transaction, why *payment.Refusal,
) (Result, error) {
	ctx = context.WithoutCancel(ctx)
	defer e.running.enter(ctx, r)()
	c := r.caller()
	c.Ends = true // a refusal that is not counted would be a free guess
	out, err := e.intentOf(ctx, c, r, func(tx *store.Tx, _ int64) (*Result, error) {
		result := e.refused(r.ID, why, nil)
		return &result, tx.CountRefusedConfirmation(t.Tenant, t.ID)
	})
	return value(out), err
}

// refuseConfirm returns the result of the confirmation p of a transaction that does not wait for
// it. If the transaction now waits for it, another attempt or a change has ended since it was read,
// and a retry may succeed.
func (e *Engine) refuseConfirm(tx *store.Tx, r Request, transaction int64, p Payment) (*Result, error) {
	return e.refuse(tx, r, transaction, func(t *payment.Transaction) *payment.Refusal {
		if why := t.WhyNoConfirmOf(p.Amount, p.Currency); why != nil {
			return why
		}
		return payment.Busy()
	})
}

// cancelWaiting cancels a transaction that waits to be confirmed. No acquirer has received it. It
// returns store.ErrConflict if the transaction does not wait, or has another version than expected.
// A nil expected matches every version.
func (e *Engine) cancelWaiting(tx *store.Tx, r Request, transaction int64, expected *int64) (*Result, error) {
	if err := tx.CancelTransaction(r.Tenant, transaction, expected, r.client()); err != nil {
		return nil, err
	}
	t, err := tx.Transaction(r.Tenant, transaction)
	if err != nil {
		return nil, err
	}
	result := e.existing(t)
	return &result, tx.InsertEvent(e.event("transaction.canceled", t.Tenant, t.ID, t.Version, result.Body))
}
