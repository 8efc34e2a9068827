package sqlitewal

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/causeway-pay/causeway/shared/durable"
)

// busyTimeout is how long a statement waits for a lock of another connection.
const busyTimeout = "busy_timeout(5000)"

// memoryOnly keeps the old pages of savepoints, sorted rows and the like in memory. By default,
// SQLite writes them to the system's folder for temporary files, where their bytes stay.
const memoryOnly = "temp_store(MEMORY)"

// flushes is PRAGMA synchronous = FULL as SQLite returns it: each commit is flushed to the disk.
// EXTRA, which is higher, flushes more.
const flushes = 2

// ErrNotDurable reports a connection on which commits could be lost.
var ErrNotDurable = errors.New("sqlite: commits are not durable")

// Connector opens connections for database/sql. Each must have journal_mode = wal and synchronous =
// FULL in effect. Otherwise the error is ErrNotDurable. SQLite keeps another journal mode silently
// if a file system has no shared memory. The DSN sets them by _pragma.
type Connector struct {
	SQLite driver.Driver
	DSN    string
}

// Source returns the DSN of a database file. It is a URI in which the path is escaped, so that no
// character of it begins the parameters or a fragment.
func Source(path string, parameters url.Values) string {
	file := (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()
	return (&url.URL{Scheme: "file", Opaque: file, RawQuery: parameters.Encode()}).String()
}

// Writing returns the DSN of a connection that writes to the file at path, on a VFS of SQLite or ""
// for the system's. Pragmas are part of the DSN because database/sql would apply an Exec to one
// pooled connection only.
func Writing(path, vfs string, pragmas ...string) string {
	return source(path, vfs, url.Values{"_txlock": {"immediate"}, "_pragma": append([]string{
		busyTimeout, "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)",
		"secure_delete(ON)", // overwrites all removed bytes with zeroes, pages that become free included
		memoryOnly,
	}, pragmas...)})
}

// Reading returns the DSN of a connection that only reads. It takes the arguments of Writing.
func Reading(path, vfs string, pragmas ...string) string {
	return source(path, vfs, url.Values{"_pragma": append([]string{
		busyTimeout, "query_only(1)", memoryOnly,
	}, pragmas...)})
}

func source(path, vfs string, q url.Values) string {
	if vfs != "" {
		q.Set("vfs", vfs)
	}
	return Source(path, q)
}

// Create creates the file at path, readable by its owner only. SQLite would create it readable to
// all. The log and the shared memory get the mode and owner of the file. Create does not open an
// existing file, because closing it would drop the locks that this process holds on it.
func Create(path string) error {
	f, err := durable.OpenFile(path, os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// Connect implements driver.Connector.
func (c Connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.SQLite.Open(c.DSN)
	if err != nil {
		return nil, err
	}
	if err := verify(ctx, conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// Driver implements driver.Connector.
func (c Connector) Driver() driver.Driver { return c.SQLite }

func verify(ctx context.Context, conn driver.Conn) error {
	mode, err := pragma(ctx, conn, "journal_mode")
	if err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("%w: journal_mode is %v, not wal: keep the file on a local file system", ErrNotDurable, mode)
	}
	level, err := pragma(ctx, conn, "synchronous")
	if err != nil {
		return err
	}
	if n, ok := level.(int64); !ok || n < flushes {
		return fmt.Errorf("%w: synchronous is %v, want FULL (%d)", ErrNotDurable, level, flushes)
	}
	return nil
}

// pragma reads the effective value of a pragma.
func pragma(ctx context.Context, conn driver.Conn, name string) (value driver.Value, err error) {
	q, ok := conn.(driver.QueryerContext)
	if !ok {
		return nil, errors.New("sqlite: the driver has no queries with a context")
	}
	rows, err := q.QueryContext(ctx, "PRAGMA "+name, nil)
	if err != nil {
		return nil, fmt.Errorf("sqlite: read %s: %w", name, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := make([]driver.Value, len(rows.Columns()))
	if err := rows.Next(row); err != nil {
		return nil, fmt.Errorf("sqlite: read %s: %w", name, err)
	}
	if text, ok := row[0].([]byte); ok {
		return string(text), nil
	}
	return row[0], nil
}
