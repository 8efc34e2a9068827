package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// The captures and refunds of one payment can be so many that no single commit erases them all in
// time. The commit that erases the transaction erases the first page of them, and writes a row of
// delayed_erasures from which the pages after it go on, also after a process that died in between.

const (
	// paymentParts is the name of such a row. Its id is that of the transaction.
	paymentParts = "payment_parts"
	// partsAtOnce is how many captures and refunds a transaction is always erased with.
	partsAtOnce = 16
)

// partPage is the result of a page of captures and refunds.
type partPage struct {
	erased  int64
	through int64 // the last one of the page
	more    bool
}

// partsAfter selects captures and refunds of the transaction ?1 after the id ?2 that are not younger
// than ?3, at most ?4.
var partsAfter = func() string {
	page := func(p personal) string {
		return `SELECT * FROM (SELECT ` + p.columns() + ` FROM ` + p.table + `
			WHERE transaction_id = ?1 AND id > ?2 AND created_at <= ?3 ORDER BY id LIMIT ?4) AS of_` + p.table
	}
	return page(captureData()) + ` UNION ALL ` + page(refundData()) + ` ORDER BY id LIMIT ?4`
}()

func captureData() personal {
	return personal{"captures", "captures", "details", "'capture'", []string{"client_address"}, ""}
}

func refundData() personal {
	return personal{"refunds", "refunds", "details", "'refund'", []string{"client_address"}, ""}
}

// eraseParts erases a page of the captures and refunds of a transaction that the command has locked:
// at least a number of them if there are so many. It leaves those that were created later than a time
// in milliseconds.
func (tx *Tx) eraseParts(transaction, after, created int64, least int, erase Erase) (page partPage, err error) {
	var rows []personalRow
	err = tx.each(partsAfter, func(row Scanner) error {
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
		changed, err := of.erase(tx, r, erase)
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

// queueParts has the captures and refunds of an erased transaction that come after the one through
// erased by the first pass that ends after a time.
func (tx *Tx) queueParts(tenant payment.Tenant, transaction, through int64, due time.Time) error {
	return tx.exec(`INSERT INTO delayed_erasures (name, id, merchant_id, live, due_at, through) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
		ON CONFLICT (name, id) DO UPDATE SET due_at = excluded.due_at, through = excluded.through`,
		paymentParts, transaction, tenant.Merchant, tenant.Live, toMillis(due), through)
}

// parts erases the captures and refunds that wait in delayed_erasures. It gives each payment a page in
// turn until none is left.
func (e *eraser) parts(ctx context.Context) error {
	more := true
	rows := Rows[Due]{
		Kind: "transactions", ID: dueID,
		Change: func(ctx context.Context, part []Due) (int, error) {
			left := false
			n, err := eraseEach(ctx, e, paymentParts, part, func(tx *Tx, d Due) (int64, error) {
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
// whether more are left. Those of steps after the erasure are erased in their turn.
func (tx *Tx) eraseNextParts(transaction int64, erase Erase) (erased int64, more bool, err error) {
	row, err := tx.locked(`SELECT merchant_id, live, erased_at FROM transactions WHERE id = ?`, transaction)
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
	if row, err = tx.locked(`SELECT through FROM delayed_erasures WHERE name = ? AND id = ?`, paymentParts, transaction); err != nil {
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
		return page.erased, true, tx.exec(`UPDATE delayed_erasures SET through = ? WHERE name = ? AND id = ?`,
			page.through, paymentParts, transaction)
	}
	return page.erased, false, tx.endParts(transaction)
}

func (tx *Tx) endParts(transaction int64) error {
	return tx.exec(`DELETE FROM delayed_erasures WHERE name = ? AND id = ?`, paymentParts, transaction)
}

// erasedParts has the events of captures and refunds of a transaction erased too: of those after an id
// up to another.
func (tx *Tx) erasedParts(tenant payment.Tenant, transaction, after, through int64) error {
	return tx.exec(`INSERT INTO erased_objects (merchant_id, live, object_id, erased_at)
		SELECT ?1, ?2, id, ?4 FROM captures WHERE transaction_id = ?3 AND id > ?5 AND id <= ?6
		UNION ALL SELECT ?1, ?2, id, ?4 FROM refunds WHERE transaction_id = ?3 AND id > ?5 AND id <= ?6`+erasedAgain,
		tenant.Merchant, tenant.Live, transaction, toMillis(tx.Now), after, through)
}
