package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

var (
	insertCapture             = declare("insertCapture")
	beginCapture              = declare("beginCapture")
	endCapture                = declare("endCapture")
	endCaptureOfTransaction   = declare("endCaptureOfTransaction")
	selectCapture             = declare("selectCapture")
	listCaptures              = declareList("listCaptures")
	listFilteredCaptures      = declareList("listFilteredCaptures")
	listCapturesOfTransaction = declareList("listCapturesOfTransaction")
	listCapturesOfDay         = declareList("listCapturesOfDay")
	selectOpenCaptures        = declare("selectOpenCaptures")
	selectCaptureDetails      = declare("selectCaptureDetails")
	selectStandingCaptures    = declare("selectStandingCaptures")
)

// InsertCapture inserts a capture. For a capture that still needs the acquirer, call BeginCapture.
// An approved payment with automatic capture needs InsertCapture alone.
func (tx *Tx) InsertCapture(c *payment.Capture) error {
	return tx.insert(insertCapture, c.ID, c.Transaction, c.Tenant.Merchant, c.Tenant.Live, string(c.State), c.Amount,
		c.Currency, c.Final, string(c.Details), c.Claim, toMillis(c.CreatedAt), toMillis(c.UpdatedAt), tx.db.process,
		c.Client.APIKey, c.Client.Address, c.Account, c.Tag)
}

// BeginCapture writes the intent of a capture and makes it the transaction's step in progress. If
// c.Amount is 0, it fills in the remaining amount. It returns ErrConflict if the amount cannot be
// captured, the transaction has payment.MaxCaptures captures, or has another account than c. It
// returns ErrDuplicate if the id is taken. Nothing is changed then.
func (tx *Tx) BeginCapture(c *payment.Capture) error {
	return tx.savepoint(func() error { return tx.beginCapture(c) })
}

func (tx *Tx) beginCapture(c *payment.Capture) error {
	row, err := tx.row(beginCapture,
		c.ID, c.Amount, toMillis(tx.Now), c.Transaction, c.Tenant.Merchant, c.Tenant.Live, payment.MaxCaptures, c.Account)
	if err != nil {
		return err
	}
	var erased int64
	if err := row.Scan(&c.Amount, &c.Currency, &erased); errors.Is(err, sql.ErrNoRows) {
		return ErrConflict
	} else if err != nil {
		return fmt.Errorf("begin capture: %w", err)
	}
	if err := tx.afterErasure(c.Transaction, erased, &c.Client); err != nil {
		return err
	}
	c.State, c.CreatedAt, c.UpdatedAt = payment.StepPending, tx.Now, tx.Now
	return tx.InsertCapture(c)
}

// EndCapture writes the outcome of a pending capture: c.State, FailureCode, FailureMessage and
// AcquirerID. A capture that failed as payment.AcquirerUnavailable does not count towards
// payment.MaxCaptures: a client that retries while the acquirer is down must not lose the payment.
// It returns ErrConflict if the capture is not pending.
func (tx *Tx) EndCapture(c *payment.Capture) error {
	taken := int64(0)
	if c.State == payment.StepSucceeded {
		taken = c.Amount
	}
	err := tx.execOne(endCapture,
		string(c.State), c.FailureCode, c.FailureMessage, toMillis(tx.Now), c.ID, c.AcquirerID)
	if err != nil {
		return err
	}
	c.UpdatedAt = tx.Now
	return tx.execOne(endCaptureOfTransaction,
		taken, c.Final, toMillis(tx.Now), c.Transaction, c.ID, c.FailureCode == payment.AcquirerUnavailable)
}

// Capture reads one capture of the tenant, else ErrNotFound.
func (db *DB) Capture(ctx context.Context, tenant payment.Tenant, id int64) (*payment.Capture, error) {
	return scanCapture(db.rowOf(ctx, tenant, selectCapture, id, tenant.Merchant, tenant.Live))
}

// Capture reads one capture of the tenant as part of the command, else ErrNotFound.
func (tx *Tx) Capture(tenant payment.Tenant, id int64) (*payment.Capture, error) {
	row, err := tx.row(selectCapture, id, tenant.Merchant, tenant.Live)
	if err != nil {
		return nil, err
	}
	return scanCapture(row)
}

// Captures lists the tenant's captures that match the filter, newest first.
func (db *DB) Captures(
	ctx context.Context, tenant payment.Tenant, f payment.StepFilter, p payment.Page,
) (payment.List[*payment.Capture], error) {
	switch {
	case f.Transaction != 0:
		return list(ctx, db, tenant, listCapturesOfTransaction, p, scanCapture, tenant.Merchant, tenant.Live,
			entries(f.Metadata), string(f.Settlement), f.Transaction, f.Day)
	case f.Day != 0:
		return list(ctx, db, tenant, listCapturesOfDay, p, scanCapture, tenant.Merchant, tenant.Live,
			entries(f.Metadata), string(f.Settlement), f.Day)
	case f != (payment.StepFilter{}):
		return list(ctx, db, tenant, listFilteredCaptures, p, scanCapture, tenant.Merchant, tenant.Live,
			entries(f.Metadata), string(f.Settlement))
	}
	return list(ctx, db, tenant, listCaptures, p, scanCapture, tenant.Merchant, tenant.Live)
}

// StandingCaptures returns the captures of a transaction that succeeded and were not voided, oldest
// first. They have no Details. A step needs them, so the read goes with the reads by id and does
// not wait for the tenant's lists.
func (db *DB) StandingCaptures(
	ctx context.Context, tenant payment.Tenant, transaction int64,
) ([]*payment.Capture, error) {
	return find(ctx, db, selectStandingCaptures, scanCapture, transaction, tenant.Merchant, tenant.Live)
}

// StandingCaptures reads the captures of a transaction that succeeded and were not voided, oldest
// first, as part of the command. They have no Details.
func (tx *Tx) StandingCaptures(tenant payment.Tenant, transaction int64) (out []*payment.Capture, err error) {
	err = tx.each(selectStandingCaptures, func(row Scanner) error {
		c, err := scanCapture(row)
		out = append(out, c)
		return err
	}, transaction, tenant.Merchant, tenant.Live)
	return out, err
}

// CaptureDetails returns the details of a capture of any tenant, else ErrNotFound.
func (db *DB) CaptureDetails(ctx context.Context, id int64) ([]byte, error) {
	return scanDetails(db.backgroundRow(ctx, selectCaptureDetails, id))
}

// OpenCaptures returns a page of the unfinished captures of all tenants, as OpenTransactions does
// of transactions.
func (db *DB) OpenCaptures(ctx context.Context, before int64, p StepPage) ([]OpenStep[*payment.Capture], error) {
	return openSteps(ctx, db, selectOpenCaptures, scanCapture, before, p)
}

func scanCapture(row Scanner) (*payment.Capture, error) {
	var (
		c                           payment.Capture
		created, updated, reclaimed int64
	)
	err := row.Scan(&c.ID, &c.Transaction, &c.Tenant.Merchant, &c.Tenant.Live, &c.State, &c.Amount, &c.Currency,
		&c.Final, &c.Settled, &c.SettlementDay, &c.Refunded, &c.RefundPending, &c.Details, &c.FailureCode, &c.FailureMessage,
		&c.Claim, &created, &updated, &c.Core, &reclaimed, &c.Client.APIKey, &c.Client.Address, &c.Account, &c.Tag,
		&c.AcquirerID)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, payment.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read capture: %w", err)
	}
	c.CreatedAt, c.UpdatedAt, c.ReclaimedAt = fromMillis(created), fromMillis(updated), fromMillis(reclaimed)
	return &c, nil
}
