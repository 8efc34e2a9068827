package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"

	"github.com/causeway-pay/causeway/shared/sqlitewal"
)

// Backup writes what is committed at one moment into the file to, which must not exist. It works beside a service that writes: it reads one
// snapshot, and leaves out what was deleted. The file is not synced.
func Backup(ctx context.Context, path, to string) (err error) {
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // SQLite would make it readable to all
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	db, err := openPlain(path, url.Values{"mode": {"rw"}, "_pragma": {"busy_timeout(5000)"}}) // rw, for a reader of a log writes to its index
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, `VACUUM INTO ?`, to); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	return nil
}

// Verify reads all of a database file that nobody has open, and says what is wrong with it, or nil.
func Verify(ctx context.Context, path string) (err error) {
	db, err := openPlain(path, url.Values{"mode": {"ro"}, "immutable": {"1"}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var found string
	if err := db.QueryRowContext(ctx, `PRAGMA integrity_check(1)`).Scan(&found); err != nil {
		return fmt.Errorf("verify %s: %w", path, err)
	}
	if found != "ok" {
		return fmt.Errorf("verify %s: %s", path, found)
	}
	var violations int
	if err := db.QueryRowContext(ctx, `SELECT COUNT(*) FROM pragma_foreign_key_check`).Scan(&violations); err != nil {
		return fmt.Errorf("verify %s: %w", path, err)
	}
	if violations > 0 {
		return fmt.Errorf("verify %s: %d rows refer to rows that are not there", path, violations)
	}
	return nil
}

// openPlain opens a database file past the store, with one connection.
func openPlain(path string, q url.Values) (*sql.DB, error) {
	db, err := sql.Open("sqlite", sqlitewal.Source(path, q))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	return db, nil
}
