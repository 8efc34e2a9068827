package store

import (
	"context"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
)

var (
	selectCustomerAges   = declare("selectCustomerAges")
	selectActiveCustomer = declare("selectActiveCustomer")
)

// agedPageRows is how many customers one statement of AgedCustomers reads.
const agedPageRows = 500

// AgedCustomers reads a page of the tenant's customers by id, beginning after the id after. It
// returns the customers that were last changed before since, and the id after which the next page
// begins, 0 at the end.
func (db *DB) AgedCustomers(
	ctx context.Context, tenant payment.Tenant, since time.Time, after int64,
) (aged []int64, next int64, err error) {
	type customer struct {
		id  int64
		old bool
	}
	page, err := backgroundRows(ctx, db, selectCustomerAges, func(row Scanner) (c customer, err error) {
		if err := row.Scan(&c.id, &c.old); err != nil {
			return c, fmt.Errorf("read customer: %w", err)
		}
		return c, nil
	}, tenant.Merchant, tenant.Live, after, toMillis(since), id.At(since), agedPageRows)
	if err != nil {
		return nil, 0, err
	}
	for _, c := range page {
		if c.old {
			aged = append(aged, c.id)
		}
	}
	if len(page) == agedPageRows {
		next = page[agedPageRows-1].id
	}
	return aged, next, nil
}

// ActiveCustomer reports whether a customer has an unfinished transaction, or was active since a
// time. Each of these is activity: a change, a payment method attached or detached, a transaction,
// a refund.
func (tx *Tx) ActiveCustomer(tenant payment.Tenant, customer int64, since time.Time) (bool, error) {
	row, err := tx.row(selectActiveCustomer,
		customer, toMillis(since), tenant.Merchant, tenant.Live, termCustomer, id.Format(id.Customer, customer), id.At(since))
	if err != nil {
		return false, err
	}
	n, err := scanNumber(row)
	return n > 0, err
}
