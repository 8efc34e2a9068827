package engine

import (
	"context"
	"errors"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// Void releases an authorization, cancels a capture that has not settled, or gives up a payment that was not confirmed.
func (e *Engine) Void(ctx context.Context, r Request, transaction int64) (Answer, error) {
	acq, err := e.follower(ctx, r.Tenant, transaction)
	if err != nil {
		return Answer{}, err
	}
	defer e.enter(ctx, r)()
	var t *payment.Transaction
	void := e.IDs.Next()
	done, err := e.intent(ctx, r, func(tx *store.Tx, claim int64) (*Answer, error) {
		err := tx.BeginVoid(r.Tenant, transaction, void, claim)
		if errors.Is(err, store.ErrConflict) {
			return e.voidOther(tx, r, transaction)
		}
		if err != nil {
			return nil, err
		}
		t, err = tx.Transaction(r.Tenant, transaction)
		return nil, err
	})
	if err != nil || done != nil {
		return value(done), e.abandon(err, voidReference(&payment.Transaction{OperationID: void}))
	}
	return e.askVoid(ctx, origin{request: r.ID}, acq, t)
}

// voidOther answers a void of what no acquirer could void: a payment that was not confirmed is canceled, all else is refused.
func (e *Engine) voidOther(tx *store.Tx, r Request, transaction int64) (*Answer, error) {
	done, err := e.cancel(tx, r, transaction)
	if errors.Is(err, store.ErrConflict) {
		return e.refuse(tx, r, transaction, (*payment.Transaction).WhyNoVoid)
	}
	return done, err
}

// askVoid asks the acquirer for a begun void and commits its word. The reference makes asking again safe.
func (e *Engine) askVoid(ctx context.Context, from origin, acq acquirer.Acquirer, t *payment.Transaction) (Answer, error) {
	a, err := call(ctx, func(ctx context.Context) (acquirer.Answer, error) {
		return acq.Void(ctx, acquirer.Follow{
			Reference: voidReference(t), Authorization: authorizationReference(t), Amount: t.Authorized, Currency: t.Currency,
		})
	})
	return e.ended(ctx, from, step{tenant: t.Tenant, transaction: t.ID, claim: t.Claim, reference: voidReference(t)}, a, err,
		func(tx *store.Tx, refused *payment.Refusal) (Answer, error) {
			if err := tx.EndVoid(t.ID, t.OperationID, refused == nil); err != nil || refused != nil {
				return Answer{}, err
			}
			voided, err := tx.Transaction(t.Tenant, t.ID)
			if err != nil {
				return Answer{}, err
			}
			answer := e.Present.Transaction(voided)
			return answer, tx.InsertEvent(e.event("transaction.voided", voided.Tenant, voided.ID, voided.Version, answer.Body))
		})
}
