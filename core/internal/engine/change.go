package engine

import (
	"bytes"
	"context"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// TransactionChange is a merchant's change of a transaction.
type TransactionChange struct {
	// Early is a field of the change that can change only before the confirmation, "" for none.
	Early     string
	Reference *string // the new reference, by which lists find the transaction; nil if it stays
	// Apply changes Amount and Details. Its error refuses the change.
	Apply func(*payment.Transaction) error
}

// ChangeTransaction changes a transaction, and announces that. A change to the present values
// writes nothing. It is refused if the transaction's status does not allow it. It returns
// payment.ErrNotFound if there is no such transaction.
func (e *Engine) ChangeTransaction(
	ctx context.Context, r Request, transaction int64, c TransactionChange,
) (Result, error) {
	defer e.running.enter(ctx, r)()
	out, err := e.intent(ctx, r, func(tx *store.Tx, _ int64) (*Result, error) {
		t, err := tx.TransactionForUpdate(r.Tenant, transaction)
		if err != nil {
			return nil, err
		}
		if t.WhyNoChange(c.Early) != nil {
			return e.refuse(tx, r, transaction, func(t *payment.Transaction) *payment.Refusal { return t.WhyNoChange(c.Early) })
		}
		return e.change(tx, t, c)
	})
	return value(out), err
}

// change writes the change of a transaction that the command has locked.
func (e *Engine) change(tx *store.Tx, t *payment.Transaction, c TransactionChange) (*Result, error) {
	was := *t
	if err := c.Apply(t); err != nil {
		return nil, err
	}
	if t.Amount == was.Amount && bytes.Equal(t.Details, was.Details) {
		result := e.existing(t)
		return &result, nil
	}
	t.AmountChanged = was.AmountChanged || t.Amount != was.Amount
	t.Version = was.Version + 1
	if t.Status != payment.Unknown && t.Operation != payment.VoidOperation { // these steps began at UpdatedAt
		t.UpdatedAt = tx.Now
	}
	if err := tx.UpdateTransaction(t, c.Reference); err != nil {
		return nil, err
	}
	result := e.existing(t)
	return &result, tx.InsertEvent(e.event("transaction.updated", t.Tenant, t.ID, t.Version, result.Body))
}
