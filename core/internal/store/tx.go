package store

import (
	"strconv"
	"time"

	"github.com/causeway-pay/causeway/shared/telemetry"
)

// Tx is one command. It is valid only while the function it was given to runs.
type Tx struct {
	s  Session
	db *DB
	// Now is the command's time, UTC with milliseconds: every row of one commit has the same.
	Now time.Time

	began time.Duration // by clock.Monotonic
	rows  int           // that Each has changed

	from     telemetry.Origin // the span it was asked for in
	delivers bool
	wrote    bool
}

// exec runs a statement that returns no rows.
func (tx *Tx) exec(text string, args ...any) error {
	_, err := tx.s.Exec(text, args...)
	return err
}

// changed runs a statement and returns how many rows it met.
func (tx *Tx) changed(text string, args ...any) (int64, error) {
	n, err := tx.s.Exec(text, args...)
	tx.wrote = tx.wrote || n > 0
	return n, err
}

// change runs an update that must meet exactly one row, else ErrConflict.
func (tx *Tx) change(text string, args ...any) error {
	n, err := tx.changed(text, args...)
	if err == nil && n != 1 {
		err = ErrConflict
	}
	return err
}

// nullable returns the argument of a statement for a number, NULL for nil.
func nullable(n *int64) any {
	if n == nil {
		return nil
	}
	return *n
}

// insert runs an insert and returns ErrDuplicate when the id is taken.
func (tx *Tx) insert(text string, args ...any) error {
	err := tx.s.Insert(text, args...)
	tx.wrote = tx.wrote || err == nil
	return err
}

// overwrite runs a statement that writes over bytes which a statement behind it removes, where that helps.
func (tx *Tx) overwrite(text string, args ...any) error {
	if !tx.s.Dialect().Overwrites {
		return nil
	}
	return tx.exec(text, args...)
}

// row runs a statement for at most one row.
func (tx *Tx) row(text string, args ...any) (Scanner, error) { return tx.s.Row(text, args...) }

// locked is row for a SELECT of one row by which the command decides: the row stays as it is until the command has ended.
func (tx *Tx) locked(text string, args ...any) (Scanner, error) {
	return tx.s.Row(text+tx.s.Dialect().Lock, args...)
}

// lock keeps out every other command that locks the same kind of thing under the same number, until this one has ended: for rules over several
// rows, such as how many there may be.
func (tx *Tx) lock(kind string, n int64) error {
	if !tx.db.shared {
		return nil
	}
	return tx.s.Lock(kind+strconv.FormatInt(n, 10), false)
}

// each runs a statement and hands every row to scan.
func (tx *Tx) each(text string, scan func(Scanner) error, args ...any) error {
	return tx.s.Each(text, scan, args...)
}

// whole runs fn so that the command can go on after its failure as if fn had not run.
func (tx *Tx) whole(fn func() error) error { return tx.s.Whole(fn) }
