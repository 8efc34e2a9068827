package store

import (
	"context"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
)

// AgedCustomer is a customer that was last changed before the period of its merchant.
type AgedCustomer struct {
	ID     int64
	Tenant payment.Tenant
	Since  time.Time // the begin of the period
}

// AgedCustomers returns a page of the customers of all tenants that were last changed before the
// period of their merchant, by id. The page begins after the id after. days is the period of
// merchants without one of their own, 0 for no end.
func (db *DB) AgedCustomers(ctx context.Context, now time.Time, days int, after int64, limit int) ([]AgedCustomer, error) {
	const period = `COALESCE((SELECT keep_customers FROM merchants WHERE merchants.id = merchant_id), ?1)`
	return collect(ctx, db, `SELECT id, merchant_id, live, `+period+` FROM customers
		WHERE id > ?2 AND deleted_at = 0 AND `+period+` > 0 AND updated_at < ?3 - `+period+` * 86400000 ORDER BY id LIMIT ?4`,
		func(row Scanner) (c AgedCustomer, err error) {
			var kept int64
			if err := row.Scan(&c.ID, &c.Tenant.Merchant, &c.Tenant.Live, &kept); err != nil {
				return c, fmt.Errorf("read customer: %w", err)
			}
			c.Since = now.Add(-time.Duration(kept) * day)
			return c, nil
		}, days, after, toMillis(now), limit)
}

// ActiveCustomer reports whether a customer was changed, got a payment method or had a transaction
// since the begin of the period.
func (tx *Tx) ActiveCustomer(c AgedCustomer) (bool, error) {
	since := toMillis(c.Since)
	row, err := tx.row(`SELECT (SELECT COUNT(*) FROM customers WHERE id = ?1 AND updated_at >= ?2)
		+ (SELECT COUNT(*) FROM (SELECT 1 FROM payment_methods WHERE customer_id = ?1 AND (created_at >= ?2 OR detached_at >= ?2) LIMIT 1) AS methods)
		+ (SELECT COUNT(*) FROM (SELECT 1 FROM transaction_terms WHERE merchant = ?3 AND is_live = ?4 AND kind = ?5 AND term = ?6
			AND transaction_id >= ?7 LIMIT 1) AS paid)`,
		c.ID, since, c.Tenant.Merchant, c.Tenant.Live, termCustomer, id.Format(id.Customer, c.ID), id.At(c.Since))
	if err != nil {
		return false, err
	}
	n, err := scanNumber(row)
	return n > 0, err
}
