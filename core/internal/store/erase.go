package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store/pass"
)

var (
	selectCustomerEvents           = declare("selectCustomerEvents")
	selectSomeCustomerEvents       = declare("selectSomeCustomerEvents")
	insertCustomerErasure          = declare("insertCustomerErasure")
	lockUnannouncedDeletion        = declare("lockUnannouncedDeletion")
	endUnannouncedDeletion         = declare("endUnannouncedDeletion")
	selectUnannouncedDeletions     = declare("selectUnannouncedDeletions")
	selectDeletedCustomer          = declare("selectDeletedCustomer")
	postponeCustomerEvents         = declare("postponeCustomerEvents")
	selectDeletedCustomers         = declare("selectDeletedCustomers")
	selectDeletedCustomersByEvents = declare("selectDeletedCustomersByEvents")
	selectErasing                  = declare("selectErasing")
	selectErasingByEvents          = declare("selectErasingByEvents")
)

// eventsAtOnce is the least number of a customer's events that the commit of its deletion erases.
const eventsAtOnce = 16

// EraseCustomer detaches the payment methods of a customer, and erases the events of both, in the
// commit that deletes the customer. Of more than eventsAtOnce events it may leave some to
// EraseCustomerEvents; these are Personal until then. ErasePersonal erases the personal data of the
// customer's transactions. The deletion is unannounced until EndUnannouncedDeletion.
func (tx *Tx) EraseCustomer(c *payment.Customer, erase eraseFunc) error {
	if err := tx.detachMethods(c.ID); err != nil {
		return err
	}
	events, err := tx.numbers(selectSomeCustomerEvents, c.Tenant.Merchant, c.Tenant.Live, c.ID, erasePage)
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
	return tx.exec(insertCustomerErasure, c.ID, c.Tenant.Merchant, c.Tenant.Live, toMillis(tx.Now), eventsDue)
}

// UnannouncedDeletion returns a deleted customer and locks its deletion. It returns
// payment.ErrNotFound if the events of the deletion are written.
func (tx *Tx) UnannouncedDeletion(customer int64) (*payment.Customer, error) {
	row, err := tx.row(lockUnannouncedDeletion, customer)
	if err == nil {
		_, err = scanNumber(row)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return nil, payment.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	if row, err = tx.row(selectDeletedCustomer, customer); err != nil {
		return nil, err
	}
	return scanCustomer(row)
}

// EndUnannouncedDeletion marks the events of a deletion as written.
func (tx *Tx) EndUnannouncedDeletion(customer int64) error {
	return tx.exec(endUnannouncedDeletion, customer)
}

// Deletion is the deletion of a customer.
type Deletion struct {
	Tenant   payment.Tenant
	Customer int64
}

// UnannouncedDeletions returns a page of the deletions whose events are not all written, by the id
// of the customer. The page begins after the id after.
func (db *DB) UnannouncedDeletions(ctx context.Context, after int64, limit int) ([]Deletion, error) {
	return backgroundRows(ctx, db, selectUnannouncedDeletions, func(row Scanner) (Deletion, error) {
		c, err := scanDeletedCustomer(row)
		return Deletion{c.tenant, c.id}, err
	}, after, limit)
}

// EraseCustomerEvents erases the events of deleted customers that EraseCustomer has left, and
// returns the number of erased events. It retries a customer later if one of its events cannot be
// erased. A pass that is cut off begins again with the customers that it has not finished.
func (db *DB) EraseCustomerEvents(ctx context.Context, now time.Time, erase eraseFunc) (erased int64, err error) {
	e := &eraser{db: db, now: db.confirmed(now), erase: erase, pass: db.BeginPass(pass.Erasure)}
	queue := customerQueue{selectErasingByEvents, selectDeletedCustomersByEvents, eraseLater}
	err = e.deletedCustomers(ctx, queue, e.eventsOf)
	return e.erased, err
}

// eventsOf erases a page of the events of a deleted customer. An event that was erased before stays
// as it is.
func (e *eraser) eventsOf(ctx context.Context, c *deletedCustomer) (rows int, more bool, err error) {
	before := e.pass.Skipped()
	page, err := backgroundRows(ctx, e.db, selectCustomerEvents, scanNumber,
		c.tenant.Merchant, c.tenant.Live, c.id, c.after, sweepPage)
	if err == nil {
		err = e.sweepPage(ctx, page)
	}
	if err != nil {
		return 0, false, err
	}
	c.skipped = c.skipped || e.pass.Skipped() > before
	if len(page) == sweepPage {
		c.after = page[sweepPage-1]
		return len(page), true, nil
	}
	due := int64(0)
	if c.skipped {
		due = toMillis(e.now.Add(eraseLater))
	}
	return len(page), false, e.commit(ctx, "events of a deleted customer", func(tx *Tx) (int64, error) {
		return 0, tx.exec(postponeCustomerEvents, due, c.id)
	})
}
