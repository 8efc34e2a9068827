package engine

import (
	"bytes"
	"context"
	"errors"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/vault"
	"github.com/causeway-pay/causeway/shared/id"
)

// ErrTooManyMethods reports that the customer has payment.MaxMethods payment methods already.
var ErrTooManyMethods = errors.New("engine: too many payment methods")

// methodAttached is the sequence of the first event of a payment method. Each later event has the
// version of the customer, which the change has increased.
const methodAttached = 1

// Attach makes a payment method of a customer from a token, which is then used. It also changes the
// customer. describe returns the method's details and fingerprint from the token's.
func (e *Engine) Attach(ctx context.Context, r Request, customer int64, token Stored,
	describe func(token []byte) (details []byte, fingerprint string),
) (Result, error) {
	if errors.Is(token.Drawn.refusal, ErrCodeLost) {
		token.Drawn.refusal = nil // a payment method has no security code
	}
	details, fingerprint := describe(token.Details)
	defer e.running.enter(ctx, r)()
	// The command draws the id: a store that lists rows by id runs one command after the other.
	attach := func(tx *store.Tx, c *payment.Customer) (*Result, error) {
		m := &payment.Method{
			ID: e.IDs.Next(), Tenant: r.Tenant, Customer: customer, Kind: token.Kind, Fingerprint: fingerprint, Details: details,
			Client: r.client(),
		}
		if err := e.sealMethod(m, token); err != nil {
			return nil, err
		}
		return e.attach(tx, c, m, token.Drawn)
	}
	var out *Result
	err := e.resealing(func() (err error) {
		out, err = e.intentOnce(ctx, r.caller(), r, withCustomer(r, customer, attach))
		return err
	})
	return value(out), err
}

// sealMethod encrypts the number of a token for a payment method. The security code is not copied:
// it lives no longer than the token.
func (e *Engine) sealMethod(m *payment.Method, token Stored) (err error) {
	m.Sealed, err = e.Vault.Seal(vault.Object{Tenant: m.Tenant, ID: id.Format(id.PaymentMethod, m.ID)},
		vault.Secrets{Number: token.Secrets.Number})
	return err
}

// UpdateMethod changes a payment method, which is a change of the customer. change returns the new
// details and fingerprint. With a token, the number of the token replaces the stored one, and the
// token is then used. An update without a change writes no event.
func (e *Engine) UpdateMethod(ctx context.Context, r Request, customer, method int64, token *Stored,
	change func(details []byte) (changed []byte, fingerprint string, err error),
) (Result, error) {
	if token != nil && errors.Is(token.Drawn.refusal, ErrCodeLost) {
		token.Drawn.refusal = nil // as in Attach
	}
	defer e.running.enter(ctx, r)()
	update := func(tx *store.Tx, c *payment.Customer) (*Result, error) {
		m, err := e.methodOf(tx, c, method)
		if err != nil {
			return nil, err
		}
		was := m.Details
		if m.Details, m.Fingerprint, err = change(m.Details); err != nil {
			return nil, err
		}
		if token == nil && bytes.Equal(m.Details, was) {
			result := e.existing(m)
			return &result, nil
		}
		if err := e.replace(tx, m, token); err != nil {
			return nil, err
		}
		if _, err := e.customerUpdated(tx, c); err != nil {
			return nil, err
		}
		result := e.existing(m)
		return &result, tx.InsertEvent(e.event("payment_method.updated", m.Tenant, m.ID, c.Version, result.Body))
	}
	var out *Result
	err := e.resealing(func() (err error) {
		out, err = e.intentOnce(ctx, r.caller(), r, withCustomer(r, customer, update))
		return err
	})
	return value(out), err
}

// replace writes a payment method with the number of the token, if there is one.
func (e *Engine) replace(tx *store.Tx, m *payment.Method, token *Stored) error {
	if token == nil {
		return tx.UpdateMethod(m)
	}
	if err := e.draw(tx, m.Tenant, token.Drawn, m.ID); err != nil {
		return err
	}
	m.Kind = token.Kind
	if err := e.sealMethod(m, *token); err != nil {
		return err
	}
	return tx.ReplaceMethod(m)
}

// methodOf locks a payment method that is attached to a customer, else payment.ErrNotFound.
func (e *Engine) methodOf(tx *store.Tx, c *payment.Customer, method int64) (*payment.Method, error) {
	m, err := tx.MethodForUpdate(c.Tenant, method)
	if err != nil {
		return nil, err
	}
	if m.Customer != c.ID || !m.DetachedAt.IsZero() {
		return nil, payment.ErrNotFound
	}
	return m, nil
}

func (e *Engine) attach(tx *store.Tx, c *payment.Customer, m *payment.Method, token Drawn) (*Result, error) {
	if err := e.draw(tx, m.Tenant, token, m.ID); err != nil {
		return nil, err
	}
	if err := tx.InsertMethod(m); errors.Is(err, store.ErrConflict) {
		return nil, ErrTooManyMethods
	} else if err != nil {
		return nil, err
	}
	if _, err := e.customerUpdated(tx, c); err != nil {
		return nil, err
	}
	result := e.created(m)
	return &result, tx.InsertEvent(e.event("payment_method.attached", m.Tenant, m.ID, methodAttached, result.Body))
}

// Detach takes a payment method from its customer and wipes its number, which is a change of the
// customer.
func (e *Engine) Detach(ctx context.Context, r Request, customer, method int64) (Result, error) {
	out, err := e.onCustomer(ctx, r, customer, func(tx *store.Tx, c *payment.Customer) (*Result, error) {
		m, err := e.methodOf(tx, c, method)
		if err != nil {
			return nil, err
		}
		if c.Default == m.ID {
			c.Default = 0
		}
		if _, err := e.customerUpdated(tx, c); err != nil {
			return nil, err
		}
		result := e.deleted(m)
		return &result, e.detach(tx, m, c.Version)
	})
	return value(out), err
}

// detachedEvent is the type of the event of a payment method that was detached.
const detachedEvent = "payment_method.detached"

func (e *Engine) detach(tx *store.Tx, m *payment.Method, sequence int64) error {
	if err := tx.DetachMethod(m); err != nil {
		return err
	}
	return tx.InsertEvent(e.detachment(m, sequence))
}

// detachment returns the event of a payment method that was detached.
func (e *Engine) detachment(m *payment.Method, sequence int64) *payment.Event {
	return e.event(detachedEvent, m.Tenant, m.ID, sequence, e.shown(m))
}
