package postgres

import (
	"database/sql"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// columns reads rows as the store wants them: flags are small integers, as in SQLite.
type columns struct {
	row pgx.Row
	of  failer
}

// failer names what came of a statement.
type failer interface {
	fail(what string, err error) error
}

// Scan implements store.Scanner.
func (c columns) Scan(dest ...any) error {
	var flags []flag
	for i, d := range dest {
		b, ok := d.(*bool)
		if !ok {
			continue
		}
		if flags == nil {
			dest = append([]any(nil), dest...) // the caller's stays as it is
			flags = make([]flag, 0, len(dest))
		}
		flags = append(flags, flag{to: b})
		dest[i] = &flags[len(flags)-1]
	}
	if err := c.row.Scan(dest...); errors.Is(err, pgx.ErrNoRows) {
		return sql.ErrNoRows
	} else if err != nil {
		return c.of.fail("read", err)
	}
	return nil
}

// flag is a bool that is read of a bool or of an integer.
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
