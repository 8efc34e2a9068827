package store

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
)

var (
	addToDay                   = declare("addToDay")
	selectSettlementDay        = declare("selectSettlementDay")
	selectSettlementDays       = declare("selectSettlementDays")
	selectSettlementDaysBefore = declare("selectSettlementDaysBefore")
)

// dayOf returns the id of the settlement day that ends at a time.
func dayOf(end time.Time) int64 { return id.At(end) }

// DayTotals are the totals that a command adds to a settlement day.
type DayTotals map[totalKey]payment.SettlementTotal

type totalKey struct{ currency, source string }

func (t DayTotals) add(of payment.SettlementTotal) {
	key := totalKey{of.Currency, of.Source}
	sum := t[key]
	sum.Currency, sum.Source = of.Currency, of.Source
	sum.Captures += of.Captures
	sum.Captured += of.Captured
	sum.Refunds += of.Refunds
	sum.Refunded += of.Refunded
	t[key] = sum
}

// AddToDay adds totals to the settlement day of a tenant that ends at a time. A command does this
// last, and in one order of the totals: otherwise two commands could deadlock.
func (tx *Tx) AddToDay(tenant payment.Tenant, end time.Time, totals DayTotals) error {
	keys := slices.SortedFunc(maps.Keys(totals), func(a, b totalKey) int {
		return cmp.Or(cmp.Compare(a.currency, b.currency), cmp.Compare(a.source, b.source))
	})
	for _, key := range keys {
		of := totals[key]
		err := tx.exec(addToDay, tenant.Merchant, tenant.Live, dayOf(end), of.Currency, of.Source, of.Captures, of.Captured,
			of.Refunds, of.Refunded)
		if err != nil {
			return err
		}
	}
	return nil
}

// SettlementDay reads one settlement day of the tenant, else payment.ErrNotFound.
func (db *DB) SettlementDay(ctx context.Context, tenant payment.Tenant, day int64) (*payment.SettlementDay, error) {
	rows, err := find(ctx, db, selectSettlementDay, scanDayTotal, tenant.Merchant, tenant.Live, day)
	if err != nil {
		return nil, err
	}
	days := daysOf(tenant, rows)
	if len(days) == 0 {
		return nil, payment.ErrNotFound
	}
	return days[0], nil
}

// SettlementDays lists the tenant's settlement days that match the filter, newest first.
func (db *DB) SettlementDays(
	ctx context.Context, tenant payment.Tenant, f payment.DayFilter, p payment.Page,
) (payment.List[*payment.SettlementDay], error) {
	after, before := int64(0), int64(math.MaxInt64)
	if !f.After.IsZero() {
		after = dayOf(f.After)
	}
	if !f.Before.IsZero() {
		before = dayOf(f.Before)
	}
	s, cursor := selectSettlementDays, int64(math.MaxInt64)
	switch {
	case p.Before != 0:
		s, cursor = selectSettlementDaysBefore, p.Before
	case p.After != 0:
		cursor = p.After
	}
	rows, err := listed(ctx, db, tenant, s, scanDayTotal, tenant.Merchant, tenant.Live, after, before, cursor, p.Limit+1)
	if err != nil {
		return payment.List[*payment.SettlementDay]{}, err
	}
	l := payment.List[*payment.SettlementDay]{Rows: daysOf(tenant, rows)}
	if len(l.Rows) > p.Limit {
		l.Rows, l.More = l.Rows[:p.Limit], true
	}
	if p.Before != 0 {
		slices.Reverse(l.Rows)
	}
	return l, nil
}

// dayTotal is one total with its day.
type dayTotal struct {
	day int64
	payment.SettlementTotal
}

func scanDayTotal(row Scanner) (t dayTotal, err error) {
	err = row.Scan(&t.day, &t.Currency, &t.Source, &t.Captures, &t.Captured, &t.Refunds, &t.Refunded)
	if err != nil {
		return t, fmt.Errorf("read settlement day: %w", err)
	}
	return t, nil
}

// daysOf returns the days of totals, which are in the order of the days.
func daysOf(tenant payment.Tenant, rows []dayTotal) []*payment.SettlementDay {
	var days []*payment.SettlementDay
	for _, row := range rows {
		if len(days) == 0 || days[len(days)-1].ID != row.day {
			days = append(days, &payment.SettlementDay{ID: row.day, Tenant: tenant})
		}
		last := days[len(days)-1]
		last.Totals = append(last.Totals, row.SettlementTotal)
	}
	return days
}
