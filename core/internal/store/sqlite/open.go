package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"

	"modernc.org/sqlite" // pure Go, so a fresh checkout needs Go alone

	"github.com/causeway-pay/causeway/shared/durable"
	"github.com/causeway-pay/causeway/shared/sqlitewal"
)

// walPages is after how many WAL pages a commit also checkpoints. It is larger than SQLite's 1000
// because the writer pays for it.
const walPages = 4000

// readers bounds the read pool.
const readers = 4

// dsn returns the data source name of a file on a VFS of SQLite, "" for that of the system. Pragmas
// are part of it because database/sql would apply an Exec to one pooled connection only.
func dsn(path, vfs string, readOnly bool) string {
	q := url.Values{"_pragma": {
		"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "cache_size(-10000)",
		"secure_delete(ON)", // overwrites all removed bytes with zeroes, pages that become free included
		fmt.Sprintf("wal_autocheckpoint(%d)", walPages),
	}}
	if readOnly {
		q["_pragma"] = []string{"busy_timeout(5000)", "query_only(1)", "cache_size(-2000)"}
	} else {
		q.Set("_txlock", "immediate")
	}
	if vfs != "" {
		q.Set("vfs", vfs)
	}
	return sqlitewal.Source(path, q)
}

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

// openPools opens the writing connection and the read pool of a file. vfs is as in dsn.
func openPools(ctx context.Context, path, vfs string) (write, read *sql.DB, err error) {
	if err := makePrivate(path); err != nil {
		return nil, nil, fmt.Errorf("open %s: %w", path, err)
	}
	connect := func(readOnly bool, prepare func(context.Context, driver.Conn) error) *sql.DB {
		c := sqlitewal.Connector{SQLite: &sqlite.Driver{}, DSN: dsn(path, vfs, readOnly)}
		return sql.OpenDB(connector{c, prepare})
	}
	// The readers attach the codes at the first read, when the writer has made that file.
	read = connect(true, func(ctx context.Context, c driver.Conn) error { return AttachCodes(ctx, c, path) })
	read.SetMaxOpenConns(readers)
	read.SetMaxIdleConns(readers)
	write = connect(false, func(ctx context.Context, c driver.Conn) error { return makeCodes(ctx, c, path) })
	write.SetMaxOpenConns(1)
	if err := write.PingContext(ctx); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open %s: %w", path, err), read.Close(), write.Close())
	}
	return write, read, nil
}

// makePrivate makes the file if there is none: SQLite would make it readable to all, and its log and
// shared memory take the file's mode and owner. It does not touch a file that exists, because closing that would
// drop the locks that this process holds on it.
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
