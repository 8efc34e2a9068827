package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

const refundColumns = `id, COALESCE(transaction_id, 0), capture_id, merchant_id, live, state, amount, currency, details,
	failure_code, failure_message, claim, created_at, updated_at, core_id, reclaimed_at, api_key_id, client_address`

// BeginRefund writes the intent of a refund and reserves its amount, in the transaction's currency, which is filled in. A refund that
// names no capture is of the only one, where there is only one. ErrConflict when the amount may not be refunded, ErrDuplicate when the id
// is taken; neither leaves anything.
func (tx *Tx) BeginRefund(r *payment.Refund) error {
	return tx.whole(func() error { return tx.beginRefund(r) })
}

func (tx *Tx) beginRefund(r *payment.Refund) error {
	row, err := tx.row(`UPDATE transactions SET amount_refund_pending = amount_refund_pending + ?1, updated_at = ?2
		WHERE id = ?3 AND merchant_id = ?4 AND live = ?5 AND operation <> 'void'
			AND status IN ('captured', 'partially_captured')
			AND ?1 > 0 AND amount_captured - amount_refunded - amount_refund_pending >= ?1
		RETURNING currency, erased_at`,
		r.Amount, toMillis(tx.Now), r.Transaction, r.Tenant.Merchant, r.Tenant.Live)
	if err != nil {
		return err
	}
	var erased int64
	if err := row.Scan(&r.Currency, &erased); errors.Is(err, sql.ErrNoRows) {
		return ErrConflict
	} else if err != nil {
		return fmt.Errorf("begin refund: %w", err)
	}
	if err := tx.afterErasure(r.Transaction, erased, &r.Client); err != nil {
		return err
	}
	if err := tx.reserveOfCapture(r); err != nil {
		return err
	}
	r.State, r.CreatedAt, r.UpdatedAt = payment.StepPending, tx.Now, tx.Now
	return tx.insert(`INSERT INTO refunds
		(id, transaction_id, capture_id, merchant_id, live, state, amount, currency, details, claim, created_at, updated_at,
			core_id, api_key_id, client_address)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.ID, r.Transaction, r.Capture, r.Tenant.Merchant, r.Tenant.Live, string(r.State), r.Amount, r.Currency, string(r.Details), r.Claim,
		toMillis(r.CreatedAt), toMillis(r.UpdatedAt), tx.db.process, r.Client.APIKey, r.Client.Address)
}

// reserveOfCapture takes a refund's amount out of what is left of its capture.
func (tx *Tx) reserveOfCapture(r *payment.Refund) error {
	if r.Capture == 0 {
		row, err := tx.row(`SELECT CASE COUNT(*) WHEN 1 THEN MAX(id) ELSE 0 END FROM captures WHERE transaction_id = ? AND state = 'succeeded'`,
			r.Transaction)
		if err != nil {
			return err
		}
		if r.Capture, err = scanNumber(row); err != nil || r.Capture == 0 {
			return err
		}
	}
	return tx.change(`UPDATE captures SET amount_refund_pending = amount_refund_pending + ?1
		WHERE id = ?2 AND transaction_id = ?3 AND state = 'succeeded' AND amount - amount_refunded - amount_refund_pending >= ?1`,
		r.Amount, r.Capture, r.Transaction)
}

// InsertCredit writes the intent of a refund that is of no transaction. ErrDuplicate when the id is taken.
func (tx *Tx) InsertCredit(r *payment.Refund) error {
	r.State, r.CreatedAt, r.UpdatedAt = payment.StepPending, tx.Now, tx.Now
	return tx.insert(`INSERT INTO refunds (id, merchant_id, live, state, amount, currency, details, claim, created_at, updated_at,
			core_id, api_key_id, client_address)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.ID, r.Tenant.Merchant, r.Tenant.Live, string(r.State), r.Amount, r.Currency, string(r.Details), r.Claim,
		toMillis(r.CreatedAt), toMillis(r.UpdatedAt), tx.db.process, r.Client.APIKey, r.Client.Address)
}

// EndRefund writes the acquirer's word on a pending refund, which r.State, FailureCode and FailureMessage hold.
func (tx *Tx) EndRefund(r *payment.Refund) error {
	err := tx.change(`UPDATE refunds SET state = ?, failure_code = ?, failure_message = ?, claim = 0, updated_at = ?
		WHERE id = ? AND state = 'pending'`,
		string(r.State), r.FailureCode, r.FailureMessage, toMillis(tx.Now), r.ID)
	if err != nil {
		return err
	}
	given := int64(0)
	if r.State == payment.StepSucceeded {
		given = r.Amount
	}
	r.UpdatedAt = tx.Now
	if r.Transaction == 0 {
		return nil
	}
	// The transaction before its captures, as everywhere: two commands that lock them the other way round would wait for each other.
	err = tx.change(`UPDATE transactions SET amount_refund_pending = amount_refund_pending - ?,
			amount_refunded = amount_refunded + ?, updated_at = ?
		WHERE id = ?`,
		r.Amount, given, toMillis(tx.Now), r.Transaction)
	if err != nil || r.Capture == 0 {
		return err
	}
	return tx.change(`UPDATE captures SET amount_refund_pending = amount_refund_pending - ?,
		amount_refunded = amount_refunded + ?, updated_at = ? WHERE id = ?`, r.Amount, given, toMillis(tx.Now), r.Capture)
}

// Refund reads one refund inside the group.
func (tx *Tx) Refund(tenant payment.Tenant, id int64) (*payment.Refund, error) {
	row, err := tx.row(`SELECT `+refundColumns+` FROM refunds WHERE id = ? AND merchant_id = ? AND live = ?`, id, tenant.Merchant, tenant.Live)
	if err != nil {
		return nil, err
	}
	return scanRefund(row)
}

// Refund reads one refund of the tenant, else ErrNotFound.
func (db *DB) Refund(ctx context.Context, tenant payment.Tenant, id int64) (*payment.Refund, error) {
	s, err := db.query(ctx, `SELECT `+refundColumns+` FROM refunds WHERE id = ? AND merchant_id = ? AND live = ?`)
	if err != nil {
		return nil, err
	}
	return scanRefund(s.Row(ctx, id, tenant.Merchant, tenant.Live))
}

// Refunds lists the tenant's refunds, newest first; of one transaction only when that is not 0.
func (db *DB) Refunds(ctx context.Context, tenant payment.Tenant, transaction int64, p payment.Page) (payment.List[*payment.Refund], error) {
	const all = `SELECT ` + refundColumns + ` FROM refunds INDEXED BY refunds_by_tenant WHERE merchant_id = ? AND live = ?`
	if transaction == 0 {
		return list(ctx, db, all, p, scanRefund, tenant.Merchant, tenant.Live)
	}
	// Left to itself, SQLite walks the tenant's refunds here.
	const some = `SELECT ` + refundColumns + ` FROM refunds INDEXED BY refunds_by_transaction WHERE merchant_id = ? AND live = ? AND transaction_id = ?`
	return list(ctx, db, some, p, scanRefund, tenant.Merchant, tenant.Live, transaction)
}

// OpenRefunds returns a page of the unfinished refunds of all tenants, as OpenTransactions does of
// transactions. It leaves out refunds with a pending reversal: DueReversals lists those.
func (db *DB) OpenRefunds(ctx context.Context, before, after int64, limit int) ([]*payment.Refund, error) {
	return collect(ctx, db, `SELECT `+refundColumns+` FROM refunds WHERE state = 'pending' AND updated_at NOT BETWEEN ? AND ? AND id > ?
		AND NOT EXISTS (SELECT 1 FROM reversals WHERE kind = 'refund' AND step_id = refunds.id)
		ORDER BY id LIMIT ?`, scanRefund, before, before+clockSlack.Milliseconds(), after, limit)
}

func scanRefund(row Scanner) (*payment.Refund, error) {
	var (
		r                           payment.Refund
		created, updated, reclaimed int64
	)
	err := row.Scan(&r.ID, &r.Transaction, &r.Capture, &r.Tenant.Merchant, &r.Tenant.Live, &r.State, &r.Amount, &r.Currency,
		&r.Details, &r.FailureCode, &r.FailureMessage, &r.Claim, &created, &updated, &r.Core, &reclaimed,
		&r.Client.APIKey, &r.Client.Address)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, payment.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read refund: %w", err)
	}
	r.CreatedAt, r.UpdatedAt, r.ReclaimedAt = fromMillis(created), fromMillis(updated), fromMillis(reclaimed)
	return &r, nil
}
