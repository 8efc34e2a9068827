package engine

import (
	"context"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/id"
)

// Operator returns the tenant of the idempotency keys of operators. No merchant has its number.
func Operator() payment.Tenant { return payment.Tenant{} }

// CreateMerchant makes a merchant with the fields of c. Its day ends at midnight UTC unless c has
// another time. The merchant is nil if the response is a replay.
func (e *Engine) CreateMerchant(
	ctx context.Context, r Request, c payment.MerchantChange,
) (*payment.Merchant, Result, error) {
	defer e.running.enter(ctx, r)()
	var made *payment.Merchant
	out, err := e.intent(ctx, r, func(tx *store.Tx, _ int64) (*Result, error) {
		n := e.IDs.Next()
		err := tx.InsertMerchant(n, c.Name)
		if err == nil {
			err = tx.UpdateMerchant(n, c)
		}
		if err != nil {
			return nil, err
		}
		m, err := tx.Merchant(n)
		if err != nil {
			return nil, err
		}
		made = &m
		result := e.created(made)
		return &result, e.Audit(tx, r, Action{
			Name: "merchants.create", Object: id.Format(id.Merchant, n), After: string(result.Body),
		})
	})
	return made, value(out), err
}

// UpdateMerchant changes a merchant. It returns payment.ErrNotFound if there is none.
func (e *Engine) UpdateMerchant(
	ctx context.Context, r Request, merchant int64, c payment.MerchantChange,
) (Result, error) {
	update := func(tx *store.Tx) error { return tx.UpdateMerchant(merchant, c) }
	return e.changeMerchant(ctx, r, merchant, "merchants.update", update)
}

// DisableMerchant takes a merchant out of service, or returns it to service. While it is out of
// service, its keys are refused, but open steps continue. It returns payment.ErrNotFound if there
// is none.
func (e *Engine) DisableMerchant(ctx context.Context, r Request, merchant int64, disabled bool) (Result, error) {
	action := "merchants.enable"
	if disabled {
		action = "merchants.disable"
	}
	return e.changeMerchant(ctx, r, merchant, action, func(tx *store.Tx) error { return tx.DisableMerchant(merchant, disabled) })
}

func (e *Engine) changeMerchant(
	ctx context.Context, r Request, merchant int64, action string, change func(*store.Tx) error,
) (Result, error) {
	defer e.running.enter(ctx, r)()
	out, err := e.intent(ctx, r, func(tx *store.Tx, _ int64) (*Result, error) {
		before, err := tx.LockedMerchant(merchant)
		if err != nil {
			return nil, err
		}
		if err := change(tx); err != nil {
			return nil, err
		}
		after, err := tx.Merchant(merchant)
		if err != nil {
			return nil, err
		}
		result := e.existing(&after)
		return &result, e.Audit(tx, r, Action{
			Name: action, Object: id.Format(id.Merchant, merchant), Before: string(e.shown(&before)), After: string(result.Body),
		})
	})
	return value(out), err
}
