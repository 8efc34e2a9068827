package engine

import (
	"bytes"
	"context"
	"errors"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// CreateCustomer stores a customer.
func (e *Engine) CreateCustomer(ctx context.Context, r Request, details []byte) (Result, error) {
	defer e.running.enter(ctx, r)()
	out, err := e.intent(ctx, r, func(tx *store.Tx, _ int64) (*Result, error) {
		c := &payment.Customer{Tenant: r.Tenant, Details: details, Client: r.client(), ID: e.IDs.Next()}
		if err := tx.InsertCustomer(c); err != nil {
			return nil, err
		}
		result := e.created(c)
		return &result, tx.InsertEvent(e.event("customer.created", c.Tenant, c.ID, c.Version, result.Body))
	})
	return value(out), err
}

// UpdateCustomer replaces a customer's details by the result of change, and its default payment
// method by method: nil changes nothing, 0 removes it. An update without a change writes no event.
// It returns payment.ErrNoSource if the customer has no such payment method.
func (e *Engine) UpdateCustomer(
	ctx context.Context, r Request, customer int64, method *int64, change func(details []byte) ([]byte, error),
) (Result, error) {
	out, err := e.onCustomer(ctx, r, customer, func(tx *store.Tx, c *payment.Customer) (*Result, error) {
		was := *c
		var err error
		if c.Details, err = change(c.Details); err != nil {
			return nil, err
		}
		if method != nil {
			c.Default = *method
		}
		if c.Default == was.Default && bytes.Equal(c.Details, was.Details) {
			result := e.existing(c)
			return &result, nil
		}
		if c.Default != was.Default && c.Default != 0 {
			m, err := tx.Method(c.Tenant, c.Default)
			if errors.Is(err, payment.ErrNotFound) || err == nil && (m.Customer != c.ID || !m.DetachedAt.IsZero()) {
				return nil, payment.ErrNoSource
			}
			if err != nil {
				return nil, err
			}
		}
		result, err := e.customerUpdated(tx, c)
		return &result, err
	})
	return value(out), err
}

// ChangeShippingAddress changes a shipping address in a customer's details, which is a change of
// the customer. change returns the new details, and the result for the address. A change to equal
// details writes no event.
func (e *Engine) ChangeShippingAddress(
	ctx context.Context, r Request, customer int64, change func(details []byte) ([]byte, Result, error),
) (Result, error) {
	out, err := e.onCustomer(ctx, r, customer, func(tx *store.Tx, c *payment.Customer) (*Result, error) {
		changed, result, err := change(c.Details)
		if err != nil {
			return nil, err
		}
		result = e.rendered(result)
		if bytes.Equal(changed, c.Details) {
			return &result, nil
		}
		c.Details = changed
		_, err = e.customerUpdated(tx, c)
		return &result, err
	})
	return value(out), err
}

// customerUpdated writes a customer's next version, and announces it.
func (e *Engine) customerUpdated(tx *store.Tx, c *payment.Customer) (Result, error) {
	if err := tx.UpdateCustomer(c); err != nil {
		return Result{}, err
	}
	result := e.existing(c)
	return result, tx.InsertEvent(e.event("customer.updated", c.Tenant, c.ID, c.Version, result.Body))
}

// onCustomer runs an intent on a customer that exists, else payment.ErrNotFound.
func (e *Engine) onCustomer(
	ctx context.Context, r Request, customer int64, fn func(*store.Tx, *payment.Customer) (*Result, error),
) (*Result, error) {
	defer e.running.enter(ctx, r)()
	return e.intent(ctx, r, withCustomer(r, customer, fn))
}

// withCustomer returns the function of an intent that calls fn with a locked customer, or returns
// payment.ErrNotFound.
func withCustomer(r Request, customer int64, fn func(*store.Tx, *payment.Customer) (*Result, error),
) func(*store.Tx, int64) (*Result, error) {
	return func(tx *store.Tx, _ int64) (*Result, error) {
		c, err := tx.CustomerForUpdate(r.Tenant, customer)
		if err != nil {
			return nil, err
		}
		return fn(tx, c)
	}
}
