package engine

import (
	"context"
	"errors"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// Settle marks the captured money of a transaction as settled.
func (e *Engine) Settle(ctx context.Context, r Request, transaction int64) (Result, error) {
	defer e.running.enter(ctx, r)()
	done, err := e.intent(ctx, r, func(tx *store.Tx, _ int64) (*Result, error) {
		err := tx.SettleTransaction(r.Tenant, transaction)
		if errors.Is(err, store.ErrConflict) {
			return e.refuse(tx, r, transaction, (*payment.Transaction).WhyNoSettle)
		}
		if err != nil {
			return nil, err
		}
		t, err := tx.Transaction(r.Tenant, transaction)
		if err != nil {
			return nil, err
		}
		result := e.existing(t)
		return &result, tx.InsertEvent(e.event("transaction.settled", t.Tenant, t.ID, t.Version, result.Body))
	})
	return value(done), err
}
