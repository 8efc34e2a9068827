package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store/pass"
	"github.com/causeway-pay/causeway/shared/id"
)

var (
	lockPaymentErasure      = declare("lockPaymentErasure")
	eraseTransaction        = declare("eraseTransaction")
	setLastPaid             = declare("setLastPaid")
	deleteCustomerTerms     = declare("deleteCustomerTerms")
	endDelay                = declare("endDelay")
	postponeErasure         = declare("postponeErasure")
	selectDelayedErasures   = declare("selectDelayedErasures")
	insertErasedTransaction = declare("insertErasedTransaction")
)

// transactionData is the table of transactions, without their captures and refunds.
func transactionData() personal {
	return personal{
		"transactions", true, lockPersonalTransactions, erasePersonalTransactions,
		selectAgedTransactions, selectDueTransactions, selectErasableTransactions, delayTransactions,
	}
}

// lateChange is how long after its creation a transaction can change while its events are erased by
// their own age alone. If it changed later, its events are erased together with it.
const lateChange = 3 * day

// paymentErasure describes a transaction that is erased.
type paymentErasure struct {
	tenant              payment.Tenant
	method, kind        string
	customer, waitingOf string
	open, changed       bool  // open: unfinished; changed: after lateChange
	paid                int64 // when it was created or last refunded, in milliseconds
	through             int64 // captures and refunds up to this id are erased in the same commit
}

// erasePayment erases, in the command's commit, the personal data of a transaction and of its
// captures and refunds, and its link to a customer. Of many captures and refunds it erases a page
// and queues the others: see eraser.parts. The customer keeps the time of the payment. It does not
// change an unfinished transaction: was.open reports that. It returns ErrNotFound if there is none.
func (tx *Tx) erasePayment(n int64, now time.Time, erase eraseFunc) (erased int64, was paymentErasure, err error) {
	row, err := tx.row(lockPaymentErasure, n, id.At(now.Add(-payment.LeastKeepPersonal)), lateChange.Milliseconds())
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
	// Each command locks a transaction before its captures and refunds.
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
		was.kind = was.method // not the id of a stored payment method
	}
	err = tx.execOne(eraseTransaction, toMillis(tx.Now), was.kind, n)
	return erased, was, err
}

// unlinkPayment deletes the links of a transaction to its customers. A link can be the only proof
// that a customer is active, so the time of the payment moves to the customer.
func (tx *Tx) unlinkPayment(n int64, was paymentErasure) error {
	for _, name := range []string{was.customer, was.waitingOf} {
		customer, err := id.Parse(id.Customer, name)
		if err != nil {
			continue // not the id of a customer
		}
		err = tx.exec(setLastPaid,
			was.paid, customer, was.tenant.Merchant, was.tenant.Live)
		if err != nil {
			return err
		}
	}
	return tx.exec(deleteCustomerTerms,
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
		err = tx.delayErasure(transactionData(), n, e.now.Add(eraseLater))
	case was.changed:
		err = tx.erasedPayment(was, n)
	}
	return erased, err
}

// delayErasure queues a row of a table for an erasure at a later time. A row that is queued already
// keeps its time.
func (tx *Tx) delayErasure(table personal, n int64, due time.Time) error {
	return tx.exec(table.delay, table.name, n, toMillis(due))
}

// endDelay removes a row from the queue of delayed erasures, unless it was delayed again meanwhile.
func (tx *Tx) endDelay(table string, n int64, now time.Time) error {
	return tx.exec(endDelay,
		table, n, toMillis(now), tooFarAhead(now, longestDelay(table)))
}

// delayedTransaction erases a transaction that was unfinished, was changed after its erasure, or
// could not be erased.
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

// postponeErasure makes a row of the queue of delayed erasures due again after eraseLater.
func (tx *Tx) postponeErasure(e *eraser, table string, n int64) error {
	return tx.exec(postponeErasure, toMillis(e.now.Add(eraseLater)), table, n)
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
	rows := pass.Rows[Due]{
		Kind: table.name, ID: dueID,
		Change: func(ctx context.Context, chunk []Due) (int, error) {
			return eraseEach(ctx, e, table.name, chunk, func(tx *Tx, d Due) (int64, error) { return table.delayed(tx, e, d.ID) })
		},
		Refused: e.postpone(table.name),
	}
	return dueRows(ctx, e, rows, table.name)
}

// postpone returns pass.Rows.Refused of delayed erasures.
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

// dueRows runs rows for the delayed erasures of a name that are due, page by page. By a right clock
// only a transaction waits for more than an hour.
func dueRows(ctx context.Context, e *eraser, rows pass.Rows[Due], name string) error {
	for _, due := range dueRanges(e.now, longestDelay(name)) {
		after := due.after
		for more := true; more; {
			page, err := backgroundRows(ctx, e.db, selectDelayedErasures, scanDue,
				due.through, after.At, after.ID, name, erasePage)
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

// longestDelay returns how long a delayed erasure of a name waits at most.
func longestDelay(name string) time.Duration {
	if name == "transactions" {
		return payment.LeastKeepPersonal
	}
	return eraseLater
}

// erasedPayment records that the events of a transaction must be erased, and of its captures and
// refunds that were erased with it.
func (tx *Tx) erasedPayment(was paymentErasure, transaction int64) error {
	err := tx.exec(insertErasedTransaction,
		was.tenant.Merchant, was.tenant.Live, transaction, toMillis(tx.Now))
	if err != nil {
		return err
	}
	return tx.erasedParts(was.tenant, transaction, 0, was.through)
}
