package store

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store/pass"
)

var (
	insertUnconfirmed        = declare("insertUnconfirmed")
	correctUnconfirmed       = declare("correctUnconfirmed")
	lapseTransaction         = declare("lapseTransaction")
	countRefusedConfirmation = declare("countRefusedConfirmation")
	beginConfirmation        = declare("beginConfirmation")
	unlinkConfirmation       = declare("unlinkConfirmation")
	withdrawConfirmation     = declare("withdrawConfirmation")
	declineConfirmation      = declare("declineConfirmation")
	cancelTransaction        = declare("cancelTransaction")
	selectUnconfirmed        = declare("selectUnconfirmed")
)

// InsertUnconfirmed inserts a payment that waits for its confirmation, for payment.ConfirmWithin.
// The test clock of the merchant measures the wait of a test payment. It returns ErrDuplicate if
// the id is taken.
func (tx *Tx) InsertUnconfirmed(t *payment.Transaction) error {
	err := tx.insert(insertUnconfirmed,
		t.ID, t.Tenant.Merchant, t.Tenant.Live, t.AutoCapture, t.Amount, t.Currency, t.PaymentMethod,
		string(t.Details), toMillis(t.CreatedAt), toMillis(t.UpdatedAt), t.Attempt, t.Partial,
		t.Client.APIKey, t.Client.Address)
	if err != nil {
		return err
	}
	return tx.SetExpiry(t.Tenant, t.ID, t.CreatedAt.Add(payment.ConfirmWithin))
}

// Unconfirmed returns a page of a tenant's payments whose wait for a confirmation ended by a time.
// The page begins after the row after, as for Lapsed.
func (db *DB) Unconfirmed(
	ctx context.Context, tenant payment.Tenant, by time.Time, after Due, limit int,
) ([]Due, error) {
	return backgroundRows(ctx, db, selectUnconfirmed, scanDue,
		tenant.Merchant, tenant.Live, toMillis(by), after.At, after.ID, limit)
}

// CorrectUnconfirmed shortens a tenant's waits that a clock ahead has written. A payment that would
// wait for more than twice payment.ConfirmWithin waits for payment.ConfirmWithin from now on.
func (db *DB) CorrectUnconfirmed(ctx context.Context, t ExpiringTenant) error {
	bound := db.ahead(payment.ConfirmWithin)
	first := Due{At: bound + t.Ahead.Milliseconds(), ID: math.MaxInt64}
	rows := pass.Rows[Due]{Kind: "transaction", ID: dueID}
	err := correct(ctx, db, db.BeginPass(pass.Expiry), rows, func(last Due) ([]Due, error) {
		return db.Unconfirmed(ctx, t.Tenant, time.UnixMilli(math.MaxInt64), cmp.Or(last, first), purgeBatch)
	}, func(tx *Tx, d Due) error {
		return tx.exec(correctUnconfirmed,
			bound, toMillis(tx.Now.Add(payment.ConfirmWithin)), d.ID)
	})
	if err != nil {
		return fmt.Errorf("correct waits for a confirmation: %w", err)
	}
	return nil
}

// LapseTransaction cancels a payment that was not confirmed in time, with the result r. It returns
// ErrConflict if it does not wait for a confirmation, or is not the tenant's.
func (tx *Tx) LapseTransaction(tenant payment.Tenant, id int64, r *payment.Result) error {
	result, err := encodeResult(r)
	if err != nil {
		return err
	}
	return tx.execOne(lapseTransaction,
		result, toMillis(tx.Now), id, tenant.Merchant, tenant.Live)
}

// CountRefusedConfirmation counts a confirmation of a transaction that was refused because of its
// payment source.
func (tx *Tx) CountRefusedConfirmation(tenant payment.Tenant, id int64) error {
	return tx.exec(countRefusedConfirmation,
		id, tenant.Merchant, tenant.Live)
}

// BeginConfirmation writes the intent of attempt t.Attempt to confirm the waiting payment t.ID. It
// stores the payment source, t.PaymentMethod and t.Details, the client, t.Confirmer, and the
// acquirer account with its tag. It returns ErrConflict if the payment does not wait for that
// attempt, has another version than t.Version, or is not the tenant's.
func (tx *Tx) BeginConfirmation(t *payment.Transaction) error {
	return tx.execOne(beginConfirmation,
		t.PaymentMethod, string(t.Details), t.Claim, tx.db.process, toMillis(t.UpdatedAt),
		t.Confirmer.APIKey, t.Confirmer.Address, t.Account, t.Tag, t.ID, t.Tenant.Merchant, t.Tenant.Live, t.Attempt,
		t.Version)
}

// WithdrawConfirmation deletes the intent of a confirmation that the acquirer never received and
// never will. The payment waits for the next attempt, as before this one, and has no link to the
// customer whose source was confirmed. It returns ErrConflict if this attempt has an outcome
// already, or is unknown.
func (tx *Tx) WithdrawConfirmation(t *payment.Transaction) error {
	if err := tx.exec(unlinkConfirmation, t.ID, t.Attempt, termCustomer); err != nil {
		return err
	}
	return tx.execOne(withdrawConfirmation,
		toMillis(tx.Now), t.ID, t.Attempt)
}

// DeclineConfirmation writes the decline of a confirmation after which the payment waits for the
// next one: t.Result, and the state before the confirmation. The payment has no link to the
// customer whose source was declined. It returns ErrConflict if this attempt has an outcome
// already, or is unknown.
func (tx *Tx) DeclineConfirmation(t *payment.Transaction) error {
	result, err := encodeResult(&t.Result)
	if err != nil {
		return err
	}
	if err := tx.exec(unlinkConfirmation, t.ID, t.Attempt, termCustomer); err != nil {
		return err
	}
	return tx.execOne(declineConfirmation,
		result, toMillis(t.UpdatedAt), t.ID, t.Attempt)
}

// CancelTransaction cancels, for a client, a payment that waits for its confirmation. It returns
// ErrConflict if it does not wait, is not the tenant's, or has another version than expected. A nil
// expected matches each version.
func (tx *Tx) CancelTransaction(tenant payment.Tenant, id int64, expected *int64, by payment.Client) error {
	return tx.execOne(cancelTransaction,
		toMillis(tx.Now), by.APIKey, by.Address, id, tenant.Merchant, tenant.Live, nullable(expected))
}
