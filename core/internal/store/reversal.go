package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

var (
	saveReversal           = declare("saveReversal")
	postponeReversal       = declare("postponeReversal")
	lockReversal           = declare("lockReversal")
	endReversal            = declare("endReversal")
	removeReversal         = declare("removeReversal")
	selectPendingReversals = declare("selectPendingReversals")
)

// InsertReversal inserts a pending reversal. If the step has one already, that becomes due as early
// as r, and its inquiries begin again. The larger held amount, the idempotency key and a release
// request that was made stay.
func (tx *Tx) InsertReversal(r *payment.Reversal) error {
	return tx.exec(saveReversal,
		string(r.Step.Kind), r.Step.Transaction, r.Step.ID, r.Step.Attempt, r.Tenant.Merchant, r.Tenant.Live, r.Amount,
		r.Currency, r.Captured, r.Held, r.Asked, toMillis(r.Since), toMillis(r.DueAt), r.Claim, r.Account, r.Tag,
		r.AcquirerID, r.Last4, r.Requested)
}

// PostponeReversal stores the state of r and when it is due next. It returns ErrConflict if another
// command changed or ended it meanwhile.
func (tx *Tx) PostponeReversal(r *payment.Reversal) error {
	return tx.execOne(postponeReversal,
		r.Held, r.Requested, r.Asked, r.Refused, r.Looks, toMillis(r.Since), toMillis(r.DueAt), r.AcquirerID,
		r.Release, r.ReleaseTag, r.ID, r.Version)
}

// ReleaseRequested reports whether a step has a pending reversal, and whether the acquirer may have
// received a release request for it. Recovery cannot send such a request before the command ends.
func (tx *Tx) ReleaseRequested(s payment.StepID) (exists, requested bool, err error) {
	row, err := tx.row(lockReversal,
		string(s.Kind), s.ID, s.Transaction, s.Attempt)
	if err != nil {
		return false, false, err
	}
	n, err := scanNumber(row)
	if errors.Is(err, sql.ErrNoRows) {
		return false, false, nil
	}
	return err == nil, n == 1, err
}

// EndReversal removes r, because the step has no effect that is not recorded. It returns
// ErrConflict if another command changed or ended it meanwhile.
func (tx *Tx) EndReversal(r *payment.Reversal) error {
	return tx.execOne(endReversal, r.ID, r.Version)
}

// RemoveReversal removes the pending reversal, if there is one, of a step whose effect is recorded
// in the same commit. It returns the idempotency key that the reversal has held, 0 for none.
func (tx *Tx) RemoveReversal(s payment.StepID) (claim int64, err error) {
	row, err := tx.row(removeReversal,
		string(s.Kind), s.ID, s.Transaction, s.Attempt)
	if err != nil {
		return 0, err
	}
	claim, err = scanNumber(row)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return claim, err
}

// PendingReversals returns a page of the pending reversals of all tenants. A reversal that is due
// after a time waits. If it is due too far ahead, it is due now, unless it waits for an operator.
func (db *DB) PendingReversals(ctx context.Context, at time.Time, p StepPage) ([]OpenStep[*payment.Reversal], error) {
	out, err := backgroundRows(ctx, db, selectPendingReversals, scanOpenStep(scanReversal), p.args()...)
	now, far, never := toMillis(at), tooFarAhead(at, payment.LongestPause), toMillis(payment.Never())
	for i := range out {
		due := toMillis(out[i].Row.DueAt)
		out[i].Waits = now < due && due <= far || due >= never
	}
	return out, err
}

func scanReversal(row Scanner) (*payment.Reversal, error) {
	var (
		r          payment.Reversal
		since, due int64
	)
	err := row.Scan(&r.ID, &r.Step.Kind, &r.Step.Transaction, &r.Step.ID, &r.Step.Attempt, &r.Tenant.Merchant,
		&r.Tenant.Live, &r.Amount, &r.Currency, &r.Captured, &r.Held, &r.Requested, &r.Asked, &r.Refused, &r.Looks,
		&r.Version, &since, &due, &r.Claim, &r.Account, &r.Tag, &r.AcquirerID, &r.Last4, &r.Release, &r.ReleaseTag)
	if err != nil {
		return nil, fmt.Errorf("read reversal: %w", err)
	}
	r.Since, r.DueAt = fromMillis(since), fromMillis(due)
	return &r, nil
}
