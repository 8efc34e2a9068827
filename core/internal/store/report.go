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
	selectReportingAccounts = declare("selectReportingAccounts")
	selectUnreported        = declare("selectUnreported")
	selectUnsettledAmount   = declare("selectUnsettledAmount")
	settleCapture           = declare("settleCapture")
	exceptCapture           = declare("exceptCapture")
	endException            = declare("endException")
	selectExceptions        = declare("selectExceptions")
	countExceptions         = declare("countExceptions")
)

// Unreported is a successful capture of live mode whose acquirer has not reported its settlement.
type Unreported struct {
	Unsettled
	Amount     int64
	Currency   string
	Tag        string // of the capture, "" for a sale
	AcquirerID string // the acquirer's id of the capture, "" for a sale
	// Sale is the transaction, with ID, Tenant, AutoCapture, Attempt, Tag and Result alone.
	Sale   payment.Transaction
	Kind   payment.ExceptionKind // NoException, UnreportedCapture or FailedSettlement
	Reason string                // of the exception
}

// ReportingAccounts returns the acquirer accounts of a merchant with captures of live mode that are
// not settled.
func (db *DB) ReportingAccounts(ctx context.Context, merchant int64) ([]int64, error) {
	return backgroundRows(ctx, db, selectReportingAccounts, scanNumber, merchant)
}

// Unreported returns a page of the captures of a merchant's account up to a cutoff that are not
// settled, oldest first. It omits captures that a void in progress may cancel, and captures that an
// operator has ended as payment.NotSettled. The page begins after the capture after.
func (db *DB) Unreported(
	ctx context.Context, merchant, account int64, cutoff time.Time, after Unsettled, limit int,
) ([]Unreported, error) {
	return backgroundRows(ctx, db, selectUnreported, func(row Scanner) (Unreported, error) {
		u, err := scanUnreported(row)
		u.Sale.Tenant = payment.Tenant{Merchant: merchant, Live: true}
		return u, err
	}, merchant, account, toMillis(cutoff), toMillis(after.At), after.ID, limit)
}

func scanUnreported(row Scanner) (Unreported, error) {
	var (
		u      Unreported
		at     int64
		result []byte
	)
	err := row.Scan(&u.ID, &u.Transaction, &at, &u.Amount, &u.Currency, &u.Tag, &u.AcquirerID, &u.Kind, &u.Reason,
		&u.Sale.AutoCapture, &u.Sale.Attempt, &u.Sale.Tag, &result)
	if err != nil {
		return u, fmt.Errorf("read unreported capture: %w", err)
	}
	u.At, u.Sale.ID = fromMillis(at), u.Transaction
	if decodeResult(result, &u.Sale.Result) != nil { // no other capture waits for this one
		u.Sale.Result = payment.Result{}
	}
	return u, nil
}

// SettleCapture settles one capture with a settlement day that ends at a time, and ends its
// exception. whole reports that no capture of the transaction is left unsettled, which changes the
// transaction's version. It returns ErrConflict if the capture is settled or void, or a void waits
// for the acquirer.
func (tx *Tx) SettleCapture(
	tenant payment.Tenant, transaction, capture int64, end time.Time, totals DayTotals,
) (whole bool, err error) {
	if err := tx.hold(tenant, transaction); err != nil {
		return false, err
	}
	row, err := tx.row(selectUnsettledAmount, capture, transaction)
	if err != nil {
		return false, err
	}
	amount, err := scanNumber(row)
	if errors.Is(err, sql.ErrNoRows) {
		return false, ErrConflict
	}
	if err != nil {
		return false, err
	}
	row, err = tx.row(settleThrough, amount, toMillis(tx.Now), transaction, tenant.Merchant, tenant.Live)
	if err != nil {
		return false, err
	}
	of := payment.SettlementTotal{Captures: 1, Captured: amount}
	if err := row.Scan(&whole, &of.Currency, &of.Source); errors.Is(err, sql.ErrNoRows) {
		return false, ErrConflict
	} else if err != nil {
		return false, fmt.Errorf("settle: %w", err)
	}
	totals.add(of)
	return whole, tx.execOne(settleCapture, dayOf(end), toMillis(tx.Now), capture)
}

// ExceptCapture records that an acquirer reports no settlement of a capture, or a failed one. It
// does nothing if the capture has settled, is void, or is an exception of that kind and reason.
func (tx *Tx) ExceptCapture(capture int64, kind payment.ExceptionKind, reason string) error {
	return tx.exec(exceptCapture, string(kind), reason, toMillis(tx.Now), capture)
}

// EndException ends the exception of a capture as payment.NotSettled. It returns ErrConflict if
// there is none.
func (tx *Tx) EndException(capture int64) error {
	return tx.execOne(endException, toMillis(tx.Now), capture)
}

// SettlementExceptions returns a page of the exceptions that a filter selects, oldest capture
// first.
func (db *DB) SettlementExceptions(
	ctx context.Context, f payment.ExceptionFilter, limit int,
) ([]payment.SettlementException, error) {
	return listed(ctx, db, payment.Tenant{}, selectExceptions, scanException, f.Merchant, f.Capture, f.After, limit)
}

// SettlementException reads the exception of a capture as part of the command, else ErrNotFound.
func (tx *Tx) SettlementException(capture int64) (*payment.SettlementException, error) {
	row, err := tx.row(selectExceptions, 0, capture, 0, 1)
	if err != nil {
		return nil, err
	}
	x, err := scanException(row)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, payment.ErrNotFound
	}
	return &x, err
}

func scanException(row Scanner) (payment.SettlementException, error) {
	var (
		x               payment.SettlementException
		captured, since int64
		result          []byte
	)
	err := row.Scan(&x.Capture, &x.Transaction, &x.Tenant.Merchant, &x.Tenant.Live, &x.Account, &x.AcquirerID, &x.Amount,
		&x.Currency, &captured, &x.Kind, &x.Reason, &since, &result)
	if err != nil {
		return x, fmt.Errorf("read settlement exception: %w", err)
	}
	x.CapturedAt, x.Since = fromMillis(captured), fromMillis(since)
	var sale payment.Result
	if x.AcquirerID == "" && decodeResult(result, &sale) == nil {
		x.AcquirerID = sale.AcquirerID
	}
	return x, nil
}

// CountSettlementExceptions counts the exceptions by kind. A kind without any is missing.
func (db *DB) CountSettlementExceptions(ctx context.Context) (map[payment.ExceptionKind]int, error) {
	type count struct {
		kind payment.ExceptionKind
		n    int
	}
	found, err := backgroundRows(ctx, db, countExceptions, func(row Scanner) (c count, err error) {
		return c, row.Scan(&c.kind, &c.n)
	})
	out := make(map[payment.ExceptionKind]int, len(found))
	for _, c := range found {
		out[c.kind] = c.n
	}
	return out, err
}
