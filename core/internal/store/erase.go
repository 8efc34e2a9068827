package store

import (
	"context"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// customerEvents selects events of a customer and of its payment methods after an id, oldest first.
// The condition on the type is the one of the index, word by word.
const customerEvents = `SELECT id FROM events INDEXED BY events_of_customers
	WHERE (substr(type, 1, 9) = 'customer.' OR substr(type, 1, 15) = 'payment_method.')
		AND object_id IN (SELECT ?3 UNION ALL SELECT id FROM payment_methods WHERE customer_id = ?3)
		AND merchant_id = ?1 AND live = ?2 AND id > ?4
	ORDER BY id LIMIT ?5`

// eventsAtOnce is how many events of a customer are always erased in the commit of its deletion.
const eventsAtOnce = 16

// EraseCustomer erases the payment methods of a customer, which are detached, and its events in the
// commit of its deletion. Of more than eventsAtOnce it may erase a part: EraseCustomerEvents erases
// the others. The personal data of the customer's transactions is erased by ErasePersonal.
func (tx *Tx) EraseCustomer(c *payment.Customer, erase Erase) error {
	err := tx.exec(`UPDATE payment_methods SET details = '{}', fingerprint = '', client_address = ''
		WHERE customer_id = ? AND detached_at > 0`, c.ID)
	if err != nil {
		return err
	}
	events, err := tx.numbers(customerEvents, c.Tenant.Merchant, c.Tenant.Live, c.ID, 0, erasePage)
	if err != nil {
		return err
	}
	done, err := eachLeast(tx, events, eventsAtOnce, func(n int64) error {
		_, err := tx.eraseRow(eventData(), n, erase)
		return err
	})
	if err != nil {
		return err
	}
	eventsDue := int64(0)
	if done < len(events) || done == erasePage {
		eventsDue = toMillis(tx.Now)
	}
	return tx.exec(`INSERT INTO customer_erasures (customer_id, merchant_id, live, deleted_at, due_at, events_due_at)
		VALUES (?1, ?2, ?3, ?4, ?4, ?5)`, c.ID, c.Tenant.Merchant, c.Tenant.Live, toMillis(tx.Now), eventsDue)
}

// EraseCustomerEvents erases the events of deleted customers that the commits of the deletions have
// left, and returns the number of events. A customer with an event that cannot be erased is tried
// again later. A pass that ends early begins again with the customers that it has not ended.
func (db *DB) EraseCustomerEvents(ctx context.Context, now time.Time, erase Erase) (erased int64, err error) {
	e := &eraser{db: db, now: db.confirmed(now), erase: erase, pass: db.BeginPass(PassErasure)}
	err = e.deletedCustomers(ctx, "events_due_at", eraseLater, e.eventsOf)
	return e.erased, err
}

// deletedCustomers erases the data of the deleted customers that are due by a column. The longest pause
// of that column limits how far ahead a customer can be due.
func (e *eraser) deletedCustomers(
	ctx context.Context, column string, longest time.Duration, erase func(context.Context, deletedCustomer) error,
) error {
	text := `SELECT customer_id, merchant_id, live, deleted_at, ` + column + ` FROM customer_erasures
		WHERE ` + column + ` > 0 AND ` + column + ` <= ?1 AND ` + column + ` >= ?2 AND (` + column + ` > ?2 OR customer_id > ?3)
		ORDER BY ` + column + `, customer_id LIMIT ?4`
	for _, due := range dueRanges(e.now, longest) {
		after := due.after
		for more := true; more; {
			page, err := collect(ctx, e.db, text, scanDeletedCustomer, due.through, after.At, after.ID, erasePage)
			if err != nil {
				return fmt.Errorf("read deleted customers: %w", err)
			}
			if err := e.eachCustomer(ctx, page, erase); err != nil {
				return err
			}
			if more = len(page) == erasePage; more {
				after = Due{At: page[erasePage-1].due, ID: page[erasePage-1].id}
			}
		}
	}
	return nil
}

// eachCustomer erases the data of a page of deleted customers. It skips one that fails.
func (e *eraser) eachCustomer(ctx context.Context, page []deletedCustomer, erase func(context.Context, deletedCustomer) error) error {
	for _, c := range page {
		if err := e.pass.Skip(ctx, "customer", c.id, erase(ctx, c)); err != nil {
			return err
		}
	}
	return nil
}

// eventsOf erases all events of a deleted customer. It begins with the first one and passes over
// those that were erased before.
func (e *eraser) eventsOf(ctx context.Context, c deletedCustomer) error {
	before := e.pass.skipped
	for after, more := int64(0), true; more; {
		page, err := collect(ctx, e.db, customerEvents, scanNumber, c.tenant.Merchant, c.tenant.Live, c.id, after, sweepPage)
		if err == nil {
			err = e.sweepPage(ctx, page)
		}
		if err != nil {
			return err
		}
		if more = len(page) == sweepPage; more {
			after = page[sweepPage-1]
		}
	}
	due := int64(0)
	if e.pass.skipped > before {
		due = toMillis(e.now.Add(eraseLater))
	}
	return e.commit(ctx, "events of a deleted customer", func(tx *Tx) (int64, error) {
		return 0, tx.exec(`UPDATE customer_erasures SET events_due_at = ? WHERE customer_id = ?`, due, c.id)
	})
}
