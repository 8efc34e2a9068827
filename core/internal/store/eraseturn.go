package store

import (
	"context"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store/pass"
)

// customerQueue selects the deleted customers that wait for an erasure. tenants selects the tenants
// that have due ones, and page a page of a tenant. longest is the longest pause of the queue.
type customerQueue struct {
	tenants, page *Statement
	longest       time.Duration
}

// eraseCustomerFunc erases a page of the rows of a deleted customer, after the row c.after. It
// moves c.after, returns the number of rows that it has read, and reports whether more are left.
type eraseCustomerFunc func(ctx context.Context, c *deletedCustomer) (rows int, more bool, err error)

// customerTurns is the erasure of the deleted customers of a queue, by tenant.
type customerTurns struct {
	*eraser
	queue customerQueue
	erase eraseCustomerFunc
	begun bool // a round has begun
	of    map[payment.Tenant]*customersOf
}

// customersOf is the progress of erasing a tenant's deleted customers.
type customersOf struct {
	by    time.Time        // of the tenant's first turn; customers that are due later are left to the next pass
	last  [2]Due           // the last customer of each range of the queue
	begun *deletedCustomer // has more rows; nil for none
}

// deletedCustomers calls erase for the deleted customers of a queue that are due, the longest due
// of each tenant first. A customer is also due if its time is too far ahead. The tenants take
// turns. Each round also finds the tenants of which a customer became due since the last one.
func (e *eraser) deletedCustomers(ctx context.Context, q customerQueue, erase eraseCustomerFunc) error {
	turns := &customerTurns{eraser: e, queue: q, erase: erase, of: map[payment.Tenant]*customersOf{}}
	return pass.InTurn(ctx, e.pass, func(t payment.Tenant) int64 { return t.Merchant },
		func() ([]payment.Tenant, error) { return turns.tenants(ctx) },
		func(t payment.Tenant) (bool, error) { return turns.turn(ctx, t) })
}

// tenants returns the tenants with customers that are due. The time of the pass is that of its last
// round, so that a customer which it postpones is not due again in the pass.
func (t *customerTurns) tenants(ctx context.Context) ([]payment.Tenant, error) {
	if t.begun {
		t.now = t.db.confirmed(t.db.clock.Now())
	}
	t.begun = true
	return backgroundRows(ctx, t.db, t.queue.tenants, scanTenant, toMillis(t.now), tooFarAhead(t.now, t.queue.longest))
}

func scanTenant(row Scanner) (t payment.Tenant, err error) {
	if err := row.Scan(&t.Merchant, &t.Live); err != nil {
		return t, fmt.Errorf("read tenant: %w", err)
	}
	return t, nil
}

// turn erases about a page of the rows of a tenant's deleted customers. It reports whether more
// customers are due.
func (t *customerTurns) turn(ctx context.Context, tenant payment.Tenant) (more bool, err error) {
	of, rows := t.of[tenant], 0
	if of == nil {
		of = &customersOf{by: t.now}
		t.of[tenant] = of
	}
	if of.begun != nil {
		if rows, err = t.continueWith(ctx, of, of.begun); err != nil || rows >= erasePage {
			return true, err
		}
	}
	for i, due := range dueRangesFrom(of.by, t.now, t.queue.longest) {
		after := due.next(of.last[i])
		page, err := backgroundRows(ctx, t.db, t.queue.page, scanDeletedCustomer,
			tenant.Merchant, tenant.Live, due.through, after.At, after.ID, erasePage)
		if err != nil {
			return false, fmt.Errorf("read deleted customers: %w", err)
		}
		for _, c := range page {
			of.last[i] = Due{At: c.due, ID: c.id}
			n, err := t.continueWith(ctx, of, &c)
			if rows += n; err != nil || rows >= erasePage {
				return true, err
			}
		}
		if len(page) == erasePage {
			return true, nil
		}
	}
	return false, nil
}

// continueWith erases a page of the rows of a deleted customer. It skips a customer for which that
// fails.
func (t *customerTurns) continueWith(ctx context.Context, of *customersOf, c *deletedCustomer) (int, error) {
	rows, more, err := t.erase(ctx, c)
	if of.begun = nil; more && err == nil {
		of.begun = c
	}
	return rows, t.pass.Skip(ctx, "customer", c.id, err)
}
