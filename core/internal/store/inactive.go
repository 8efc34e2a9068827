package store

import (
	"context"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
)

// agedPageRows is how many customers one statement reads to find those that are inactive.
const agedPageRows = 500

// AgedCustomers reads a page of the tenant's customers by id, beginning after the id after. It
// returns those that were last changed before since, and the id to go on after, 0 at the end.
func (db *DB) AgedCustomers(ctx context.Context, tenant payment.Tenant, since time.Time, after int64) (aged []int64, next int64, err error) {
	rows := 0
	_, err = collect(ctx, db, `SELECT id, CASE WHEN updated_at < ?4 THEN 1 ELSE 0 END FROM customers
		WHERE merchant_id = ?1 AND live = ?2 AND deleted_at = 0 AND id > ?3 AND id < ?5 ORDER BY id LIMIT ?6`,
		func(row Scanner) (n int64, err error) {
			var old bool
			if err := row.Scan(&n, &old); err != nil {
				return 0, fmt.Errorf("read customer: %w", err)
			}
			if rows, next = rows+1, n; old {
				aged = append(aged, n)
			}
			return n, nil
		}, tenant.Merchant, tenant.Live, after, toMillis(since), id.At(since), agedPageRows)
	if err != nil || rows < agedPageRows {
		return aged, 0, err
	}
	return aged, next, nil
}

// paymentsOf selects from the transactions of a customer that no erasure has unlinked from it.
const paymentsOf = `SELECT 1 FROM transaction_terms CROSS JOIN transactions ON id = transaction_id
	WHERE merchant = ?3 AND is_live = ?4 AND kind = ?5 AND term = ?6 AND `

// ActiveCustomer reports whether a customer was changed, got or lost a payment method, or had a
// transaction or a refund since a time, or has a transaction that is unfinished.
func (tx *Tx) ActiveCustomer(tenant payment.Tenant, customer int64, since time.Time) (bool, error) {
	row, err := tx.row(`SELECT CASE WHEN EXISTS (SELECT 1 FROM customers WHERE id = ?1 AND (updated_at >= ?2 OR last_paid_at >= ?2))
			OR EXISTS (SELECT 1 FROM payment_methods WHERE customer_id = ?1 AND (created_at >= ?2 OR detached_at >= ?2))
			OR EXISTS (SELECT 1 FROM transaction_terms WHERE merchant = ?3 AND is_live = ?4 AND kind = ?5 AND term = ?6
				AND transaction_id >= ?7)
			OR EXISTS (`+paymentsOf+unfinishedPayment+`)
			OR EXISTS (`+paymentsOf+`EXISTS (SELECT 1 FROM refunds WHERE refunds.transaction_id = transactions.id AND refunds.id >= ?7))
		THEN 1 ELSE 0 END`,
		customer, toMillis(since), tenant.Merchant, tenant.Live, termCustomer, id.Format(id.Customer, customer), id.At(since))
	if err != nil {
		return false, err
	}
	n, err := scanNumber(row)
	return n > 0, err
}
