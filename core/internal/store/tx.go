package store

import (
	"slices"
	"strconv"
	"time"

	"github.com/causeway-pay/causeway/shared/telemetry"
)

// Tx is one command. It is valid only while the function that received it runs.
type Tx struct {
	s  Session
	db *DB
	// Now is the command's time, in UTC and whole milliseconds. All rows of one commit have the
	// same time.
	Now time.Time

	began time.Duration // by clock.Monotonic
	rows  int           // number of rows that Each has changed

	from     telemetry.Origin // the span of the request
	delivers bool             // it has inserted deliveries
	wrote    bool             // it has written rows
}

// exec runs a statement that returns no rows.
func (tx *Tx) exec(s *Statement, args ...any) error {
	_, err := tx.s.Exec(s, args...)
	return err
}

// execCount runs a statement and returns how many rows it changed.
func (tx *Tx) execCount(s *Statement, args ...any) (int64, error) {
	n, err := tx.s.Exec(s, args...)
	tx.wrote = tx.wrote || n > 0
	return n, err
}

// execEach runs a statement for each list of arguments, and returns how many rows each run
// changed.
func (tx *Tx) execEach(s *Statement, args [][]any) ([]int64, error) {
	if len(args) == 0 {
		return nil, nil
	}
	counts, err := tx.s.ExecEach(s, args)
	tx.wrote = tx.wrote || slices.Max(append(counts, 0)) > 0
	return counts, err
}

// execOne runs a statement that must change exactly one row, else ErrConflict.
func (tx *Tx) execOne(s *Statement, args ...any) error {
	n, err := tx.execCount(s, args...)
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

// insert runs an insert. It returns ErrDuplicate if the id is taken.
func (tx *Tx) insert(s *Statement, args ...any) error {
	err := tx.s.Insert(s, args...)
	tx.wrote = tx.wrote || err == nil
	return err
}

// overwrite is Session.Overwrite.
func (tx *Tx) overwrite(s *Statement, args ...any) error { return tx.s.Overwrite(s, args...) }

// row runs a query for at most one row.
func (tx *Tx) row(s *Statement, args ...any) (Scanner, error) { return tx.s.Row(s, args...) }

// lock makes each other command that locks the same kind and number wait until this one has ended.
// It is for rules about several rows, such as how many may exist.
func (tx *Tx) lock(kind string, n int64) error {
	return tx.s.Lock(kind+strconv.FormatInt(n, 10), false)
}

// each runs a query and calls scan for every row.
func (tx *Tx) each(s *Statement, scan func(Scanner) error, args ...any) error {
	return tx.s.Each(s, scan, args...)
}

// savepoint is Session.Savepoint.
func (tx *Tx) savepoint(fn func() error) error { return tx.s.Savepoint(fn) }
