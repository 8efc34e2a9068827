package engine

import (
	"context"
	"errors"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// eraseAttempts is how often a deletion begins again because the customer was changed meanwhile.
const eraseAttempts = 8

// errChanged says that events were written that a deletion has not seen.
var errChanged = errors.New("engine: the customer was changed meanwhile")

// DeleteCustomer erases what is known of a customer: its data, what it pays with, and both in the events that told of them. What is left is
// that it was, and was deleted. Its transactions keep what they recorded.
func (e *Engine) DeleteCustomer(ctx context.Context, r Request, customer int64) (Answer, error) {
	for range eraseAttempts {
		// The events are looked for outside the commit, for there may be many others to pass over.
		stamp, told, err := e.Store.CustomerEvents(ctx, r.Tenant, customer)
		if errors.Is(err, store.ErrNotFound) {
			return Answer{}, ErrNotFound
		}
		if err != nil {
			return Answer{}, err
		}
		out, err := e.onCustomer(ctx, r, customer, func(tx *store.Tx, c *payment.Customer) (answer *Answer, err error) {
			now, err := tx.CustomerStamp(c.Tenant, c.ID)
			if err != nil {
				return nil, err
			}
			if now != stamp {
				return nil, errChanged
			}
			err = tx.Shred(func() (err error) { answer, err = e.erase(tx, c, told); return err })
			return answer, err
		})
		if !errors.Is(err, errChanged) {
			return value(out), err
		}
	}
	return Answer{}, store.ErrBusy
}

// erase deletes a customer, of which all events so far are told.
func (e *Engine) erase(tx *store.Tx, c *payment.Customer, told []*store.Event) (*Answer, error) {
	attached, err := tx.AttachedMethods(c.ID)
	if err != nil {
		return nil, err
	}
	for _, m := range attached {
		m.Details = []byte("{}")
		if err := e.detach(tx, m); err != nil {
			return nil, err
		}
	}
	if err := tx.EraseMethods(c.ID); err != nil {
		return nil, err
	}
	for _, event := range told {
		if err := tx.RewriteEvent(event.ID, e.Present.Erased(event.Type, event.Data)); err != nil {
			return nil, err
		}
	}
	if err := tx.DeleteCustomer(c); err != nil {
		return nil, err
	}
	answer := e.Present.CustomerDeleted(c)
	return &answer, tx.InsertEvent(e.event("customer.deleted", c.Tenant, c.ID, c.Version, e.Present.Customer(c).Body))
}
