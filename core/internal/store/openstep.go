package store

import (
	"cmp"
	"context"
	"math"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// StepPage selects a page of the unfinished steps of all tenants. They are in the order of their
// tenants, and of their ids in each tenant.
type StepPage struct {
	// Tenant and ID are of the step after which the page begins.
	Tenant payment.Tenant
	ID     int64
	// Until is the tenant before whose steps the page ends. The zero value is for none.
	Until payment.Tenant
	Limit int
}

func (p StepPage) args(more ...any) []any {
	until := cmp.Or(p.Until.Merchant, math.MaxInt64)
	return append([]any{p.Tenant.Merchant, p.Tenant.Live, p.ID, until, p.Until.Live, p.Limit}, more...)
}

// OpenStep is the row of an unfinished step with recovery's last attempt at it, without the
// attempt's step and error.
type OpenStep[T any] struct {
	Row   T
	Last  payment.StepAttempt
	Waits bool // for its pending reversal; a pending reversal waits for its time or for an operator
}

// openSteps reads a page of the unfinished steps of a kind. It omits rows that were last changed
// from before, in milliseconds, to ClockSlack later: a request still works on them. The rows have
// no Details, which can be long.
func openSteps[T any](
	ctx context.Context, db *DB, s *Statement, scan func(Scanner) (T, error), before int64, p StepPage,
) ([]OpenStep[T], error) {
	return backgroundRows(ctx, db, s, scanOpenStep(scan), p.args(before, before+ClockSlack.Milliseconds())...)
}

func scanOpenStep[T any](scan func(Scanner) (T, error)) func(Scanner) (OpenStep[T], error) {
	return func(row Scanner) (o OpenStep[T], err error) {
		var begun, next int64
		o.Row, err = scan(longerRow{row, []any{&o.Last.Attempts, &o.Last.Running, &begun, &next, &o.Waits}})
		o.Last.BegunAt, o.Last.NextAt = fromMillis(begun), fromMillis(next)
		return o, err
	}
}

// longerRow is a row with more columns than its reader scans. The last ones go to last.
type longerRow struct {
	Scanner
	last []any
}

// Scan implements Scanner.
func (r longerRow) Scan(dest ...any) error { return r.Scanner.Scan(append(dest, r.last...)...) }
