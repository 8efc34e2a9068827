package store

import (
	"context"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
)

// dueCount is how many rows of one merchant, mode and kind are counted at most.
const dueCount = 1000

// DueErasure is personal data of one tenant that is past its period, or that of deleted customers.
type DueErasure struct {
	Tenant payment.Tenant
	Kind   string // transactions, refunds, events, delayed_transactions, deleted_customers, customers
	Rows   int64
	More   bool // there are more rows than were counted
	Oldest time.Time
}

// DueErasures lists the personal data that is to be erased and is not yet, by tenant and kind. keep
// and customers are the periods in days of merchants without one of their own, 0 for no end. It
// counts no more than dueCount rows of each, beginning after the rows that were erased.
func (db *DB) DueErasures(ctx context.Context, now time.Time, keep, customers int) ([]DueErasure, error) {
	merchants, err := db.Merchants(ctx)
	if err != nil {
		return nil, err
	}
	var out []DueErasure
	for _, m := range merchants {
		for _, live := range []bool{false, true} {
			found, err := db.dueOf(ctx, now, payment.Tenant{Merchant: m.ID, Live: live}, orElse(m.Retention.Personal, keep),
				orElse(m.Retention.Customers, customers))
			if err != nil {
				return nil, fmt.Errorf("count personal data: %w", err)
			}
			out = append(out, found...)
		}
	}
	return out, nil
}

func orElse(own, service int) int {
	if own > 0 {
		return own
	}
	return service
}

// dueQuery selects rows of a tenant, ?1 and ?2, with their ids, that are due by ?3 or by the id ?4.
type dueQuery struct {
	kind, rows string
	days       int // the period; 0 if it has none
	always     bool
}

func dueQueries(keep, customers int) []dueQuery {
	aged := func(table, name, more string) dueQuery {
		return dueQuery{kind: name, days: keep, rows: `SELECT id FROM ` + table + ` WHERE merchant_id = ?1 AND live = ?2 AND id < ?4 AND ?3 = ?3
			AND id > COALESCE((SELECT through FROM erasures WHERE name = '` + name + `' AND days = ?5), 0)` + more}
	}
	return []dueQuery{
		aged("transactions", "transactions", ""),
		aged("refunds", "refunds", " AND transaction_id IS NULL"),
		aged("events", "events", ""),
		{kind: "delayed_transactions", always: true, rows: `SELECT transaction_id AS id FROM delayed_erasures
			WHERE merchant_id = ?1 AND live = ?2 AND due_at <= ?3 AND ?4 = ?4 AND ?5 = ?5`},
		{kind: "deleted_customers", always: true, rows: `SELECT customer_id AS id FROM customer_erasures
			WHERE merchant_id = ?1 AND live = ?2 AND due_at <= ?3 AND ?4 = ?4 AND ?5 = ?5`},
		{kind: "customers", days: customers, rows: `SELECT id FROM customers
			WHERE merchant_id = ?1 AND live = ?2 AND deleted_at = 0 AND updated_at < ?3 AND ?4 = ?4 AND ?5 = ?5`},
	}
}

func (db *DB) dueOf(ctx context.Context, now time.Time, tenant payment.Tenant, keep, customers int) ([]DueErasure, error) {
	var out []DueErasure
	for _, q := range dueQueries(keep, customers) {
		if q.days == 0 && !q.always {
			continue
		}
		by := now.Add(-time.Duration(q.days) * day)
		s, err := db.query(ctx, `SELECT COUNT(*), COALESCE(MIN(id), 0) FROM (`+q.rows+` ORDER BY id LIMIT ?6) AS due`)
		if err != nil {
			return nil, err
		}
		d, oldest := DueErasure{Tenant: tenant, Kind: q.kind}, int64(0)
		if err := s.Row(ctx, tenant.Merchant, tenant.Live, toMillis(by), id.At(by), q.days, dueCount+1).Scan(&d.Rows, &oldest); err != nil {
			return nil, fmt.Errorf("%s: %w", q.kind, err)
		}
		if d.Rows == 0 {
			continue
		}
		d.More, d.Rows, d.Oldest = d.Rows > dueCount, min(d.Rows, dueCount), id.TimeOf(oldest).UTC()
		out = append(out, d)
	}
	return out, nil
}
