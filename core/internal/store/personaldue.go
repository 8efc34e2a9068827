package store

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
)

var (
	countDelayedErasures  = declare("countDelayedErasures")
	countCustomerErasures = declare("countCustomerErasures")
)

// duePage is how many rows one statement reads to count personal data.
const duePage = 2000

// DueErasure counts the personal data of one kind and tenant that is past its period, or belongs to
// deleted customers.
type DueErasure struct {
	Tenant payment.Tenant
	// Kind is transactions, refunds, events, customers or payment_methods for rows past their
	// period. delayed_ and one of these, or payment_parts, is for delayed rows. The other kinds are
	// deleted_customers and inactive_customers.
	Kind   string
	Rows   int64
	Oldest time.Time
}

// DueErasures lists the personal data that is due for erasure, by tenant and kind. service holds
// the default periods. It reads two sets of rows, page by page. One is the rows that are past a
// period and that no erasure has read yet. The other is all customers of merchants with a period.
func (db *DB) DueErasures(ctx context.Context, now time.Time, service payment.Retention) ([]DueErasure, error) {
	merchants, err := db.Merchants(ctx)
	if err != nil {
		return nil, err
	}
	c := dueCount{db: db, now: now, periods: map[int64]payment.Retention{}, found: map[dueKind]*DueErasure{}}
	for _, m := range merchants {
		c.periods[m.ID] = m.Retention.Or(service)
	}
	periods, err := db.periods(ctx, service.Personal)
	if err != nil {
		return nil, err
	}
	for _, days := range periods {
		if err := c.aged(ctx, days); err != nil {
			return nil, err
		}
	}
	for kind, q := range dueQueues(now) {
		if err := c.pages(ctx, kind, q.rows, 0, math.MaxInt64, nil, q.due...); err != nil {
			return nil, err
		}
	}
	for _, m := range merchants {
		if err := c.inactive(ctx, m.ID); err != nil {
			return nil, err
		}
	}
	return c.list(), nil
}

// dueKind identifies one entry of the list.
type dueKind struct {
	tenant payment.Tenant
	kind   string
}

// dueCount collects the entries of the list.
type dueCount struct {
	db      *DB
	now     time.Time
	periods map[int64]payment.Retention // by merchant
	found   map[dueKind]*DueErasure
}

func (c *dueCount) add(tenant payment.Tenant, kind string, n int64) {
	at := dueKind{tenant, kind}
	if c.found[at] == nil {
		c.found[at] = &DueErasure{Tenant: tenant, Kind: kind, Oldest: id.TimeOf(n).UTC()}
	}
	c.found[at].Rows++
}

func (c *dueCount) list() []DueErasure {
	out := make([]DueErasure, 0, len(c.found))
	for _, d := range c.found {
		out = append(out, *d)
	}
	slices.SortFunc(out, func(a, b DueErasure) int {
		live := 0
		if a.Tenant.Live != b.Tenant.Live {
			live = 1
			if b.Tenant.Live {
				live = -1
			}
		}
		return cmp.Or(cmp.Compare(a.Tenant.Merchant, b.Tenant.Merchant), live, strings.Compare(a.Kind, b.Kind))
	})
	return out
}

// dueQueue selects the rows of a queue, for pages. due has the arguments of rows after the first
// three.
type dueQueue struct {
	rows *Statement
	due  []any
}

// dueQueues returns, by kind, the queues of rows that wait for an erasure.
func dueQueues(now time.Time) map[string]dueQueue {
	out := map[string]dueQueue{"deleted_customers": {
		countCustomerErasures,
		[]any{toMillis(now), tooFarAhead(now, customerPause), tooFarAhead(now, eraseLater)},
	}}
	for _, table := range append(erasedTables(), erasedTable{personal: personal{name: paymentParts}}) {
		out["delayed_"+table.name] = dueQueue{
			countDelayedErasures,
			[]any{toMillis(now), tooFarAhead(now, longestDelay(table.name)), table.name},
		}
	}
	return out
}

// aged counts the rows that are past a period, of the merchants with that period.
func (c *dueCount) aged(ctx context.Context, days int) error {
	for _, p := range append(personals(), transactionData()) {
		through, err := backgroundRows(ctx, c.db, selectErasure, scanNumber, p.name, days)
		if err != nil {
			return fmt.Errorf("read erasure: %w", err)
		}
		mine := func(merchant int64) bool { return c.periods[merchant].Personal == days }
		before := id.At(c.now.Add(-time.Duration(days) * day))
		if err := c.pages(ctx, p.name, p.erasable, slices.Max(append(through, 0)), before, mine); err != nil {
			return err
		}
	}
	return nil
}

// pages counts the rows between two ids of the merchants that mine selects, or of all if mine is
// nil. rows is a query for the id, the tenant and whether a row counts. ?1 and ?2 are the ids, ?3
// is the size of the page, and more has the further arguments.
func (c *dueCount) pages(ctx context.Context, kind string, rows *Statement, after, before int64,
	mine func(merchant int64) bool, more ...any,
) error {
	for n := duePage; n == duePage; {
		page, err := backgroundRows(ctx, c.db, rows, scanCounted, append([]any{after, before, duePage}, more...)...)
		if err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
		for _, row := range page {
			if after = row.id; row.due && (mine == nil || mine(row.tenant.Merchant)) {
				c.add(row.tenant, kind, row.id)
			}
		}
		n = len(page)
	}
	return nil
}

// counted is a row that pages reads.
type counted struct {
	id     int64
	tenant payment.Tenant
	due    bool
}

func scanCounted(row Scanner) (c counted, err error) {
	if err := row.Scan(&c.id, &c.tenant.Merchant, &c.tenant.Live, &c.due); err != nil {
		return c, fmt.Errorf("count personal data: %w", err)
	}
	return c, nil
}

// inactive counts the customers of a merchant that were last changed before its period.
func (c *dueCount) inactive(ctx context.Context, merchant int64) error {
	kept := c.periods[merchant].Customers
	if kept == 0 {
		return nil
	}
	since := c.now.AddDate(0, 0, -kept)
	for _, live := range []bool{false, true} {
		tenant := payment.Tenant{Merchant: merchant, Live: live}
		for after, more := int64(0), true; more; more = after > 0 {
			aged, next, err := c.db.AgedCustomers(ctx, tenant, since, after)
			if err != nil {
				return fmt.Errorf("count inactive customers: %w", err)
			}
			for _, n := range aged {
				c.add(tenant, "inactive_customers", n)
			}
			after = next
		}
	}
	return nil
}
