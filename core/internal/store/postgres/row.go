package postgres

import (
	"database/sql"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// scanner scans a row into the types of the store. Flags are small integers, as in SQLite.
type scanner struct {
	row pgx.Row
	of  failer
}

// failer wraps the error of a statement.
type failer interface {
	fail(what string, err error) error
}

// Scan implements store.Scanner.
func (s scanner) Scan(dest ...any) error {
	var flags []flag
	for i, d := range dest {
		b, ok := d.(*bool)
		if !ok {
			continue
		}
		if flags == nil {
			dest = append([]any(nil), dest...) // dest is the caller's
			flags = make([]flag, 0, len(dest))
		}
		flags = append(flags, flag{to: b})
		dest[i] = &flags[len(flags)-1]
	}
	if err := s.row.Scan(dest...); errors.Is(err, pgx.ErrNoRows) {
		return sql.ErrNoRows
	} else if err != nil {
		return s.of.fail("read", err)
	}
	return nil
}

// flag scans a bool from a column of booleans or of integers.
type flag struct{ to *bool }

// ScanInt64 implements pgtype.Int64Scanner.
func (f *flag) ScanInt64(v pgtype.Int8) error {
	*f.to = v.Int64 != 0
	return nil
}

// ScanBool implements pgtype.BoolScanner.
func (f *flag) ScanBool(v pgtype.Bool) error {
	*f.to = v.Bool
	return nil
}
