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
	insertTransaction        = declare("insertTransaction")
	resolveTransaction       = declare("resolveTransaction")
	loseTransaction          = declare("loseTransaction")
	beginVoid                = declare("beginVoid")
	refuseVoid               = declare("refuseVoid")
	endVoid                  = declare("endVoid")
	selectTransaction        = declare("selectTransaction")
	lockTransaction          = declare("lockTransaction")
	listTransactions         = declareList("listTransactions")
	selectOpenTransactions   = declare("selectOpenTransactions")
	selectTransactionDetails = declare("selectTransactionDetails")
	deleteTransaction        = declare("deleteTransaction")
	updateTransaction        = declare("updateTransaction")
	unlinkReference          = declare("unlinkReference")
)

// InsertTransaction inserts the intent of a payment: a transaction in `processing`. It returns
// ErrDuplicate if the id is taken.
func (tx *Tx) InsertTransaction(t *payment.Transaction) error {
	return tx.insert(insertTransaction,
		t.ID, t.Tenant.Merchant, t.Tenant.Live, t.AutoCapture, t.Amount, t.Currency, t.PaymentMethod,
		string(t.Details), t.Claim, toMillis(t.CreatedAt), toMillis(t.UpdatedAt), t.Partial, tx.db.process,
		t.Client.APIKey, t.Client.Address, t.Account, t.Tag)
}

// ResolveTransaction writes the outcome of an unfinished payment: t.Status, the amounts and
// t.Result. It returns ErrConflict if the payment is finished, t.Attempt is not its current
// attempt, or t.Version does not follow its version.
func (tx *Tx) ResolveTransaction(t *payment.Transaction) error {
	result, err := encodeResult(&t.Result)
	if err != nil {
		return err
	}
	return tx.execOne(resolveTransaction,
		string(t.Status), t.Authorized, t.Captured, result, toMillis(t.UpdatedAt), t.ID, t.Attempt, t.Version)
}

// UpdateTransaction writes a merchant's change, t.Amount, t.Details and t.AmountChanged, as version
// t.Version. reference is the transaction's new reference, nil if that stays. It returns
// ErrConflict if the payment is processing, or t.Version does not follow its version.
func (tx *Tx) UpdateTransaction(t *payment.Transaction, reference *string) error {
	return tx.savepoint(func() error {
		if reference != nil {
			if err := tx.exec(unlinkReference, t.ID, termReference); err != nil {
				return err
			}
		}
		row, err := tx.row(updateTransaction,
			t.Amount, string(t.Details), t.AmountChanged, toMillis(t.UpdatedAt), t.ID, t.Tenant.Merchant, t.Tenant.Live,
			t.Version)
		if err != nil {
			return err
		}
		erased, err := scanOne(row)
		if err != nil {
			return err
		}
		if err := tx.afterErasure(t.ID, erased, &payment.Client{}); err != nil || reference == nil {
			return err
		}
		return tx.InsertTerms(t.Tenant, t.ID, payment.Terms{Reference: *reference})
	})
}

// LoseTransaction marks a payment as unknown because the acquirer's response was lost. It returns
// ErrConflict if the payment is not processing.
func (tx *Tx) LoseTransaction(t *payment.Transaction) error {
	return tx.execOne(loseTransaction,
		toMillis(tx.Now), t.ID, t.Attempt)
}

// BeginVoid writes the intent of a void that a client requests, and makes it the transaction's step
// in progress. v has the OperationID, the Claim, the VoidTag and the Voider of the void. It returns
// ErrConflict if the transaction cannot be voided, has another account than v, or has another
// version than expected. A nil expected matches each version.
func (tx *Tx) BeginVoid(v *payment.Transaction, expected *int64) error {
	return tx.execOne(beginVoid,
		v.OperationID, v.Claim, tx.db.process, toMillis(tx.Now), v.Voider.APIKey, v.Voider.Address, v.VoidTag, v.ID,
		v.Tenant.Merchant, v.Tenant.Live, nullable(expected), v.Account)
}

// EndVoid writes the outcome of a void: done, or refused, which leaves the transaction as it was
// before. It returns ErrConflict if the void is not in progress.
func (tx *Tx) EndVoid(id, operation int64, done bool) error {
	if !done {
		return tx.execOne(refuseVoid, toMillis(tx.Now), id, operation)
	}
	err := tx.execOne(endVoid, toMillis(tx.Now), id, operation)
	if err != nil {
		return err
	}
	return tx.voidCaptures(id)
}

// Transaction reads one transaction as part of the command, else ErrNotFound.
func (tx *Tx) Transaction(tenant payment.Tenant, id int64) (*payment.Transaction, error) {
	row, err := tx.row(selectTransaction,
		id, tenant.Merchant, tenant.Live)
	if err != nil {
		return nil, err
	}
	return scanTransaction(row)
}

// TransactionForUpdate is Transaction for a command that makes a decision by its amounts, captures
// or refunds: it locks the row.
func (tx *Tx) TransactionForUpdate(tenant payment.Tenant, id int64) (*payment.Transaction, error) {
	row, err := tx.row(lockTransaction,
		id, tenant.Merchant, tenant.Live)
	if err != nil {
		return nil, err
	}
	return scanTransaction(row)
}

// Transaction reads one transaction of the tenant, else ErrNotFound.
func (db *DB) Transaction(ctx context.Context, tenant payment.Tenant, id int64) (*payment.Transaction, error) {
	return scanTransaction(db.rowOf(ctx, tenant, selectTransaction, id, tenant.Merchant, tenant.Live))
}

// Transactions lists the tenant's transactions, newest first.
func (db *DB) Transactions(
	ctx context.Context, tenant payment.Tenant, p payment.Page,
) (payment.List[*payment.Transaction], error) {
	return list(ctx, db, tenant, listTransactions, p, scanTransaction,
		tenant.Merchant, tenant.Live)
}

// ClockSlack is how far another process's clock may be ahead. A row with a later time was written
// by a wrong clock, so it counts as old. The store, recovery and webhooks use the same limit, so a
// row that the store reads as old can also be claimed.
const ClockSlack = time.Minute

// OpenTransactions returns a page of the unfinished authorizations and voids of all tenants, as
// openSteps describes. TransactionDetails reads the Details.
func (db *DB) OpenTransactions(ctx context.Context, before int64, p StepPage) ([]OpenStep[OpenTransaction], error) {
	return openSteps(ctx, db, selectOpenTransactions, scanOpenTransaction, before, p)
}

// TransactionDetails returns the details of a transaction of any tenant, else ErrNotFound.
func (db *DB) TransactionDetails(ctx context.Context, id int64) ([]byte, error) {
	return scanDetails(db.backgroundRow(ctx, selectTransactionDetails, id))
}

func scanDetails(row Scanner) (details []byte, err error) {
	if err = row.Scan(&details); errors.Is(err, sql.ErrNoRows) {
		return nil, payment.ErrNotFound
	}
	return details, err
}

// OpenTransaction is a transaction with an unfinished step. Unreadable is why its result cannot be
// read, nil if it can: the step cannot be finished then.
type OpenTransaction struct {
	*payment.Transaction
	Unreadable error
}

func scanOpenTransaction(row Scanner) (OpenTransaction, error) {
	t, err := scanTransaction(row)
	if t != nil {
		return OpenTransaction{t, err}, nil
	}
	return OpenTransaction{}, err
}

// scanTransaction returns the transaction together with the error if only its result cannot be
// read.
func scanTransaction(row Scanner) (*payment.Transaction, error) {
	var (
		t                           payment.Transaction
		details, result             []byte
		created, updated, reclaimed int64
	)
	err := row.Scan(&t.ID, &t.Tenant.Merchant, &t.Tenant.Live, &t.Status, &t.AutoCapture, &t.Amount, &t.Currency,
		&t.PaymentMethod, &t.Authorized, &t.Captured, &t.CapturePending, &t.Settled, &t.Refunded, &t.RefundPending,
		&t.Operation, &t.OperationID, &details, &result, &t.Version, &t.Claim, &created, &updated, &t.Attempt, &t.Partial,
		&t.Core, &reclaimed, &t.RefusedConfirmations, &t.Client.APIKey, &t.Client.Address, &t.Confirmer.APIKey,
		&t.Confirmer.Address, &t.Voider.APIKey, &t.Voider.Address, &t.CapturesBegun,
		&t.DeclinedConfirmations, &t.AmountChanged, &t.Account, &t.Tag, &t.VoidTag)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, payment.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read transaction: %w", err)
	}
	t.Details = details
	t.CreatedAt, t.UpdatedAt, t.ReclaimedAt = fromMillis(created), fromMillis(updated), fromMillis(reclaimed)
	if err := decodeResult(result, &t.Result); err != nil {
		return &t, fmt.Errorf("transaction %d: %w", t.ID, err)
	}
	return &t, nil
}

// RemoveTransaction deletes the intent of a payment that the acquirer never received, whose id is
// in no response. It returns ErrConflict if the payment is not processing any more, or belongs to a
// confirmation.
func (tx *Tx) RemoveTransaction(id int64) error {
	if err := tx.execOne(deleteTransaction, id); err != nil {
		return err
	}
	return tx.exec(deleteAttempts, id)
}
