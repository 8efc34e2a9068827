package keystore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite" // pure Go, so a build needs no C compiler

	"github.com/causeway-pay/causeway/shared/sqlitewal"
)

// readers bounds the read pool of SQLite.
const readers = 4

func openSQLite(ctx context.Context, path string, existing bool) (*Engine, error) {
	return openSQLiteOn(ctx, path, "", existing)
}

// openSQLiteOn opens a file on a VFS; "" is the system's.
func openSQLiteOn(ctx context.Context, path, vfs string, existing bool) (*Engine, error) {
	prepare := sqlitewal.Create
	if existing {
		prepare = func(path string) error { return lookFor(ctx, path) }
	}
	if err := prepare(path); err != nil {
		return nil, fmt.Errorf("keystore: open %s: %w", path, err)
	}
	write := connect(sqlitewal.Writing(path, vfs))
	write.SetMaxOpenConns(1)
	if err := Migrate(ctx, write, goose.DialectSQLite3, "sqlite"); err != nil {
		return nil, errors.Join(err, write.Close())
	}
	read := connect(sqlitewal.Reading(path, vfs))
	read.SetMaxOpenConns(readers)
	read.SetMaxIdleConns(readers)
	return &Engine{Write: write, Read: read, Duplicate: sqlitewal.Duplicate, Unavailable: sqlitewal.Unavailable}, nil
}

// connect returns a pool of connections whose commits are durable.
func connect(dsn string) *sql.DB {
	return sql.OpenDB(sqlitewal.Connector{SQLite: &sqlite.Driver{}, DSN: dsn})
}

// lookFor returns ErrNoStore if the file does not exist or is not a key store. It does not change
// the file.
func lookFor(ctx context.Context, path string) (err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return ErrNoStore
	} else if err != nil {
		return err
	}
	db, err := sql.Open("sqlite", sqlitewal.Reading(path, ""))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var ours bool
	if err := db.QueryRowContext(
		ctx, `SELECT COUNT(*) > 0 FROM sqlite_master WHERE name = 'mle_revision'`,
	).Scan(&ours); err != nil {
		return err
	}
	if !ours {
		return ErrNoStore
	}
	return nil
}
