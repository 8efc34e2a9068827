package engine

import (
	"context"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// begin commits the intent of a payment, which w holds from then on. It shares the commit of other
// payments if the store can do that and nothing prevents it. It returns the result of a request
// that ends there.
func (e *Engine) begin(ctx context.Context, r Request, p Payment, t *payment.Transaction, w *flight) (*Result, error) {
	if p.Drawn.refusal == nil {
		own, _ := r.fingerprints()
		t.ID = e.IDs.Next()
		w.of(authorizationStep(t))
		done, err := e.Store.OpenPayment(ctx, &store.Opening{
			Transaction: t, Terms: p.Terms, Key: r.Key, Fingerprint: own,
			Customer: p.Drawn.Customer, Method: p.Drawn.Method, Token: p.Drawn.Token,
		})
		if done || err != nil {
			return nil, err
		}
	}
	return e.intent(ctx, r, func(tx *store.Tx, claim int64) (*Result, error) {
		t.Claim = claim
		err := e.insertNew(func(id int64) error {
			t.ID = id
			w.of(authorizationStep(t))
			return tx.InsertTransaction(t)
		})
		if err != nil {
			return nil, err
		}
		if err := tx.InsertTerms(t.Tenant, t.ID, p.Terms); err != nil {
			return nil, err
		}
		return nil, e.draw(tx, r.Tenant, p.Drawn, t.ID)
	})
}

// end commits the outcome of a payment and its response. It shares the commit of other payments if
// the store can do that and nothing prevents it.
func (e *Engine) end(ctx context.Context, t *payment.Transaction, claim int64, result Result) error {
	ctx = context.WithoutCancel(ctx)
	c := store.Closing{
		Transaction: t, Claim: claim, Status: result.Status, Answer: result.Body,
		Event: *e.event("transaction."+string(t.Status), t.Tenant, t.ID, t.Version, e.eventBody(t, result)),
	}
	if t.Captured > 0 {
		c.Capture = e.IDs.Next()
	}
	done, err := e.Store.ClosePayment(ctx, &c)
	if done || err != nil {
		return err
	}
	return e.Store.Update(ctx, func(tx *store.Tx) error { return e.writeOutcome(tx, t, claim, result) })
}
