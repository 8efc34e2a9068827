package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/pass"
)

// VersionError is the refusal of a request that expects another version than the object has.
type VersionError struct{ payment.Refusal }

func (e *VersionError) Error() string { return "engine: " + e.Message }

// DeleteCustomer erases the data of a customer and of its payment methods, and both in their
// events, in one commit. The id and the deletion stay. If there are many events, some are erased
// later, see store.DB.EraseCustomerEvents. The personal data of its transactions is erased as soon
// as nothing needs it, see store.DB.ErasePersonal. ErrNotFound if there is no such customer, a
// *VersionError if it has another version than expected; nil is any.
func (e *Engine) DeleteCustomer(ctx context.Context, r Request, customer int64, expected *int64) (Result, error) {
	return e.deleteCustomer(ctx, r, customer, func(_ *store.Tx, c *payment.Customer) error {
		if expected != nil && *expected != c.Version {
			return &VersionError{*payment.Conflict(*expected, c.Version)}
		}
		return nil
	})
}

// deleteCustomer is DeleteCustomer if check returns no error in the same commit.
func (e *Engine) deleteCustomer(
	ctx context.Context, r Request, customer int64, check func(*store.Tx, *payment.Customer) error,
) (Result, error) {
	out, err := e.onCustomer(ctx, r, customer, func(tx *store.Tx, c *payment.Customer) (*Result, error) {
		if err := check(tx, c); err != nil {
			return nil, err
		}
		return e.erase(tx, c)
	})
	return value(out), err
}

// errActive reports a customer that has paid or was changed meanwhile.
var errActive = errors.New("engine: the customer is active again")

// DeleteInactiveCustomers deletes the customers without a payment or a change for the period of
// their merchant, and returns how many. days is the period of merchants that have set none, 0 for
// no end. It reads all customers of the merchants with a period, page by page.
func (e *Engine) DeleteInactiveCustomers(ctx context.Context, days int) (deleted int64, err error) {
	merchants, err := e.Store.Merchants(ctx)
	if err != nil {
		return 0, fmt.Errorf("look for inactive customers: %w", err)
	}
	skipping := e.Store.BeginPass(pass.Inactive)
	for _, m := range merchants {
		kept := m.Retention.Or(payment.Retention{Customers: days}).Customers
		if kept == 0 {
			continue
		}
		since := e.Store.Confirmed().AddDate(0, 0, -kept)
		for _, live := range []bool{false, true} {
			n, err := e.deleteInactive(ctx, skipping, payment.Tenant{Merchant: m.ID, Live: live}, since)
			deleted += n
			if err := skipping.Skip(ctx, "merchant", m.ID, err); err != nil {
				return deleted, fmt.Errorf("delete inactive customers: %w", err)
			}
		}
	}
	return deleted, nil
}

// deleteInactive deletes the tenant's customers without a payment or a change since a time. It
// skips a customer that cannot be deleted.
func (e *Engine) deleteInactive(
	ctx context.Context, skipping *pass.Pass, tenant payment.Tenant, since time.Time,
) (deleted int64, err error) {
	for after, more := int64(0), true; more; more = after > 0 {
		var aged []int64
		if aged, after, err = e.Store.AgedCustomers(ctx, tenant, since, after); err != nil {
			return deleted, err
		}
		for _, customer := range aged {
			_, err := e.deleteCustomer(ctx, Request{Tenant: tenant}, customer, func(tx *store.Tx, _ *payment.Customer) error {
				active, err := tx.ActiveCustomer(tenant, customer, since)
				if err == nil && active {
					err = errActive
				}
				return err
			})
			if errors.Is(err, errActive) || errors.Is(err, ErrNotFound) {
				continue
			}
			if skipped := skipping.Skip(ctx, "customer", customer, err); skipped != nil {
				return deleted, skipped
			}
			if err == nil {
				deleted++
			}
		}
	}
	return deleted, nil
}

// erase deletes a customer and erases its data.
func (e *Engine) erase(tx *store.Tx, c *payment.Customer) (*Result, error) {
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
	if err := tx.EraseCustomer(c, e.Erase); err != nil {
		return nil, err
	}
	if err := tx.DeleteCustomer(c); err != nil {
		return nil, err
	}
	result := e.deleted(c)
	return &result, tx.InsertEvent(e.event("customer.deleted", c.Tenant, c.ID, c.Version, e.shown(c)))
}
