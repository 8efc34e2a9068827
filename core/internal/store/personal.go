package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/core/internal/store/pass"
	"github.com/causeway-pay/causeway/shared/id"
)

var (
	selectPeriods              = declare("selectPeriods")
	selectErasure              = declare("selectErasure")
	saveErasure                = declare("saveErasure")
	lockErasure                = declare("lockErasure")
	lockPersonalTransactions   = declare("lockPersonalTransactions")
	erasePersonalTransactions  = declare("erasePersonalTransactions")
	selectAgedTransactions     = declare("selectAgedTransactions")
	selectDueTransactions      = declare("selectDueTransactions")
	selectErasableTransactions = declare("selectErasableTransactions")
	delayTransactions          = declare("delayTransactions")
	lockPersonalRefunds        = declare("lockPersonalRefunds")
	erasePersonalRefunds       = declare("erasePersonalRefunds")
	selectAgedRefunds          = declare("selectAgedRefunds")
	selectDueRefunds           = declare("selectDueRefunds")
	selectErasableRefunds      = declare("selectErasableRefunds")
	delayRefunds               = declare("delayRefunds")
	lockPersonalEvents         = declare("lockPersonalEvents")
	erasePersonalEvents        = declare("erasePersonalEvents")
	selectAgedEvents           = declare("selectAgedEvents")
	selectDueEvents            = declare("selectDueEvents")
	selectErasableEvents       = declare("selectErasableEvents")
	delayEvents                = declare("delayEvents")
	lockPersonalCustomers      = declare("lockPersonalCustomers")
	erasePersonalCustomers     = declare("erasePersonalCustomers")
	selectAgedCustomers        = declare("selectAgedCustomers")
	selectDueCustomers         = declare("selectDueCustomers")
	selectErasableCustomers    = declare("selectErasableCustomers")
	delayCustomers             = declare("delayCustomers")
	lockPersonalMethods        = declare("lockPersonalMethods")
	erasePersonalMethods       = declare("erasePersonalMethods")
	selectAgedMethods          = declare("selectAgedMethods")
	selectDueMethods           = declare("selectDueMethods")
	selectErasableMethods      = declare("selectErasableMethods")
	delayMethods               = declare("delayMethods")
	erasePersonalCaptures      = declare("erasePersonalCaptures")
)

const (
	day = 24 * time.Hour
	// erasePage is how many rows one commit erases personal data from.
	erasePage = 100
	// eraseLater is the pause before the next attempt, for a transaction with an unfinished step
	// and for a row that could not be erased.
	eraseLater = time.Hour
	// erasuresLock names the lock that excludes a change of a merchant's period while a page of
	// rows is erased.
	erasuresLock = "erasures"
)

// eraseFunc returns data without personal data. kind is "transaction", "capture" or "refund", or
// the type of an event.
type eraseFunc func(kind string, data []byte) []byte

// personal has the statements for one table with personal data.
type personal struct {
	name string
	data bool // the table has a column with data
	// lock reads and locks the row of an id, for scanPersonal. erase empties the client addresses
	// of a row and writes its data, if the table has a column for data.
	lock, erase *Statement
	// page selects the rows of all merchants between two ids, and due only the rows of merchants
	// with one period. erasable selects the tenants of rows, and whether the age of a row decides
	// its erasure.
	page, due, erasable *Statement
	delay               *Statement // writes a row of delayed_erasures
}

// personals returns the tables whose rows are erased by their age. Transactions are not among them:
// they are erased together with their captures and refunds. Customers and payment methods lose only
// their client addresses by age. Their data is erased when the customer is deleted.
func personals() []personal {
	return []personal{
		refundData(),
		eventData(),
		{
			"customers", false, lockPersonalCustomers, erasePersonalCustomers,
			selectAgedCustomers, selectDueCustomers, selectErasableCustomers, delayCustomers,
		},
		{
			"payment_methods", false, lockPersonalMethods, erasePersonalMethods,
			selectAgedMethods, selectDueMethods, selectErasableMethods, delayMethods,
		},
	}
}

// eventData is the table of events, whose data shows an object.
func eventData() personal {
	return personal{
		"events", true, lockPersonalEvents, erasePersonalEvents,
		selectAgedEvents, selectDueEvents, selectErasableEvents, delayEvents,
	}
}

// write stores data and empties the client addresses of one row.
func (p personal) write(tx *Tx, id int64, data string) error {
	if p.data {
		return tx.execOne(p.erase, data, id)
	}
	return tx.execOne(p.erase, id)
}

// ErasePersonal erases the personal data of all rows that are past the period of their merchant,
// and of the transactions of deleted customers. keep is the period in days of merchants without a
// period, 0 for no end. It returns the number of rows changed.
//
// It erases page by page, each in a short commit, and begins after the rows of earlier calls. It
// skips a row that cannot be erased and tries it again after eraseLater. Amounts, states, versions
// and times of change stay.
func (db *DB) ErasePersonal(ctx context.Context, now time.Time, keep int, erase eraseFunc) (erased int64, err error) {
	periods, err := db.periods(ctx, keep)
	if err != nil {
		return 0, err
	}
	e := &eraser{db: db, now: db.confirmed(now), keep: keep, erase: erase, pass: db.BeginPass(pass.Erasure)}
	for _, days := range periods {
		if err := e.aged(ctx, days); err != nil {
			return e.erased, err
		}
	}
	if err = e.delayed(ctx); err == nil {
		err = e.customers(ctx)
	}
	if err == nil {
		err = e.parts(ctx)
	}
	return e.erased, err
}

// ErasePersonalEvents erases the events of transactions that were erased before the age of their
// events. It reads all events of the merchants of these transactions since the oldest of them. Call
// it once a day. A pass that is cut off begins again.
func (db *DB) ErasePersonalEvents(ctx context.Context, now time.Time, erase eraseFunc) (erased int64, err error) {
	e := &eraser{db: db, now: db.confirmed(now), erase: erase, pass: db.BeginPass(pass.Erasure)}
	err = e.events(ctx)
	return e.erased, err
}

// periods returns the periods of all merchants, in days, without duplicates. keep is the period of
// merchants without a period.
func (db *DB) periods(ctx context.Context, keep int) ([]int, error) {
	found, err := backgroundRows(ctx, db, selectPeriods,
		func(row Scanner) (days int, err error) { return days, row.Scan(&days) })
	if err != nil {
		return nil, fmt.Errorf("read periods of merchants: %w", err)
	}
	for _, days := range found {
		if days == keep {
			return found, nil
		}
	}
	if keep > 0 {
		found = append(found, keep)
	}
	return found, nil
}

// eraser is one pass of an erasure.
type eraser struct {
	db     *DB
	now    time.Time
	keep   int
	erase  eraseFunc
	pass   *pass.Pass
	erased int64 // rows so far
}

// commit runs a page as one short commit. The page may run again from its beginning.
func (e *eraser) commit(ctx context.Context, name string, page func(*Tx) (erased int64, err error)) error {
	n := int64(0)
	err := e.db.Update(ctx, func(tx *Tx) (err error) { n, err = page(tx); return err })
	if err != nil {
		return fmt.Errorf("erase personal data of %s: %w", name, err)
	}
	e.erased += n
	return nil
}

// pages commits one page after the other until page reports that no more rows are left.
func (e *eraser) pages(ctx context.Context, name string, page func(*Tx) (erased int64, more bool, err error)) error {
	for more := true; more; {
		err := e.commit(ctx, name, func(tx *Tx) (n int64, err error) { n, more, err = page(tx); return n, err })
		if err != nil || !more {
			return err
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
	return nil
}

// aged erases the rows that are past a period, of the merchants with that period.
func (e *eraser) aged(ctx context.Context, days int) error {
	for _, table := range erasedTables() {
		if err := (&agedTable{eraser: e, table: table, days: days}).run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// erasedTable is a table whose rows are erased by their age.
type erasedTable struct {
	personal
	// aged erases a row that is past its period, and delayed a row that waited in delayed_erasures.
	aged, delayed func(tx *Tx, e *eraser, n int64) (erased int64, err error)
}

func erasedTables() []erasedTable {
	out := []erasedTable{{transactionData(), (*Tx).agedTransaction, (*Tx).delayedTransaction}}
	for _, p := range personals() {
		erase := func(tx *Tx, e *eraser, n int64) (int64, error) { return tx.eraseRow(p, n, e.erase) }
		out = append(out, erasedTable{p, erase, func(tx *Tx, e *eraser, n int64) (int64, error) {
			erased, err := erase(tx, e, n)
			if err == nil {
				err = tx.endDelay(p.name, n, e.now)
			}
			return erased, err
		}})
	}
	return out
}

// agedTable is the erasure of the rows of a table that are past a period.
type agedTable struct {
	*eraser
	table   erasedTable
	days    int
	through int64 // the last row of the pages so far
	moved   bool  // another core, or a change of a period, has changed through: read the page again
}

func (a *agedTable) run(ctx context.Context) error {
	rows := pass.Rows[int64]{Kind: a.table.name, ID: idOf, Change: a.change, Refused: a.delay}
	for more := true; more; {
		page, err := a.page(ctx)
		if err == nil {
			err = rows.Do(ctx, a.pass, page)
		}
		if err != nil {
			return fmt.Errorf("erase personal data of %s: %w", a.table.name, err)
		}
		if more = a.moved || len(page) == erasePage && a.through == page[erasePage-1]; more {
			err = pause(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// page returns the next rows, of all merchants, that are as old as the period.
func (a *agedTable) page(ctx context.Context) ([]int64, error) {
	through, err := backgroundRows(ctx, a.db, selectErasure, scanNumber, a.table.name, a.days)
	if err != nil {
		return nil, err
	}
	a.through, a.moved = slices.Max(append(through, 0)), false
	return backgroundRows(ctx, a.db, a.table.page, scanNumber,
		a.through, id.At(a.now.Add(-time.Duration(a.days)*day)), erasePage)
}

// change erases the first rows of a chunk of the page in one commit. It returns how many rows of
// the chunk the pass has finished.
func (a *agedTable) change(ctx context.Context, chunk []int64) (n int, err error) {
	err = a.passed(ctx, func(tx *Tx) (erased, last int64, err error) {
		last = chunk[len(chunk)-1]
		mine, err := tx.numbers(a.table.due, a.through, last, a.keep, a.days)
		if err != nil {
			return 0, 0, err
		}
		done, err := Each(tx, mine, func(n int64) error {
			changed, err := a.table.aged(tx, a.eraser, n)
			erased += changed
			return err
		})
		if done < len(mine) && err == nil {
			last = mine[done-1]
		}
		n = slices.Index(chunk, last) + 1
		return erased, last, err
	})
	if a.moved {
		n = len(chunk)
	}
	return n, err
}

// delay makes a row that could not be erased due again after eraseLater.
func (a *agedTable) delay(ctx context.Context, n int64) error {
	return a.passed(ctx, func(tx *Tx) (erased, last int64, err error) {
		return 0, n, tx.delayErasure(a.table.personal, n, a.now.Add(eraseLater))
	})
}

// passed runs fn, which returns the last row that it has finished, and stores that row in the same
// commit. It does nothing if another core has finished the rows meanwhile, or a period was changed.
func (a *agedTable) passed(ctx context.Context, fn func(*Tx) (erased, last int64, err error)) error {
	if a.moved {
		return nil
	}
	moved, last := false, int64(0)
	err := a.commit(ctx, a.table.name, func(tx *Tx) (int64, error) {
		if err := tx.lock(erasuresLock, 0); err != nil {
			return 0, err
		}
		through, err := tx.erasedThrough(a.table.name, a.days)
		if moved = through != a.through; err != nil || moved {
			return 0, err
		}
		var erased int64
		if erased, last, err = fn(tx); err != nil {
			return 0, err
		}
		return erased, tx.exec(saveErasure, a.table.name, a.days, last)
	})
	if err != nil {
		return err
	}
	if a.moved = moved; !moved {
		a.through = last
	}
	return nil
}

func (tx *Tx) erasedThrough(name string, days int) (through int64, err error) {
	row, err := tx.row(lockErasure, name, days)
	if err != nil {
		return 0, err
	}
	if err := row.Scan(&through); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("read erasure: %w", err)
	}
	return through, nil
}

// personalRow is a row as lock or selectParts of a table returns it.
type personalRow struct {
	id         int64
	kind, data string
	addressed  bool // the row has a client address, or the customer of a refund
}

func scanPersonal(row Scanner) (r personalRow, err error) {
	if err := row.Scan(&r.id, &r.kind, &r.data, &r.addressed); err != nil {
		return r, fmt.Errorf("read personal data: %w", err)
	}
	return r, nil
}

// eraseRow erases the personal data of the row with an id, and returns the number of rows changed.
func (tx *Tx) eraseRow(p personal, n int64, erase eraseFunc) (erased int64, err error) {
	row, err := tx.row(p.lock, n)
	if err != nil {
		return 0, err
	}
	r, err := scanPersonal(row)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return p.eraseFrom(tx, r, erase)
}

// eraseFrom erases the personal data of a row. It returns 0 if the row has none.
func (p personal) eraseFrom(tx *Tx, r personalRow, erase eraseFunc) (erased int64, err error) {
	next := r.data
	if r.data != "" {
		next = string(erase(r.kind, []byte(r.data)))
	}
	if next == r.data && !r.addressed {
		return 0, nil
	}
	return 1, p.write(tx, r.id, next)
}
