package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
)

// transactionData is the personal data of a transaction's own row.
func transactionData() personal {
	payer := []string{"client_address", "confirm_client_address", "void_client_address"}
	return personal{"transactions", "transactions", "details", "'transaction'", payer, ""}
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
	through             int64 // the captures and refunds up to this id are erased in the same commit
}

// erasePayment erases the personal data of a transaction and of its captures and refunds, and its
// link to a customer, in the command's commit. Of many captures and refunds it erases a page, and has
// the others follow: see eraser.parts. The customer keeps the time of the payment. It reports a
// transaction that is open, which stays as it is, and ErrNotFound if there is none.
func (tx *Tx) erasePayment(n int64, now time.Time, erase Erase) (erased int64, was paymentErasure, err error) {
	row, err := tx.locked(openPayment, n, id.At(now.Add(-payment.LeastKeepPersonal)), lateChange.Milliseconds())
	if err != nil {
		return 0, was, err
	}
	err = row.Scan(&was.tenant.Merchant, &was.tenant.Live, &was.method, &was.kind, &was.customer, &was.waitingOf,
		&was.open, &was.changed, &was.paid)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, was, payment.ErrNotFound
	}
	if err != nil || was.open {
		return 0, was, err
	}
	// The transaction before its captures and refunds, as every command locks them.
	if erased, err = tx.eraseRow(transactionData(), n, erase); err != nil {
		return 0, was, err
	}
	page, err := tx.eraseParts(n, 0, math.MaxInt64, partsAtOnce, erase)
	if err == nil && page.more {
		err = tx.queueParts(was.tenant, n, page.through, now)
	}
	if err != nil {
		return 0, was, err
	}
	was.through = page.through
	erased += page.erased
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

// agedTransaction erases a transaction past the period of its merchant.
func (tx *Tx) agedTransaction(e *eraser, n int64) (erased int64, err error) {
	erased, was, err := tx.erasePayment(n, e.now, e.erase)
	switch {
	case errors.Is(err, payment.ErrNotFound):
		return 0, nil
	case err != nil:
	case was.open:
		err = tx.delayErasure("transactions", n, e.now.Add(eraseLater))
	case was.changed:
		err = tx.erasedPayment(was, n)
	}
	return erased, err
}

// delayErasure has a row of a table erased at a later time. An earlier time stands.
func (tx *Tx) delayErasure(table string, n int64, due time.Time) error {
	return tx.exec(`INSERT INTO delayed_erasures (name, id, merchant_id, live, due_at)
		SELECT ?1, id, merchant_id, live, ?3 FROM `+table+` WHERE id = ?2 ON CONFLICT (name, id) DO NOTHING`,
		table, n, toMillis(due))
}

// endDelay removes a row from the queue of delayed erasures, unless it was delayed again meanwhile.
func (tx *Tx) endDelay(table string, n int64, now time.Time) error {
	return tx.exec(`DELETE FROM delayed_erasures WHERE name = ? AND id = ? AND (due_at <= ? OR due_at > ?)`,
		table, n, toMillis(now), tooFarAhead(now, longestDelay(table)))
}

// delayedTransaction erases a transaction that was open, was changed after its erasure, or could not
// be erased.
func (tx *Tx) delayedTransaction(e *eraser, n int64) (erased int64, err error) {
	erased, was, err := tx.erasePayment(n, e.now, e.erase)
	switch {
	case err != nil && !errors.Is(err, payment.ErrNotFound):
		return 0, err
	case was.open:
		return erased, tx.postponeErasure(e, "transactions", n)
	}
	if err := tx.endDelay("transactions", n, e.now); err != nil {
		return 0, err
	}
	return erased, tx.erasedPayment(was, n)
}

// postponeErasure has a row of the queue of delayed erasures tried again later.
func (tx *Tx) postponeErasure(e *eraser, table string, n int64) error {
	return tx.exec(`UPDATE delayed_erasures SET due_at = ? WHERE name = ? AND id = ?`, toMillis(e.now.Add(eraseLater)), table, n)
}

// delayed erases the rows whose erasure was delayed.
func (e *eraser) delayed(ctx context.Context) error {
	for _, table := range erasedTables() {
		if err := e.delayedRows(ctx, table); err != nil {
			return fmt.Errorf("erase personal data of delayed %s: %w", table.name, err)
		}
	}
	return nil
}

func (e *eraser) delayedRows(ctx context.Context, table erasedTable) error {
	rows := Rows[Due]{
		Kind: table.name, ID: dueID,
		Change: func(ctx context.Context, part []Due) (int, error) {
			return eraseEach(ctx, e, table.name, part, func(tx *Tx, d Due) (int64, error) { return table.delayed(tx, e, d.ID) })
		},
		Refused: e.postpone(table.name),
	}
	return dueRows(ctx, e, rows, table.name)
}

// postpone is Rows.Refused of delayed erasures.
func (e *eraser) postpone(name string) func(context.Context, Due) error {
	return func(ctx context.Context, d Due) error {
		return e.db.Update(ctx, func(tx *Tx) error { return tx.postponeErasure(e, name, d.ID) })
	}
}

// eraseEach runs change for rows in one commit, as Each does.
func eraseEach[T any](
	ctx context.Context, e *eraser, name string, rows []T, change func(*Tx, T) (erased int64, err error),
) (n int, err error) {
	err = e.commit(ctx, name, func(tx *Tx) (erased int64, err error) {
		n, err = Each(tx, rows, func(row T) error {
			changed, err := change(tx, row)
			erased += changed
			return err
		})
		return erased, err
	})
	return n, err
}

// delayedPage selects a page of the rows of the name ?4 that are due by ?1, after the row ?3 of the
// time ?2.
const delayedPage = `SELECT due_at, id FROM delayed_erasures WHERE name = ?4
	AND due_at <= ?1 AND due_at >= ?2 AND (due_at > ?2 OR id > ?3) ORDER BY due_at, id LIMIT ?5`

// dueRows changes the delayed erasures of a name that are due, page by page. No row but that of a
// transaction waits for more than an hour by a right clock.
func dueRows(ctx context.Context, e *eraser, rows Rows[Due], name string) error {
	for _, due := range dueRanges(e.now, longestDelay(name)) {
		after := due.after
		for more := true; more; {
			page, err := collect(ctx, e.db, delayedPage, scanDue, due.through, after.At, after.ID, name, erasePage)
			if err == nil {
				err = rows.Do(ctx, e.pass, page)
			}
			if more = len(page) == erasePage; more && err == nil {
				after = page[erasePage-1]
				err = pause(ctx)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// longestDelay is how long the delayed erasures of a name wait at most.
func longestDelay(name string) time.Duration {
	if name == "transactions" {
		return payment.LeastKeepPersonal
	}
	return eraseLater
}

// erasedPayment has the events of a transaction erased too, and those of its captures and refunds that
// were erased with it.
func (tx *Tx) erasedPayment(was paymentErasure, transaction int64) error {
	err := tx.exec(`INSERT INTO erased_objects (merchant_id, live, object_id, erased_at)
		SELECT ?1, ?2, id, ?4 FROM transactions WHERE id = ?3`+erasedAgain,
		was.tenant.Merchant, was.tenant.Live, transaction, toMillis(tx.Now))
	if err != nil {
		return err
	}
	return tx.erasedParts(was.tenant, transaction, 0, was.through)
}

const erasedAgain = ` ON CONFLICT (merchant_id, live, object_id) DO UPDATE SET erased_at = excluded.erased_at`

// numbers runs a query for ids.
func (tx *Tx) numbers(text string, args ...any) (out []int64, err error) {
	err = tx.each(text, func(row Scanner) error {
		n, err := scanNumber(row)
		out = append(out, n)
		return err
	}, args...)
	return out, err
}
