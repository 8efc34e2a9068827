package keystore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite" // pure Go, so a fresh checkout needs Go alone
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/causeway-pay/causeway/shared/durable"
	"github.com/causeway-pay/causeway/shared/sqlitewal"
)

// readers bounds the read pool of SQLite.
const readers = 4

// sqliteDSN returns the data source name of a file on a VFS of SQLite, "" for that of the system.
// Pragmas are part of it because database/sql would apply an Exec to one pooled connection only.
func sqliteDSN(path, vfs string, readOnly bool) string {
	q := url.Values{"_pragma": {
		"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)",
		"secure_delete(ON)", // a private key that was taken out leaves no copy in the file
	}}
	if readOnly {
		q["_pragma"] = []string{"busy_timeout(5000)", "query_only(1)"}
	} else {
		q.Set("_txlock", "immediate")
	}
	if vfs != "" {
		q.Set("vfs", vfs)
	}
	return sqlitewal.Source(path, q)
}

func openSQLite(ctx context.Context, path string, existing bool) (*Engine, error) {
	return openSQLiteOn(ctx, path, "", existing)
}

// openSQLiteOn is openSQLite for a file on a VFS, as sqliteDSN has it.
func openSQLiteOn(ctx context.Context, path, vfs string, existing bool) (*Engine, error) {
	prepare := makePrivate
	if existing {
		prepare = func(path string) error { return lookFor(ctx, path) }
	}
	if err := prepare(path); err != nil {
		return nil, fmt.Errorf("keystore: open %s: %w", path, err)
	}
	write := connect(path, vfs, false)
	write.SetMaxOpenConns(1)
	if err := Migrate(ctx, write, goose.DialectSQLite3, "sqlite"); err != nil {
		return nil, errors.Join(err, write.Close())
	}
	read := connect(path, vfs, true)
	read.SetMaxOpenConns(readers)
	read.SetMaxIdleConns(readers)
	return &Engine{Write: write, Read: read, Duplicate: sqliteDuplicate, Unavailable: sqliteUnavailable}, nil
}

// connect returns a pool of connections whose commits are durable.
func connect(path, vfs string, readOnly bool) *sql.DB {
	return sql.OpenDB(sqlitewal.Connector{SQLite: &sqlite.Driver{}, DSN: sqliteDSN(path, vfs, readOnly)})
}

// makePrivate makes the file where there is none: SQLite would make it readable to all.
func makePrivate(path string) error {
	f, err := durable.OpenFile(path, os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// lookFor refuses a file that is not there, or is not one of ours, and leaves it as it is.
func lookFor(ctx context.Context, path string) (err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return ErrNoStore
	} else if err != nil {
		return err
	}
	db, err := sql.Open("sqlite", sqliteDSN(path, "", true))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var ours bool
	if err := db.QueryRowContext(ctx, `SELECT COUNT(*) > 0 FROM sqlite_master WHERE name = 'mle_revision'`).Scan(&ours); err != nil {
		return err
	}
	if !ours {
		return ErrNoStore
	}
	return nil
}

func sqliteDuplicate(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && (e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY)
}

func sqliteUnavailable(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_READONLY,
		sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM:
		return true
	}
	return false
}
