package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store/pass"
)

var (
	queueParts            = declare("queueParts")
	lockErasedTransaction = declare("lockErasedTransaction")
	lockParts             = declare("lockParts")
	advanceParts          = declare("advanceParts")
	endParts              = declare("endParts")
	insertErasedParts     = declare("insertErasedParts")
	selectParts           = declare("selectParts")
)

// One payment can have so many captures and refunds that no single commit erases them all in time.
// The commit that erases the transaction erases the first page of them. It also writes a row of
// delayed_erasures, from which the next pages continue, even if the process dies in between.

const (
	// paymentParts is the name of such a row. Its id is the transaction's.
	paymentParts = "payment_parts"
	// partsAtOnce is the least number of captures and refunds that are erased together with their
	// transaction.
	partsAtOnce = 16
)

// partPage is the result of a page of captures and refunds.
type partPage struct {
	erased  int64
	through int64 // id of the last capture or refund of the page
	more    bool
}

// captureData is the table of captures, which are erased only with their transaction.
func captureData() personal {
	return personal{name: "captures", data: true, erase: erasePersonalCaptures}
}

func refundData() personal {
	return personal{
		"refunds", true, lockPersonalRefunds, erasePersonalRefunds,
		selectAgedRefunds, selectDueRefunds, selectErasableRefunds, delayRefunds,
	}
}

// eraseParts erases a page of the captures and refunds of a transaction that the command has
// locked. It erases at least a number of them if so many exist. It omits steps that were created
// later than a time in milliseconds.
func (tx *Tx) eraseParts(transaction, after, created int64, least int, erase eraseFunc) (page partPage, err error) {
	var rows []personalRow
	err = tx.each(selectParts, func(row Scanner) error {
		r, err := scanPersonal(row)
		rows = append(rows, r)
		return err
	}, transaction, after, created, erasePage)
	if err != nil {
		return page, err
	}
	n, err := eachLeast(tx, rows, least, func(r personalRow) error {
		of := refundData()
		if r.kind == "capture" {
			of = captureData()
		}
		changed, err := of.eraseFrom(tx, r, erase)
		if err != nil {
			return fmt.Errorf("%s: %w", of.name, err)
		}
		page.erased += changed
		return nil
	})
	if err != nil {
		return page, err
	}
	page.through, page.more = after, n < len(rows) || n == erasePage
	if n > 0 {
		page.through = rows[n-1].id
	}
	return page, nil
}

// queueParts delays the erasure of the captures and refunds after the id through of an erased
// transaction. The first pass that ends after due erases them.
func (tx *Tx) queueParts(tenant payment.Tenant, transaction, through int64, due time.Time) error {
	return tx.exec(queueParts,
		paymentParts, transaction, tenant.Merchant, tenant.Live, toMillis(due), through)
}

// parts erases the captures and refunds that wait in delayed_erasures. It erases a page of each
// payment in turn until none is left.
func (e *eraser) parts(ctx context.Context) error {
	more := true
	rows := pass.Rows[Due]{
		Kind: "transactions", ID: dueID,
		Change: func(ctx context.Context, chunk []Due) (int, error) {
			left := false
			n, err := eraseEach(ctx, e, paymentParts, chunk, func(tx *Tx, d Due) (int64, error) {
				erased, more, err := tx.eraseNextParts(d.ID, e.erase)
				left = left || more
				return erased, err
			})
			more = more || err == nil && left
			return n, err
		},
		Refused: e.postpone(paymentParts),
	}
	for more {
		more = false
		if err := dueRows(ctx, e, rows, paymentParts); err != nil {
			return fmt.Errorf("erase personal data of %s: %w", paymentParts, err)
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
	return nil
}

// eraseNextParts erases the next page of captures and refunds of an erased transaction, and reports
// whether more are left. Steps after the erasure of the transaction are erased by their age.
func (tx *Tx) eraseNextParts(transaction int64, erase eraseFunc) (erased int64, more bool, err error) {
	row, err := tx.row(lockErasedTransaction, transaction)
	if err != nil {
		return 0, false, err
	}
	var (
		tenant          payment.Tenant
		erasedAt, after int64
	)
	err = row.Scan(&tenant.Merchant, &tenant.Live, &erasedAt)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, tx.endParts(transaction)
	}
	if err != nil {
		return 0, false, fmt.Errorf("read erased transaction: %w", err)
	}
	if row, err = tx.row(lockParts, paymentParts, transaction); err != nil {
		return 0, false, err
	}
	if after, err = scanNumber(row); errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil // another core has erased them
	} else if err != nil {
		return 0, false, err
	}
	page, err := tx.eraseParts(transaction, after, erasedAt, 1, erase)
	if err != nil {
		return 0, false, err
	}
	if err := tx.erasedParts(tenant, transaction, after, page.through); err != nil {
		return 0, false, err
	}
	if page.more {
		return page.erased, true, tx.exec(advanceParts,
			page.through, paymentParts, transaction)
	}
	return page.erased, false, tx.endParts(transaction)
}

func (tx *Tx) endParts(transaction int64) error {
	return tx.exec(endParts, paymentParts, transaction)
}

// erasedParts records that the events of a transaction's captures and refunds must be erased: of
// the ids above after, up to through.
func (tx *Tx) erasedParts(tenant payment.Tenant, transaction, after, through int64) error {
	return tx.exec(insertErasedParts,
		tenant.Merchant, tenant.Live, transaction, toMillis(tx.Now), after, through)
}
