package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store/pass"
)

var (
	selectDays              = declare("selectDays")
	selectDaysOf            = declare("selectDaysOf")
	selectUnsettledCaptures = declare("selectUnsettledCaptures")
	correctCaptureTime      = declare("correctCaptureTime")
	sumUnsettledCaptures    = declare("sumUnsettledCaptures")
	settleThrough           = declare("settleThrough")
	settleCapturesThrough   = declare("settleCapturesThrough")
	settleTransaction       = declare("settleTransaction")
	selectUnsettledRefunds  = declare("selectUnsettledRefunds")
	settleRefund            = declare("settleRefund")
	lockTransactionID       = declare("lockTransactionID")
	selectSettleable        = declare("selectSettleable")
)

// Day is when a tenant's day ends, and the captures of the tenant that have not settled.
type Day struct {
	Tenant   payment.Tenant
	TimeZone string        // IANA name
	Cutoff   int           // minutes after local midnight
	Ahead    time.Duration // of the test clock; 0 in live mode
	Oldest   time.Time     // when the oldest unsettled capture was taken, zero for none
	newest   time.Time     // when the newest of them was taken
	// OldestRefund is when the oldest unsettled refund was requested, zero for none.
	OldestRefund time.Time
}

// Days returns the day of every merchant in both modes. It reads two rows of captures_unsettled per
// tenant.
func (db *DB) Days(ctx context.Context) ([]Day, error) {
	return backgroundRows(ctx, db, selectDays, scanDay)
}

// DaysOf returns the days of one merchant in both modes.
func (db *DB) DaysOf(ctx context.Context, merchant int64) ([]Day, error) {
	return backgroundRows(ctx, db, selectDaysOf, scanDay, merchant)
}

func scanDay(row Scanner) (Day, error) {
	var (
		d                             Day
		ahead, oldest, newest, refund int64
	)
	err := row.Scan(&d.Tenant.Merchant, &d.Tenant.Live, &d.TimeZone, &d.Cutoff, &ahead, &oldest, &newest, &refund)
	if err != nil {
		return d, fmt.Errorf("read day: %w", err)
	}
	d.Ahead, d.Oldest, d.newest = time.Duration(ahead)*time.Millisecond, fromMillis(oldest), fromMillis(newest)
	d.OldestRefund = fromMillis(refund)
	return d, nil
}

// Unsettled is a successful capture that has not settled.
type Unsettled struct {
	ID, Transaction int64
	At              time.Time // when it was taken
}

// UnsettledCaptures returns a page of the tenant's captures up to a cutoff that have not settled,
// oldest first. The page begins after the capture after; the zero Unsettled is for the first page.
func (db *DB) UnsettledCaptures(
	ctx context.Context, tenant payment.Tenant, cutoff time.Time, after Unsettled, limit int,
) ([]Unsettled, error) {
	return backgroundRows(ctx, db, selectUnsettledCaptures, scanUnsettled,
		tenant.Merchant, tenant.Live, toMillis(cutoff), toMillis(after.At), after.ID, limit)
}

func scanUnsettled(row Scanner) (Unsettled, error) {
	var (
		u  Unsettled
		at int64
	)
	if err := row.Scan(&u.ID, &u.Transaction, &at); err != nil {
		return u, fmt.Errorf("read unsettled capture: %w", err)
	}
	u.At = fromMillis(at)
	return u, nil
}

// CorrectCaptures sets the time of a tenant's captures to now if a clock more than a day ahead took
// them. Otherwise they would settle only once the right clock has reached that time.
func (db *DB) CorrectCaptures(ctx context.Context, d Day) error {
	bound := db.ahead(day / 2)
	if toMillis(d.newest) <= bound {
		return nil
	}
	rows := pass.Rows[Unsettled]{Kind: "capture", ID: func(u Unsettled) int64 { return u.ID }}
	err := correct(ctx, db, db.BeginPass(pass.Settlement), rows, func(last Unsettled) ([]Unsettled, error) {
		if last == (Unsettled{}) {
			last = Unsettled{At: fromMillis(bound), ID: math.MaxInt64}
		}
		return db.UnsettledCaptures(ctx, d.Tenant, time.UnixMilli(math.MaxInt64), last, purgeBatch)
	}, func(tx *Tx, u Unsettled) error { return tx.correctCapture(d.Tenant, u, bound) })
	if err != nil {
		return fmt.Errorf("correct the time of captures: %w", err)
	}
	return nil
}

func (tx *Tx) correctCapture(tenant payment.Tenant, u Unsettled, bound int64) error {
	if err := tx.hold(tenant, u.Transaction); err != nil {
		return err
	}
	return tx.exec(correctCaptureTime,
		toMillis(tx.Now), u.ID, bound)
}

// SettleThrough settles a transaction's captures up to a cut-off, and adds them to the settlement
// day that ended then. whole reports that no capture of it is left unsettled, which changes the
// transaction's version. It returns ErrConflict if there is nothing to settle, or a void waits for
// the acquirer.
func (tx *Tx) SettleThrough(
	tenant payment.Tenant, transaction int64, cutoff time.Time, totals DayTotals,
) (whole bool, err error) {
	of, err := tx.unsettledSum(tenant, transaction, cutoff)
	if err != nil {
		return false, err
	}
	row, err := tx.row(settleThrough,
		of.Captured, toMillis(tx.Now), transaction, tenant.Merchant, tenant.Live)
	if err != nil {
		return false, err
	}
	if err := row.Scan(&whole, &of.Currency, &of.Source); errors.Is(err, sql.ErrNoRows) {
		return false, ErrConflict
	} else if err != nil {
		return false, fmt.Errorf("settle: %w", err)
	}
	totals.add(of)
	return whole, tx.exec(settleCapturesThrough,
		dayOf(cutoff), toMillis(tx.Now), transaction, toMillis(cutoff))
}

// SettleTransaction settles the whole captured amount with a settlement day that ends at a time. It
// returns ErrConflict if no captured amount is unsettled.
func (tx *Tx) SettleTransaction(tenant payment.Tenant, transaction int64, end time.Time, totals DayTotals) error {
	latest := time.UnixMilli(math.MaxInt64)
	of, err := tx.unsettledSum(tenant, transaction, latest)
	if err != nil {
		return err
	}
	row, err := tx.row(settleTransaction, toMillis(tx.Now), transaction, tenant.Merchant, tenant.Live)
	if err != nil {
		return err
	}
	if err := row.Scan(&of.Currency, &of.Source); errors.Is(err, sql.ErrNoRows) {
		return ErrConflict
	} else if err != nil {
		return fmt.Errorf("settle: %w", err)
	}
	totals.add(of)
	return tx.exec(settleCapturesThrough, dayOf(end), toMillis(tx.Now), transaction, toMillis(latest))
}

// unsettledSum locks a transaction and sums up its unsettled captures up to a cut-off.
func (tx *Tx) unsettledSum(
	tenant payment.Tenant, transaction int64, cutoff time.Time,
) (of payment.SettlementTotal, err error) {
	if err := tx.hold(tenant, transaction); err != nil {
		return of, err
	}
	row, err := tx.row(sumUnsettledCaptures, transaction, toMillis(cutoff))
	if err != nil {
		return of, err
	}
	if err := row.Scan(&of.Captured, &of.Captures); err != nil {
		return of, fmt.Errorf("sum captures: %w", err)
	}
	return of, nil
}

// hold locks a transaction while a command sums up its captures.
func (tx *Tx) hold(tenant payment.Tenant, transaction int64) error {
	err := tx.s.LockRow(lockTransactionID, transaction, tenant.Merchant, tenant.Live)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrConflict
	}
	return err
}

// Settleable returns the transactions of the tenant's oldest unsettled captures. It reads at most
// limit captures, and more reports whether others are left, perhaps of the same transactions. A
// client requests it, so it waits for the merchant's turn of lists.
func (db *DB) Settleable(
	ctx context.Context, tenant payment.Tenant, limit int,
) (transactions []int64, more bool, err error) {
	all, err := listed(ctx, db, tenant, selectSettleable, scanNumber, tenant.Merchant, tenant.Live, limit+1)
	if len(all) > limit {
		all, more = all[:limit], true
	}
	for _, id := range all {
		if !slices.Contains(transactions, id) { // limit is small
			transactions = append(transactions, id)
		}
	}
	return transactions, more, err
}

// UnsettledRefunds returns a page of the tenant's successful refunds up to a cutoff that have not
// settled, by id. The page begins after the id after.
func (db *DB) UnsettledRefunds(
	ctx context.Context, tenant payment.Tenant, cutoff time.Time, after int64, limit int,
) ([]int64, error) {
	return backgroundRows(ctx, db, selectUnsettledRefunds, scanNumber, tenant.Merchant, tenant.Live, toMillis(cutoff),
		after, limit)
}

// SettleableRefunds returns at most limit of the tenant's successful refunds that have not settled,
// and reports whether there are others. Like Settleable, it waits for the merchant's turn of lists.
func (db *DB) SettleableRefunds(
	ctx context.Context, tenant payment.Tenant, limit int,
) (refunds []int64, more bool, err error) {
	refunds, err = listed(ctx, db, tenant, selectUnsettledRefunds, scanNumber, tenant.Merchant, tenant.Live,
		int64(math.MaxInt64), 0, limit+1)
	if len(refunds) > limit {
		refunds, more = refunds[:limit], true
	}
	return refunds, more, err
}

// SettleRefund settles a successful refund with a settlement day that ends at a time. Nothing
// changes if the refund has settled already.
func (tx *Tx) SettleRefund(tenant payment.Tenant, refund int64, end time.Time, totals DayTotals) error {
	row, err := tx.row(settleRefund, dayOf(end), toMillis(tx.Now), refund, tenant.Merchant, tenant.Live)
	if err != nil {
		return err
	}
	of := payment.SettlementTotal{Refunds: 1}
	if err := row.Scan(&of.Refunded, &of.Currency, &of.Source); errors.Is(err, sql.ErrNoRows) {
		return nil
	} else if err != nil {
		return fmt.Errorf("settle refund: %w", err)
	}
	totals.add(of)
	return nil
}
