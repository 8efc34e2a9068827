package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

var (
	reserveRefund            = declare("reserveRefund")
	insertRefund             = declare("insertRefund")
	selectOnlyCapture        = declare("selectOnlyCapture")
	reserveRefundOfCapture   = declare("reserveRefundOfCapture")
	insertCredit             = declare("insertCredit")
	endRefund                = declare("endRefund")
	endRefundOfTransaction   = declare("endRefundOfTransaction")
	endRefundOfCapture       = declare("endRefundOfCapture")
	selectRefund             = declare("selectRefund")
	listRefunds              = declareList("listRefunds")
	listRefundsOfTransaction = declareList("listRefundsOfTransaction")
	selectOpenRefunds        = declare("selectOpenRefunds")
)

// BeginRefund writes the intent of a refund and reserves its amount, in the transaction's currency, which is filled in. A refund that
// names no capture is of the only one, where there is only one. ErrConflict when the amount may not be refunded, ErrDuplicate when the id
// is taken; neither leaves anything.
func (tx *Tx) BeginRefund(r *payment.Refund) error {
	return tx.whole(func() error { return tx.beginRefund(r) })
}

func (tx *Tx) beginRefund(r *payment.Refund) error {
	row, err := tx.row(reserveRefund,
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
	return tx.insert(insertRefund,
		r.ID, r.Transaction, r.Capture, r.Tenant.Merchant, r.Tenant.Live, string(r.State), r.Amount, r.Currency, string(r.Details), r.Claim,
		toMillis(r.CreatedAt), toMillis(r.UpdatedAt), tx.db.process, r.Client.APIKey, r.Client.Address)
}

// reserveOfCapture takes a refund's amount out of what is left of its capture.
func (tx *Tx) reserveOfCapture(r *payment.Refund) error {
	if r.Capture == 0 {
		row, err := tx.row(selectOnlyCapture,
			r.Transaction)
		if err != nil {
			return err
		}
		if r.Capture, err = scanNumber(row); err != nil || r.Capture == 0 {
			return err
		}
	}
	return tx.change(reserveRefundOfCapture,
		r.Amount, r.Capture, r.Transaction)
}

// InsertCredit writes the intent of a refund that is of no transaction. ErrDuplicate when the id is taken.
func (tx *Tx) InsertCredit(r *payment.Refund) error {
	r.State, r.CreatedAt, r.UpdatedAt = payment.StepPending, tx.Now, tx.Now
	return tx.insert(insertCredit,
		r.ID, r.Tenant.Merchant, r.Tenant.Live, string(r.State), r.Amount, r.Currency, string(r.Details), r.Claim,
		toMillis(r.CreatedAt), toMillis(r.UpdatedAt), tx.db.process, r.Client.APIKey, r.Client.Address)
}

// EndRefund writes the acquirer's word on a pending refund, which r.State, FailureCode and FailureMessage hold.
func (tx *Tx) EndRefund(r *payment.Refund) error {
	err := tx.change(endRefund,
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
	err = tx.change(endRefundOfTransaction,
		r.Amount, given, toMillis(tx.Now), r.Transaction)
	if err != nil || r.Capture == 0 {
		return err
	}
	return tx.change(endRefundOfCapture, r.Amount, given, toMillis(tx.Now), r.Capture)
}

// Refund reads one refund inside the group.
func (tx *Tx) Refund(tenant payment.Tenant, id int64) (*payment.Refund, error) {
	row, err := tx.row(selectRefund, id, tenant.Merchant, tenant.Live)
	if err != nil {
		return nil, err
	}
	return scanRefund(row)
}

// Refund reads one refund of the tenant, else ErrNotFound.
func (db *DB) Refund(ctx context.Context, tenant payment.Tenant, id int64) (*payment.Refund, error) {
	return scanRefund(db.row(ctx, selectRefund, id, tenant.Merchant, tenant.Live))
}

// Refunds lists the tenant's refunds, newest first; of one transaction only when that is not 0.
func (db *DB) Refunds(ctx context.Context, tenant payment.Tenant, transaction int64, p payment.Page) (payment.List[*payment.Refund], error) {
	if transaction == 0 {
		return list(ctx, db, tenant.Merchant, listRefunds, p, scanRefund, tenant.Merchant, tenant.Live)
	}
	return list(ctx, db, tenant.Merchant, listRefundsOfTransaction, p, scanRefund, tenant.Merchant, tenant.Live, transaction)
}

// OpenRefunds returns a page of the unfinished refunds of all tenants, as OpenTransactions does of
// transactions. It leaves out refunds with a pending reversal: DueReversals lists those.
func (db *DB) OpenRefunds(ctx context.Context, before, after int64, limit int) ([]*payment.Refund, error) {
	return collect(ctx, db, selectOpenRefunds, scanRefund, before, before+clockSlack.Milliseconds(), after, limit)
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
