package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store/pass"
	"github.com/causeway-pay/causeway/shared/id"
)

var (
	selectPaymentsOfCustomer = declare("selectPaymentsOfCustomer")
	deleteCustomerTerm       = declare("deleteCustomerTerm")
	deleteCustomerErasure    = declare("deleteCustomerErasure")
	postponeCustomerErasure  = declare("postponeCustomerErasure")
	selectErasedObjects      = declare("selectErasedObjects")
	deleteErasedObjects      = declare("deleteErasedObjects")
	sweepEvents              = declare("sweepEvents")
	sweepEventsAfter         = declare("sweepEventsAfter")
)

// sweepPage is how many events one statement reads to find the events of erased objects.
const sweepPage = 2000

// customerPause is the longest time until a deleted customer is due again. It is short, so that a
// customer which a clock ahead postponed is due within a week.
const customerPause = 3 * day

// deletedCustomer is a customer with transactions or events that are not erased yet.
type deletedCustomer struct {
	id      int64
	tenant  payment.Tenant
	deleted time.Time
	due     int64 // in milliseconds
	after   int64 // the last row that was erased
	skipped bool  // a row was skipped
}

// customers erases the transactions of deleted customers that are no longer needed.
func (e *eraser) customers(ctx context.Context) error {
	return e.deletedCustomers(ctx, customerQueue{selectErasing, selectDeletedCustomers, customerPause}, e.paymentsOf)
}

// paymentsOf erases a page of the transactions of a deleted customer.
func (e *eraser) paymentsOf(ctx context.Context, c *deletedCustomer) (rows int, more bool, err error) {
	const name = "transactions of a deleted customer"
	change := func(ctx context.Context, chunk []int64) (int, error) {
		return eraseEach(ctx, e, name, chunk, func(tx *Tx, n int64) (int64, error) { return tx.erasePaymentOf(e, c, n) })
	}
	page, err := backgroundRows(ctx, e.db, selectPaymentsOfCustomer, scanNumber,
		c.tenant.Merchant, c.tenant.Live, termCustomer, id.Format(id.Customer, c.id),
		c.after, id.At(e.now.Add(-payment.LeastKeepPersonal)), erasePage)
	if err == nil {
		err = pass.Rows[int64]{Kind: "transactions", ID: idOf, Change: change}.Do(ctx, e.pass, page)
	}
	if err != nil {
		return 0, false, fmt.Errorf("erase personal data of %s: %w", name, err)
	}
	if len(page) == erasePage {
		c.after = page[erasePage-1]
		return len(page), true, pause(ctx)
	}
	return len(page), false, e.commit(ctx, name, func(tx *Tx) (int64, error) { return 0, tx.postponeCustomer(e, c) })
}

func scanDeletedCustomer(row Scanner) (deletedCustomer, error) {
	var (
		c  deletedCustomer
		at int64
	)
	if err := row.Scan(&c.id, &c.tenant.Merchant, &c.tenant.Live, &at, &c.due); err != nil {
		return c, fmt.Errorf("read deleted customer: %w", err)
	}
	c.deleted = fromMillis(at)
	return c, nil
}

// erasePaymentOf erases a transaction of a deleted customer. A transaction that is unfinished, or
// cannot be erased, keeps its link to the customer, by which a later pass finds it.
func (tx *Tx) erasePaymentOf(e *eraser, c *deletedCustomer, n int64) (erased int64, err error) {
	erased, was, err := tx.erasePayment(n, e.now, e.erase)
	switch {
	case errors.Is(err, payment.ErrNotFound): // the transaction was removed, and its link to the customer was not
		err = tx.exec(deleteCustomerTerm,
			c.tenant.Merchant, c.tenant.Live, termCustomer, id.Format(id.Customer, c.id), n)
	case err == nil && !was.open:
		err = tx.erasedPayment(was, n)
	}
	return erased, err
}

// postponeCustomer makes a deleted customer due again when its oldest transaction can be erased, or
// after customerPause. It ends the erasure of a customer without transactions. A payment that was
// under way at the deletion can add a transaction for one day, measured without steps of the clock.
func (tx *Tx) postponeCustomer(e *eraser, c *deletedCustomer) error {
	left, err := tx.numbers(selectPaymentsOfCustomer,
		c.tenant.Merchant, c.tenant.Live, termCustomer, id.Format(id.Customer, c.id), 0, math.MaxInt64, 1)
	if err != nil {
		return err
	}
	if len(left) == 0 && e.db.keysEnded(e.now).Sub(c.deleted) > clockStep {
		if n, err := tx.execCount(deleteCustomerErasure, c.id); err != nil || n > 0 {
			return err
		}
	}
	due := e.now.Add(eraseLater)
	if len(left) > 0 {
		if free := id.TimeOf(left[0]).Add(payment.LeastKeepPersonal); free.After(due) {
			due = free
		}
	}
	if latest := e.now.Add(customerPause); due.After(latest) {
		due = latest
	}
	// A deletion in the future was written by a clock that was ahead. The present time is the latest
	// time that may be right: an earlier time would end the deletion before its day.
	return tx.exec(postponeCustomerErasure,
		toMillis(due), e.db.ahead(0), c.id)
}

// afterErasure prepares a step on a transaction whose personal data was erased. It removes the
// step's client address and queues a later erasure of the step's data. It does nothing if erased is
// 0.
func (tx *Tx) afterErasure(transaction, erased int64, by *payment.Client) error {
	if erased == 0 {
		return nil
	}
	by.Address = ""
	return tx.delayErasure(transactionData(), transaction, tx.Now.Add(payment.LeastKeepPersonal))
}

// events erases the events of transactions that were erased before the age of their events. It
// reads the events of each tenant from the oldest of these transactions on, page by page, in the
// index alone. A pass that is cut off begins again.
func (e *eraser) events(ctx context.Context) error {
	tenants, err := backgroundRows(ctx, e.db, selectErasedObjects,
		func(row Scanner) (s sweep, err error) {
			return s, row.Scan(&s.tenant.Merchant, &s.tenant.Live, &s.oldest)
		})
	if err != nil {
		return fmt.Errorf("read erased objects: %w", err)
	}
	for _, s := range tenants {
		if err := e.pass.Skip(ctx, "merchant", s.tenant.Merchant, e.sweep(ctx, s)); err != nil {
			return err
		}
	}
	return nil
}

// sweep is a pass over a tenant's events, up to the last event that it has read.
type sweep struct {
	tenant    payment.Tenant
	oldest    int64 // id of the oldest erased object
	place, id int64 // commit position and id of the last event
}

// swept is an event that a sweep has read.
type swept struct {
	place, id int64
	erased    bool // its object was erased
}

func scanSwept(row Scanner) (s swept, err error) {
	if err := row.Scan(&s.place, &s.id, &s.erased); err != nil {
		return s, fmt.Errorf("read events of erased objects: %w", err)
	}
	return s, nil
}

func (e *eraser) sweep(ctx context.Context, s sweep) error {
	before := e.pass.Skipped()
	page, args := sweepEvents, []any{s.tenant.Merchant, s.tenant.Live, s.oldest - eventSlack(), 0, sweepPage}
	for rows := sweepPage; rows == sweepPage; {
		events, err := backgroundRows(ctx, e.db, page, scanSwept, args...)
		if err != nil {
			return err
		}
		var found []int64
		for _, event := range events {
			if s.place, s.id = event.place, event.id; event.erased {
				found = append(found, event.id)
			}
		}
		rows = len(events)
		if err := e.sweepPage(ctx, found); err != nil {
			return err
		}
		page, args = sweepEventsAfter, []any{s.tenant.Merchant, s.tenant.Live, s.id, s.place, sweepPage}
	}
	if e.pass.Skipped() > before {
		return nil // the next pass needs the objects to find the skipped events
	}
	return e.pages(ctx, "erased objects", func(tx *Tx) (int64, bool, error) {
		// A minute for commits of other cores that this pass has not read: the next pass removes
		// these objects. A row of a clock that was ahead is older than its time.
		n, err := tx.execCount(deleteErasedObjects,
			s.tenant.Merchant, s.tenant.Live, toMillis(e.now.Add(-ClockSlack)), tooFarAhead(e.now, clockStep), erasePage)
		return 0, n == erasePage, err
	})
}

// sweepPage erases the events of one page.
func (e *eraser) sweepPage(ctx context.Context, ids []int64) error {
	events := eventData()
	change := func(ctx context.Context, chunk []int64) (int, error) {
		return eraseEach(ctx, e, events.name, chunk, func(tx *Tx, n int64) (int64, error) {
			return tx.eraseRow(events, n, e.erase)
		})
	}
	rows := pass.Rows[int64]{Kind: events.name, ID: idOf, Change: change}
	for chunk := range slices.Chunk(ids, erasePage) {
		if err := rows.Do(ctx, e.pass, chunk); err != nil {
			return err
		}
	}
	return pause(ctx)
}
