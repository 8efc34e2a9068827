package store

import (
	"context"
	"errors"
	"io/fs"

	"github.com/pressly/goose/v3"
)

// MigrateTo makes the database file at path with the schema of an older version.
func MigrateTo(ctx context.Context, path string, version int64) error {
	write, read, _, err := openSQLite(ctx, path)
	if err != nil {
		return err
	}
	dir, err := fs.Sub(migrations, "migration")
	if err == nil {
		var p *goose.Provider
		if p, err = goose.NewProvider(goose.DialectSQLite3, write, dir); err == nil {
			_, err = p.UpTo(ctx, version)
		}
	}
	return errors.Join(err, read.Close(), write.Close())
}

// MaxQueue is how many may.
const MaxQueue = maxQueue

// Closing reports whether the store takes no more commands.
func (db *DB) Closing() bool {
	db.mu.RLock()
	defer db.mu.RUnlock()
	return db.closed
}

// Exec runs any statement as part of the command.
func (tx *Tx) Exec(text string, args ...any) error { return tx.w.exec(text, args...) }
