package store

import (
	"slices"
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
func (tx *Tx) exec(s *Statement, args ...any) error {
	_, err := tx.s.Exec(s, args...)
	return err
}

// changed runs a statement and returns how many rows it met.
func (tx *Tx) changed(s *Statement, args ...any) (int64, error) {
	n, err := tx.s.Exec(s, args...)
	tx.wrote = tx.wrote || n > 0
	return n, err
}

// changedEach runs a statement for each list of arguments, and returns how many rows each run met.
func (tx *Tx) changedEach(s *Statement, args [][]any) ([]int64, error) {
	if len(args) == 0 {
		return nil, nil
	}
	counts, err := tx.s.ExecEach(s, args)
	tx.wrote = tx.wrote || slices.Max(append(counts, 0)) > 0
	return counts, err
}

// change runs an update that must meet exactly one row, else ErrConflict.
func (tx *Tx) change(s *Statement, args ...any) error {
	n, err := tx.changed(s, args...)
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
func (tx *Tx) insert(s *Statement, args ...any) error {
	err := tx.s.Insert(s, args...)
	tx.wrote = tx.wrote || err == nil
	return err
}

// overwrite runs a statement that writes over bytes which a later statement removes, in an engine where
// that helps.
func (tx *Tx) overwrite(s *Statement, args ...any) error { return tx.s.Overwrite(s, args...) }

// row runs a statement for at most one row.
func (tx *Tx) row(s *Statement, args ...any) (Scanner, error) { return tx.s.Row(s, args...) }

// lock keeps out every other command that locks the same kind of thing under the same number, until this one has ended: for rules over several
// rows, such as how many there may be.
func (tx *Tx) lock(kind string, n int64) error {
	return tx.s.Lock(kind+strconv.FormatInt(n, 10), false)
}

// each runs a statement and hands every row to scan.
func (tx *Tx) each(s *Statement, scan func(Scanner) error, args ...any) error {
	return tx.s.Each(s, scan, args...)
}

// whole runs fn so that the command can go on after its failure as if fn had not run.
func (tx *Tx) whole(fn func() error) error { return tx.s.Whole(fn) }
