package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/pass"
)

// VersionError is the refusal of a request that expects another version than the object has.
type VersionError struct{ payment.Refusal }

func (e *VersionError) Error() string { return "engine: " + e.Message }

// DeleteCustomer erases the data of a customer and of its payment methods, and both in their
// events, in one commit. The id and the deletion stay. If there are many events, the commit hides
// the data of some, and store.DB.EraseCustomerEvents erases it. If there are many payment methods,
// further commits write some of the events of the deletion, see AnnounceDeletions. The personal
// data of its transactions is erased as soon as nothing needs it, see store.DB.ErasePersonal. It
// returns payment.ErrNotFound if there is no such customer, and a *VersionError if it has another
// version than expected. A nil expected matches every version.
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
	more := false
	out, err := e.onCustomer(ctx, r, customer, func(tx *store.Tx, c *payment.Customer) (*Result, error) {
		err := check(tx, c)
		if err == nil {
			err = tx.DeleteCustomer(c)
		}
		if err == nil {
			err = tx.EraseCustomer(c, e.Erase)
		}
		if err != nil {
			return nil, err
		}
		result := e.deleted(c)
		more, err = e.announceDeletion(tx, c)
		return &result, err
	})
	if err == nil && more {
		ctx = context.WithoutCancel(ctx) // the client may hang up
		if err := e.announceRest(ctx, r.caller(), customer); err != nil {
			e.Log.WarnContext(ctx, "deletion of a customer: the background writes the remaining events", slog.Any("error", err))
		}
	}
	return value(out), err
}

// errActive reports a customer that has paid or was changed meanwhile.
var errActive = errors.New("engine: the customer is active again")

// DeleteInactiveCustomers deletes the customers without a payment or a change for the period of
// their merchant, and returns how many. days is the period of merchants without a setting, 0 for
// unlimited. It reads all customers of the merchants with a period, page by page.
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
			if errors.Is(err, errActive) || errors.Is(err, payment.ErrNotFound) {
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

// deletionRows is the approximate number of events and deliveries that one commit of a deletion
// writes. On SQLite they keep the writer busy for some milliseconds.
const deletionRows = 500

// announceDeletion writes the events of payment methods that the deletion of a customer has
// detached. The event of the deletion follows the last of them. It reports whether events remain
// for the next commit.
func (e *Engine) announceDeletion(tx *store.Tx, c *payment.Customer) (more bool, err error) {
	endpoints, err := tx.EndpointsFor(c.Tenant, detachedEvent)
	if err != nil {
		return false, err
	}
	limit := max(1, deletionRows/(1+len(endpoints)))
	detached, err := tx.UnannouncedMethods(c, limit)
	if err != nil {
		return false, err
	}
	events := make([]*payment.Event, len(detached))
	for i, m := range detached {
		events[i] = e.detachment(m, c.Version)
	}
	if len(detached) == limit {
		return true, tx.InsertEvents(events...)
	}
	if err := tx.EndUnannouncedDeletion(c.ID); err != nil {
		return false, err
	}
	return false, tx.InsertEvents(append(events, e.event("customer.deleted", c.Tenant, c.ID, c.Version, e.shown(c)))...)
}

// announceRest writes the remaining events of a deletion, some in each commit.
func (e *Engine) announceRest(ctx context.Context, by store.Caller, customer int64) error {
	for more := true; more; {
		err := e.Store.UpdateOf(ctx, by, func(tx *store.Tx) error {
			c, err := tx.UnannouncedDeletion(customer)
			if errors.Is(err, payment.ErrNotFound) { // another process has written them
				more = false
				return nil
			}
			if err == nil {
				more, err = e.announceDeletion(tx, c)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// AnnounceDeletions writes the remaining events of deletions that were interrupted by the end of
// the process or by a busy store. It skips a deletion whose events cannot be written.
func (e *Engine) AnnounceDeletions(ctx context.Context) error {
	skipping := e.Store.BeginPass(pass.Erasure)
	for after, more := int64(0), true; more; {
		page, err := e.Store.UnannouncedDeletions(ctx, after, dueBatch)
		if err != nil {
			return fmt.Errorf("announce deletions: %w", err)
		}
		for _, d := range page {
			after = d.Customer
			err := e.announceRest(ctx, store.Caller{Tenant: d.Tenant}, d.Customer)
			if err := skipping.Skip(ctx, "customer", d.Customer, err); err != nil {
				return fmt.Errorf("announce deletions: %w", err)
			}
		}
		more = len(page) == dueBatch
	}
	return nil
}
