package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

const captureColumns = `id, transaction_id, merchant_id, live, state, amount, currency, final, settled, amount_refunded, amount_refund_pending, details,
	failure_code, failure_message, claim, created_at, updated_at, core_id, reclaimed_at, api_key_id, client_address`

const insertCapture = `INSERT INTO captures
	(id, transaction_id, merchant_id, live, state, amount, currency, final, details, claim, created_at, updated_at,
		core_id, api_key_id, client_address)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// InsertCapture writes a capture that needs no answer any more: the one an approved automatic capture is.
func (tx *Tx) InsertCapture(c *payment.Capture) error {
	return tx.insert(insertCapture, c.ID, c.Transaction, c.Tenant.Merchant, c.Tenant.Live, string(c.State), c.Amount, c.Currency,
		c.Final, string(c.Details), c.Claim, toMillis(c.CreatedAt), toMillis(c.UpdatedAt), tx.db.process,
		c.Client.APIKey, c.Client.Address)
}

// BeginCapture writes the intent of a capture and locks the transaction for it. A c.Amount of 0 takes all that is left and is
// filled in. ErrConflict when it may not be captured, ErrDuplicate when the id is taken; neither leaves anything.
func (tx *Tx) BeginCapture(c *payment.Capture) error {
	return tx.whole(func() error { return tx.beginCapture(c) })
}

func (tx *Tx) beginCapture(c *payment.Capture) error {
	row, err := tx.row(`UPDATE transactions SET operation = 'capture', operation_id = ?1,
			amount_capture_pending = CASE ?2 WHEN 0 THEN amount_authorized - amount_captured ELSE ?2 END, updated_at = ?3
		WHERE id = ?4 AND merchant_id = ?5 AND live = ?6 AND operation = ''
			AND status IN ('authorized', 'partially_captured')
			AND amount_authorized - amount_captured >= MAX(?2, 1)
		RETURNING amount_capture_pending, currency, erased_at`,
		c.ID, c.Amount, toMillis(tx.Now), c.Transaction, c.Tenant.Merchant, c.Tenant.Live)
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

// EndCapture writes the acquirer's word on a pending capture, which c.State, FailureCode and FailureMessage hold.
func (tx *Tx) EndCapture(c *payment.Capture) error {
	taken := int64(0)
	if c.State == payment.StepSucceeded {
		taken = c.Amount
	}
	err := tx.change(`UPDATE captures SET state = ?1, failure_code = ?2, failure_message = ?3, claim = 0, updated_at = ?4, captured_at = ?4
		WHERE id = ?5 AND state = 'pending'`,
		string(c.State), c.FailureCode, c.FailureMessage, toMillis(tx.Now), c.ID)
	if err != nil {
		return err
	}
	c.UpdatedAt = tx.Now
	return tx.change(`UPDATE transactions SET operation = '', operation_id = 0, amount_capture_pending = 0,
			amount_captured = amount_captured + ?1,
			status = CASE WHEN ?1 = 0 THEN status
				WHEN ?2 <> 0 OR amount_captured + ?1 = amount_authorized THEN 'captured' ELSE 'partially_captured' END,
			version = version + CASE WHEN ?1 > 0 THEN 1 ELSE 0 END, updated_at = ?3
		WHERE id = ?4 AND operation = 'capture' AND operation_id = ?5`,
		taken, c.Final, toMillis(tx.Now), c.Transaction, c.ID)
}

// Capture reads one capture of the tenant, else ErrNotFound.
func (db *DB) Capture(ctx context.Context, tenant payment.Tenant, id int64) (*payment.Capture, error) {
	s, err := db.query(ctx, `SELECT `+captureColumns+` FROM captures WHERE id = ? AND merchant_id = ? AND live = ?`)
	if err != nil {
		return nil, err
	}
	return scanCapture(s.Row(ctx, id, tenant.Merchant, tenant.Live))
}

// Capture reads one capture inside the group.
func (tx *Tx) Capture(tenant payment.Tenant, id int64) (*payment.Capture, error) {
	row, err := tx.row(`SELECT `+captureColumns+` FROM captures WHERE id = ? AND merchant_id = ? AND live = ?`, id, tenant.Merchant, tenant.Live)
	if err != nil {
		return nil, err
	}
	return scanCapture(row)
}

// Captures lists the captures of one transaction, newest first.
func (db *DB) Captures(ctx context.Context, tenant payment.Tenant, transaction int64, p payment.Page) (payment.List[*payment.Capture], error) {
	return list(ctx, db, `SELECT `+captureColumns+` FROM captures WHERE transaction_id = ? AND merchant_id = ? AND live = ?`, p,
		scanCapture, transaction, tenant.Merchant, tenant.Live)
}

// OpenCaptures returns a page of the unfinished captures of all tenants, as OpenTransactions does
// of transactions.
func (db *DB) OpenCaptures(ctx context.Context, before, after int64, limit int) ([]*payment.Capture, error) {
	return collect(ctx, db, `SELECT `+captureColumns+` FROM captures WHERE state = 'pending' AND updated_at NOT BETWEEN ? AND ? AND id > ?
		ORDER BY id LIMIT ?`, scanCapture, before, before+clockSlack.Milliseconds(), after, limit)
}

func scanCapture(row Scanner) (*payment.Capture, error) {
	var (
		c                           payment.Capture
		created, updated, reclaimed int64
	)
	err := row.Scan(&c.ID, &c.Transaction, &c.Tenant.Merchant, &c.Tenant.Live, &c.State, &c.Amount, &c.Currency, &c.Final, &c.Settled,
		&c.Refunded, &c.RefundPending, &c.Details, &c.FailureCode, &c.FailureMessage, &c.Claim, &created, &updated, &c.Core, &reclaimed,
		&c.Client.APIKey, &c.Client.Address)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, payment.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read capture: %w", err)
	}
	c.CreatedAt, c.UpdatedAt, c.ReclaimedAt = fromMillis(created), fromMillis(updated), fromMillis(reclaimed)
	return &c, nil
}
