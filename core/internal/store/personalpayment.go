package store

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
)

// paymentParts returns the columns of one transaction with personal data, and the condition that
// finds their rows.
func paymentParts() map[string][]personal {
	client := []string{"client_address"}
	payer := []string{"client_address", "confirm_client_address", "void_client_address"}
	return map[string][]personal{
		"id = ?": {
			{"transactions", "transactions", "details", "'transaction'", payer, ""},
		},
		"transaction_id = ?": {
			{"captures", "captures", "details", "'capture'", client, ""},
			{"refunds", "refunds", "details", "'refund'", client, ""},
		},
	}
}

// unfinishedPayment is the condition of a transaction that has a step without an outcome or a pending
// reversal, or that a payer can still confirm.
const unfinishedPayment = `(status IN ('processing', 'unknown', 'requires_confirmation', 'requires_action', 'pending_review') OR operation <> ''
	OR amount_capture_pending > 0 OR amount_refund_pending > 0
	OR EXISTS (SELECT 1 FROM reversals WHERE reversals.transaction_id = transactions.id))`

// openPayment reads a transaction for its erasure. It is open if it is unfinished, or a refund is
// younger than ?2.
const openPayment = `SELECT merchant_id, live, payment_method,
		CASE WHEN details ->> '$.bank_account' IS NULL THEN 'card' ELSE 'bank_account' END,
		COALESCE(details ->> '$.customer', ''), COALESCE(waiting_details ->> '$.customer', ''),
		CASE WHEN ` + unfinishedPayment + `
			OR EXISTS (SELECT 1 FROM refunds WHERE refunds.transaction_id = transactions.id AND refunds.id >= ?2)
		THEN 1 ELSE 0 END,
		CASE WHEN updated_at > created_at + ?3 THEN 1 ELSE 0 END,
		MAX(created_at, COALESCE((SELECT MAX(refunds.created_at) FROM refunds WHERE refunds.transaction_id = transactions.id), 0))
	FROM transactions WHERE id = ?1`

// lateChange is how long after a transaction its events can follow its erasure by their own age. The
// events of one that changed later are erased together with it.
const lateChange = 3 * day

// paymentErasure is what an erasure reads of a transaction.
type paymentErasure struct {
	tenant              payment.Tenant
	method, kind        string
	customer, waitingOf string
	open, changed       bool  // changed: later than its events are erased by their own age
	paid                int64 // when it was created or last refunded, in milliseconds
}

// erasePayment erases the personal data of a transaction and of its captures and refunds, and its
// link to a customer, in the command's commit. The customer keeps the time of the payment. It reports
// a transaction that is open, which stays as it is, and ErrNotFound if there is none.
func (tx *Tx) erasePayment(n int64, now time.Time, erase Erase) (erased int64, was paymentErasure, err error) {
	row, err := tx.locked(openPayment, n, id.At(now.Add(-LeastKeepPersonal)), lateChange.Milliseconds())
	if err != nil {
		return 0, was, err
	}
	err = row.Scan(&was.tenant.Merchant, &was.tenant.Live, &was.method, &was.kind, &was.customer, &was.waitingOf,
		&was.open, &was.changed, &was.paid)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, was, ErrNotFound
	}
	if err != nil || was.open {
		return 0, was, err
	}
	// The transaction before its captures and refunds, as every command locks them.
	parts := paymentParts()
	for _, where := range []string{"id = ?", "transaction_id = ?"} {
		for _, p := range parts[where] {
			changed, err := tx.eraseRows(p, where, n, erase)
			if err != nil {
				return 0, was, fmt.Errorf("%s: %w", p.name, err)
			}
			erased += changed
		}
	}
	if err := tx.unlinkPayment(n, was); err != nil {
		return 0, was, err
	}
	if _, stored := id.Parse(id.PaymentMethod, was.method); stored != nil {
		was.kind = was.method // it names no stored payment method of a customer
	}
	err = tx.change(`UPDATE transactions SET erased_at = ?, payment_method = ?, waiting_method = NULL, waiting_details = NULL WHERE id = ?`, toMillis(tx.Now), was.kind, n)
	return erased, was, err
}

// unlinkPayment deletes the links of a transaction to its customers. A link is all by which a
// customer without another change counts as active, so the time of the payment moves to the customer.
func (tx *Tx) unlinkPayment(n int64, was paymentErasure) error {
	for _, name := range []string{was.customer, was.waitingOf} {
		customer, err := id.Parse(id.Customer, name)
		if err != nil {
			continue // it names none
		}
		err = tx.exec(`UPDATE customers SET last_paid_at = ?1
			WHERE id = ?2 AND merchant_id = ?3 AND live = ?4 AND deleted_at = 0 AND last_paid_at < ?1`,
			was.paid, customer, was.tenant.Merchant, was.tenant.Live)
		if err != nil {
			return err
		}
	}
	return tx.exec(`DELETE FROM transaction_terms WHERE merchant = ? AND is_live = ? AND kind = ? AND term IN (?, ?) AND transaction_id = ?`,
		was.tenant.Merchant, was.tenant.Live, termCustomer, was.customer, was.waitingOf, n)
}

// agedTransactions erases the next page of transactions past the period of their merchants.
func (tx *Tx) agedTransactions(e *eraser, days int) (erased int64, more bool, err error) {
	ids, more, err := tx.agedIDs(e, "transactions", "transactions", days)
	if err != nil {
		return 0, false, err
	}
	for _, n := range ids {
		changed, was, err := tx.erasePayment(n, e.now, e.erase)
		switch {
		case err != nil:
		case was.open:
			err = tx.delayErasure(was.tenant, n, e.now.Add(eraseLater))
		case was.changed:
			err = tx.erasedObjects(was.tenant, n)
		}
		if err != nil && !errors.Is(err, ErrNotFound) {
			return 0, false, err
		}
		erased += changed
	}
	return erased, more, nil
}

// delayErasure has a transaction erased at a later time. An earlier time stands.
func (tx *Tx) delayErasure(tenant payment.Tenant, transaction int64, due time.Time) error {
	return tx.exec(`INSERT INTO delayed_erasures (transaction_id, merchant_id, live, due_at) VALUES (?, ?, ?, ?)
		ON CONFLICT (transaction_id) DO NOTHING`, transaction, tenant.Merchant, tenant.Live, toMillis(due))
}

// delayedPayments erases a page of the transactions that were open, or were changed after their
// erasure.
func (tx *Tx) delayedPayments(e *eraser) (erased int64, more bool, err error) {
	ids, err := tx.numbers(`SELECT transaction_id FROM delayed_erasures WHERE due_at <= ? ORDER BY due_at, transaction_id LIMIT ?`,
		toMillis(e.now), erasePage)
	if err != nil {
		return 0, false, err
	}
	for _, n := range ids {
		changed, was, err := tx.erasePayment(n, e.now, e.erase)
		switch {
		case err != nil && !errors.Is(err, ErrNotFound):
			return 0, false, err
		case was.open:
			err = tx.exec(`UPDATE delayed_erasures SET due_at = ? WHERE transaction_id = ?`, toMillis(e.now.Add(eraseLater)), n)
		default:
			if err = tx.exec(`DELETE FROM delayed_erasures WHERE transaction_id = ?`, n); err == nil {
				err = tx.erasedObjects(was.tenant, n)
			}
		}
		if err != nil {
			return 0, false, err
		}
		erased += changed
	}
	return erased, len(ids) == erasePage, nil
}

// erasedObjects has the events of a transaction, and of its captures and refunds, erased too.
func (tx *Tx) erasedObjects(tenant payment.Tenant, transaction int64) error {
	return tx.exec(`INSERT INTO erased_objects (merchant_id, live, object_id, erased_at)
		SELECT ?1, ?2, id, ?4 FROM transactions WHERE id = ?3
		UNION ALL SELECT ?1, ?2, id, ?4 FROM captures WHERE transaction_id = ?3
		UNION ALL SELECT ?1, ?2, id, ?4 FROM refunds WHERE transaction_id = ?3
		ON CONFLICT (merchant_id, live, object_id) DO UPDATE SET erased_at = excluded.erased_at`,
		tenant.Merchant, tenant.Live, transaction, toMillis(tx.Now))
}

// numbers runs a query for ids.
func (tx *Tx) numbers(text string, args ...any) (out []int64, err error) {
	err = tx.each(text, func(row Scanner) error {
		n, err := scanNumber(row)
		out = append(out, n)
		return err
	}, args...)
	return out, err
}
