package keystore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
)

// ErrNotFound reports a row that does not exist.
var ErrNotFound = errors.New("keystore: not found")

// ErrConflict reports a concurrent change, or a row whose state does not allow the change.
var ErrConflict = errors.New("keystore: conflict")

// Config locates the store.
type Config struct {
	// Source is the path of an SQLite file, or a postgres:// URL.
	Source string
	// PostgreSQL opens a postgres:// URL. Nil in a program without the driver.
	PostgreSQL Opener
	// Existing makes Open return ErrNoStore if there is no store, instead of creating one.
	Existing bool
	Clock    clock.Clock // nil for the system clock
}

// Opener opens a database and migrates its schema to this build's version. With existing it returns
// ErrNoStore instead of creating a store.
type Opener func(ctx context.Context, source string, existing bool) (*Engine, error)

// ErrNoStore reports a source without a key store.
var ErrNoStore = errors.New("keystore: there is no key store")

// Engine is a database, with the differences between SQLite and PostgreSQL.
type Engine struct {
	Write, Read *sql.DB // may be the same pool
	Numbered    bool    // parameters are $1, not ?
	Duplicate   func(error) bool
	Unavailable func(error) bool
	// Verify returns an error if the database's settings could lose a write. query reads a setting.
	// Nil if the settings cannot change.
	Verify func(query func(text string) *sql.Row) error
}

// DB is the store. It is safe for concurrent use, and several processes may open it.
type DB struct {
	write, read *sql.DB
	engine      *Engine
	clock       clock.Clock
}

var errNoPostgres = errors.New("keystore: postgres:// URLs need the driver, which this program lacks: use a file")

var errDSN = errors.New(
	"keystore: the source looks like a database, not a file: want postgres://user:password@host:port/database",
)

// isDSN reports whether a source looks like a database, but is not a postgres:// URL. As a file
// name it would create an empty key store.
func isDSN(source string) bool {
	return strings.Contains(source, "://") || strings.Contains(source, "host=") || strings.Contains(source, "dbname=")
}

// Open opens the store and migrates its schema to this build's version.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	if cfg.Clock == nil {
		cfg.Clock = clock.System()
	}
	var open Opener = openSQLite
	if strings.HasPrefix(cfg.Source, "postgres://") || strings.HasPrefix(cfg.Source, "postgresql://") {
		if open = cfg.PostgreSQL; open == nil {
			return nil, errNoPostgres
		}
	} else if isDSN(cfg.Source) {
		return nil, errDSN // it can contain a password, so the error omits it
	}
	e, err := open(ctx, cfg.Source, cfg.Existing)
	if err != nil {
		return nil, err
	}
	return &DB{write: e.Write, read: e.Read, engine: e, clock: cfg.Clock}, nil
}

// Close closes the store.
func (db *DB) Close() error {
	if db.read == db.write {
		return db.write.Close()
	}
	return errors.Join(db.read.Close(), db.write.Close())
}

// Ping returns an error if the store cannot be read.
func (db *DB) Ping(ctx context.Context) error {
	_, err := db.Revision(ctx)
	return err
}

// IsUnavailable reports whether err means that the store cannot be read or written now, so that a
// retry can succeed.
func (db *DB) IsUnavailable(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, sql.ErrConnDone) || db.engine.Unavailable(err)
}

// Tx is one transaction. Only a Tx writes keys, and transactions of all processes are serialized.
type Tx struct {
	Now      time.Time // of the transaction, in whole milliseconds
	revision int64
	tx       *sql.Tx
	ctx      context.Context //nolint:containedctx // a Tx lives as long as the call that made it
	db       *DB
}

// transactionTimeout bounds one transaction. After it, the outcome of the transaction is unknown:
// the server may be waiting for its standby.
const transactionTimeout = 10 * time.Second

// Update runs fn in one transaction, and commits it if fn returns nil.
func (db *DB) Update(ctx context.Context, fn func(tx *Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, transactionTimeout)
	defer cancel()
	err := db.update(ctx, fn)
	if errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil { // ctx ended, but the driver only reports the rollback
		return fmt.Errorf("%w: %w", err, ctx.Err())
	}
	return err
}

func (db *DB) update(ctx context.Context, fn func(tx *Tx) error) error {
	t, err := db.write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("keystore: begin: %w", err)
	}
	defer t.Rollback()
	if verify := db.engine.Verify; verify != nil {
		if err := verify(func(text string) *sql.Row { return t.QueryRowContext(ctx, text) }); err != nil {
			return fmt.Errorf("keystore: begin: %w", err)
		}
	}
	tx := &Tx{tx: t, ctx: ctx, db: db}
	if err := tx.row(`UPDATE mle_revision SET revision = revision + 1 RETURNING revision`).Scan(&tx.revision); err != nil {
		return fmt.Errorf("keystore: begin: %w", err)
	}
	tx.Now = db.clock.Now().UTC().Truncate(time.Millisecond) // after the lock, so times follow the order of transactions
	if err := fn(tx); err != nil {
		return err
	}
	if err := t.Commit(); err != nil {
		return fmt.Errorf("keystore: commit: %w", err)
	}
	return nil
}

// Revision counts the transactions. While it stays the same, no key has changed.
func (db *DB) Revision(ctx context.Context) (n int64, err error) {
	if err := db.read.QueryRowContext(ctx, `SELECT revision FROM mle_revision`).Scan(&n); err != nil {
		return 0, fmt.Errorf("keystore: revision: %w", err)
	}
	return n, nil
}

// ChangedSince lists the tenants with a change after that revision.
func (db *DB) ChangedSince(ctx context.Context, revision int64) ([]string, error) {
	rows, err := db.read.QueryContext(ctx, db.sql(`SELECT tenant FROM mle_keys WHERE revision > ?
		UNION SELECT tenant FROM mle_response_keys WHERE revision > ?`), revision, revision)
	return collect(rows, err, func(r scanner) (t string, err error) { return t, r.Scan(&t) })
}

// sql converts the placeholders of a statement for the engine. No statement has another question
// mark.
func (db *DB) sql(statement string) string {
	if !db.engine.Numbered {
		return statement
	}
	var b strings.Builder
	for n := 1; ; n++ {
		before, after, found := strings.Cut(statement, "?")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString("$" + strconv.Itoa(n))
		statement = after
	}
}

func (tx *Tx) row(statement string, args ...any) *sql.Row {
	return tx.tx.QueryRowContext(tx.ctx, tx.db.sql(statement), args...)
}

// exec runs a statement and returns the number of changed rows.
func (tx *Tx) exec(statement string, args ...any) (int64, error) {
	r, err := tx.tx.ExecContext(tx.ctx, tx.db.sql(statement), args...)
	if err != nil {
		if tx.db.engine.Duplicate(err) {
			return 0, ErrConflict
		}
		return 0, fmt.Errorf("keystore: %w", err)
	}
	return r.RowsAffected()
}

// one runs a statement that must change one row, or returns ErrConflict.
func (tx *Tx) one(statement string, args ...any) error {
	n, err := tx.exec(statement, args...)
	if err == nil && n != 1 {
		return ErrConflict
	}
	return err
}

type scanner interface{ Scan(into ...any) error }

func collect[T any](rows *sql.Rows, err error, scan func(scanner) (T, error)) ([]T, error) {
	if err != nil {
		return nil, fmt.Errorf("keystore: read: %w", err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err returns the same error
	var out []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("keystore: read: %w", err)
		}
		out = append(out, v)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("keystore: read: %w", err)
	}
	return out, nil
}

func found[T any](v T, err error) (T, error) {
	if errors.Is(err, sql.ErrNoRows) {
		return v, ErrNotFound
	}
	if err != nil {
		return v, fmt.Errorf("keystore: read: %w", err)
	}
	return v, nil
}

// millis converts a time, 0 for none.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// moment is the inverse of millis.
func moment(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
