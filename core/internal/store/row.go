package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// scanNumber returns the number in a row.
func scanNumber(row Scanner) (n int64, err error) {
	if err := row.Scan(&n); err != nil {
		return 0, fmt.Errorf("read number: %w", err)
	}
	return n, nil
}

// scanOne returns the number in a row. It returns ErrConflict if there is no row.
func scanOne(row Scanner) (int64, error) {
	n, err := scanNumber(row)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, ErrConflict
	}
	return n, err
}

// numbers runs a query for ids.
func (tx *Tx) numbers(s *Statement, args ...any) (out []int64, err error) {
	err = tx.each(s, func(row Scanner) error {
		n, err := scanNumber(row)
		out = append(out, n)
		return err
	}, args...)
	return out, err
}

// holds returns the truth value that a query finds.
func (db *DB) holds(ctx context.Context, s *Statement, args ...any) (bool, error) {
	var found bool
	if err := db.backgroundRow(ctx, s, args...).Scan(&found); err != nil {
		return false, fmt.Errorf("look for rows: %w", err)
	}
	return found, nil
}

// wider is a row with one more column.
type wider struct {
	row  Scanner
	last any
}

// Scan implements Scanner.
func (w wider) Scan(dest ...any) error { return w.row.Scan(append(dest, w.last)...) }
