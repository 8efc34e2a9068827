package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"

	"github.com/causeway-pay/causeway/shared/durable"
	"github.com/causeway-pay/causeway/shared/sqlitewal"
)

// Backup writes the rows that are committed at one moment into the file to, which must not exist. A
// service can write meanwhile: Backup reads one snapshot. Until it ends, the service cannot empty
// its write-ahead log, which grows by all writes. Deleted bytes are not copied. The file is not
// synced.
func Backup(ctx context.Context, path, to string) (err error) {
	f, err := durable.OpenFile(to, os.O_EXCL|os.O_WRONLY, 0o600) // SQLite would create it readable to all
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	// rw, because a reader of the write-ahead log writes to its index.
	db, err := openPlain(path, url.Values{"mode": {"rw"}, "_pragma": {"busy_timeout(5000)"}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, `VACUUM INTO ?`, to); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	return nil
}

// Verify reads all of a database file that no process has open. It returns an error if the file is
// damaged.
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
		return fmt.Errorf("verify %s: %d rows refer to missing rows", path, violations)
	}
	return nil
}

// BackupHoldsSealed reports whether a database file that no process has open holds anything that
// the vault's keys encrypt.
func BackupHoldsSealed(ctx context.Context, path string) (found bool, err error) {
	db, err := openPlain(path, url.Values{"mode": {"ro"}, "immutable": {"1"}})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.QueryRowContext(ctx, vaultSQL["sealedExist"]).Scan(&found); err != nil {
		return false, fmt.Errorf("look for sealed rows: %w", err)
	}
	return found, nil
}

// openPlain opens a database file without the store, on one connection.
func openPlain(path string, q url.Values) (*sql.DB, error) {
	db, err := sql.Open("sqlite", sqlitewal.Source(path, q))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	return db, nil
}
