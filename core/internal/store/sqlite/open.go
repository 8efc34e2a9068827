package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"modernc.org/sqlite" // pure Go, so a fresh checkout needs Go alone

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/sqlitewal"
)

// walPages is the number of pages in the write-ahead log from which a commit also checkpoints. It
// is above SQLite's default of 1000, because a checkpoint delays the writer.
const walPages = 4000

// The pragmas of the store, in addition to the pragmas of sqlitewal.
var (
	writePragmas = []string{
		"cache_size(-7000)", fmt.Sprintf("wal_autocheckpoint(%d)", walPages),
		// The log shrinks to this size when SQLite writes it from its beginning again.
		fmt.Sprintf("journal_size_limit(%d)", maxLog),
	}
	readPragmas = []string{"cache_size(-2000)"}
)

// connector prepares each connection before its first use.
type connector struct {
	sqlitewal.Connector
	prepare func(context.Context, driver.Conn) error
}

// Connect implements driver.Connector.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.prepare(ctx, conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// openPools opens the writing connection and the read pools of a file. vfs is the VFS of
// sqlitewal.Writing.
func openPools(ctx context.Context, path, vfs string) (write *sql.DB, read pools, err error) {
	if err := sqlitewal.Create(path); err != nil {
		return nil, nil, fmt.Errorf("open %s: %w", path, err)
	}
	connect := func(dsn string, prepare func(context.Context, driver.Conn) error) *sql.DB {
		c := sqlitewal.Connector{SQLite: &sqlite.Driver{}, DSN: dsn}
		return sql.OpenDB(connector{c, prepare})
	}
	// A reader attaches codes.db at its first read: by then the writer has created the file.
	read = pools{}
	attach := func(ctx context.Context, c driver.Conn) error { return AttachCodes(ctx, c, path) }
	for _, p := range store.Purposes() {
		read[p] = newPool(p, connect(sqlitewal.Reading(path, vfs, readPragmas...), attach))
	}
	write = connect(sqlitewal.Writing(path, vfs, writePragmas...), func(ctx context.Context, c driver.Conn) error {
		return makeCodes(ctx, c, path)
	})
	write.SetMaxOpenConns(1)
	if err := write.PingContext(ctx); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open %s: %w", path, err), read.Close(), write.Close())
	}
	return write, read, nil
}
