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
	reserveRefundOfCapture   = declare("reserveRefundOfCapture")
	insertCredit             = declare("insertCredit")
	endRefund                = declare("endRefund")
	endRefundOfTransaction   = declare("endRefundOfTransaction")
	endRefundOfCapture       = declare("endRefundOfCapture")
	selectRefund             = declare("selectRefund")
	listRefunds              = declareList("listRefunds")
	listFilteredRefunds      = declareList("listFilteredRefunds")
	listRefundsOfTransaction = declareList("listRefundsOfTransaction")
	listRefundsOfDay         = declareList("listRefundsOfDay")
	listRefundsOfCustomer    = declareList("listRefundsOfCustomer")
	selectOpenRefunds        = declare("selectOpenRefunds")
	selectRefundDetails      = declare("selectRefundDetails")
)

// BeginRefund writes the intent of a refund, reserves its amount and fills in the transaction's
// currency. A refund without a capture gets the capture with the smallest rest that is large
// enough, the oldest of equal ones. So larger rests stay for larger refunds. It returns ErrConflict
// if no capture has the amount left or the transaction has another account than r, and ErrDuplicate
// if the id is taken. Nothing is changed then.
func (tx *Tx) BeginRefund(r *payment.Refund) error {
	return tx.savepoint(func() error { return tx.beginRefund(r) })
}

func (tx *Tx) beginRefund(r *payment.Refund) error {
	row, err := tx.row(reserveRefund,
		r.Amount, toMillis(tx.Now), r.Transaction, r.Tenant.Merchant, r.Tenant.Live, r.Account)
	if err != nil {
		return err
	}
	var erased int64
	var customer string // of the transaction: "" after its erasure
	if err := row.Scan(&r.Currency, &erased, &customer); errors.Is(err, sql.ErrNoRows) {
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
		r.ID, r.Transaction, r.Capture, r.Tenant.Merchant, r.Tenant.Live, string(r.State), r.Amount, r.Currency,
		string(r.Details), r.Claim, toMillis(r.CreatedAt), toMillis(r.UpdatedAt), tx.db.process, r.Client.APIKey,
		r.Client.Address, r.Account, r.Tag, customer)
}

// reserveOfCapture reserves a refund's amount in its capture, or in the one that it gets. The
// command has locked the transaction, so no other refund changes the rests of its captures.
func (tx *Tx) reserveOfCapture(r *payment.Refund) error {
	row, err := tx.row(reserveRefundOfCapture,
		r.Amount, r.Transaction, r.Capture)
	if err != nil {
		return err
	}
	capture, err := scanOne(row)
	if err != nil {
		return err
	}
	r.Capture = capture
	return nil
}

// InsertCredit inserts the intent of a refund that belongs to no transaction. It returns
// ErrDuplicate if the id is taken.
func (tx *Tx) InsertCredit(r *payment.Refund) error {
	r.State, r.CreatedAt, r.UpdatedAt = payment.StepPending, tx.Now, tx.Now
	return tx.insert(insertCredit,
		r.ID, r.Tenant.Merchant, r.Tenant.Live, string(r.State), r.Amount, r.Currency, string(r.Details), r.Claim,
		toMillis(r.CreatedAt), toMillis(r.UpdatedAt), tx.db.process, r.Client.APIKey, r.Client.Address, r.Account, r.Tag)
}

// EndRefund writes the outcome of a pending refund: r.State, FailureCode, FailureMessage and
// AcquirerID. It returns ErrConflict if the refund is not pending.
func (tx *Tx) EndRefund(r *payment.Refund) error {
	err := tx.execOne(endRefund,
		string(r.State), r.FailureCode, r.FailureMessage, toMillis(tx.Now), r.AcquirerID, r.ID)
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
	// Each command locks a transaction before its captures: another order could deadlock.
	err = tx.execOne(endRefundOfTransaction,
		r.Amount, given, toMillis(tx.Now), r.Transaction)
	if err != nil {
		return err
	}
	return tx.execOne(endRefundOfCapture, r.Amount, given, toMillis(tx.Now), r.Capture)
}

// Refund reads one refund of the tenant as part of the command, else ErrNotFound.
func (tx *Tx) Refund(tenant payment.Tenant, id int64) (*payment.Refund, error) {
	row, err := tx.row(selectRefund, id, tenant.Merchant, tenant.Live)
	if err != nil {
		return nil, err
	}
	return scanRefund(row)
}

// Refund reads one refund of the tenant, else ErrNotFound.
func (db *DB) Refund(ctx context.Context, tenant payment.Tenant, id int64) (*payment.Refund, error) {
	return scanRefund(db.rowOf(ctx, tenant, selectRefund, id, tenant.Merchant, tenant.Live))
}

// Refunds lists the tenant's refunds that match the filter, newest first.
func (db *DB) Refunds(
	ctx context.Context, tenant payment.Tenant, f payment.StepFilter, p payment.Page,
) (payment.List[*payment.Refund], error) {
	switch {
	case f.Transaction != 0:
		return list(ctx, db, tenant, listRefundsOfTransaction, p, scanRefund, tenant.Merchant, tenant.Live,
			entries(f.Metadata), string(f.Settlement), f.Transaction, f.Day, f.Customer)
	case f.Day != 0:
		return list(ctx, db, tenant, listRefundsOfDay, p, scanRefund, tenant.Merchant, tenant.Live,
			entries(f.Metadata), string(f.Settlement), f.Day, f.Customer)
	case f.Customer != "":
		return list(ctx, db, tenant, listRefundsOfCustomer, p, scanRefund, tenant.Merchant, tenant.Live,
			entries(f.Metadata), string(f.Settlement), f.Customer)
	case f != (payment.StepFilter{}):
		return list(ctx, db, tenant, listFilteredRefunds, p, scanRefund, tenant.Merchant, tenant.Live,
			entries(f.Metadata), string(f.Settlement))
	}
	return list(ctx, db, tenant, listRefunds, p, scanRefund, tenant.Merchant, tenant.Live)
}

// RefundDetails returns the details of a refund of any tenant, else ErrNotFound.
func (db *DB) RefundDetails(ctx context.Context, id int64) ([]byte, error) {
	return scanDetails(db.backgroundRow(ctx, selectRefundDetails, id))
}

// OpenRefunds returns a page of the unfinished refunds of all tenants, as OpenTransactions does of
// transactions. A refund with a pending reversal waits for it.
func (db *DB) OpenRefunds(ctx context.Context, before int64, p StepPage) ([]OpenStep[*payment.Refund], error) {
	return openSteps(ctx, db, selectOpenRefunds, scanRefund, before, p)
}

func scanRefund(row Scanner) (*payment.Refund, error) {
	var (
		r                           payment.Refund
		created, updated, reclaimed int64
	)
	err := row.Scan(&r.ID, &r.Transaction, &r.Capture, &r.Tenant.Merchant, &r.Tenant.Live, &r.State, &r.Amount,
		&r.Currency, &r.SettlementDay, &r.Details, &r.FailureCode, &r.FailureMessage, &r.Claim, &created,
		&updated, &r.Core, &reclaimed, &r.Client.APIKey, &r.Client.Address, &r.Account, &r.Tag, &r.AcquirerID)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, payment.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read refund: %w", err)
	}
	r.CreatedAt, r.UpdatedAt, r.ReclaimedAt = fromMillis(created), fromMillis(updated), fromMillis(reclaimed)
	return &r, nil
}
