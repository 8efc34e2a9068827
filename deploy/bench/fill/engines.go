package fill

import (
	"context"
	"crypto/md5" //nolint:gosec // as PostgreSQL computes it, to draw keys
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"modernc.org/sqlite" // the driver, and its functions

	"github.com/causeway-pay/causeway/deploy/bench/bare"
)

var lite = engine{
	tables:  []string{"transactions", "captures", "events", "transaction_terms", "idempotency_keys"},
	columns: `SELECT name FROM pragma_table_info('%s') ORDER BY cid`,
}

var server = engine{
	tables: append(append([]string{}, lite.tables...), "webhook_deliveries"),
	columns: `SELECT attname FROM pg_attribute WHERE attrelid = '%s'::regclass AND attnum > 0 AND NOT attisdropped
		ORDER BY attnum`,
}

// SQLiteRows and PostgresRows are the numbers of rows of a copy, over all tables.
var (
	SQLiteRows   = len(lite.tables)
	PostgresRows = len(server.tables)
)

// Postgres adds copies to a database of PostgreSQL, vacuums it and writes it to the disk.
func Postgres(ctx context.Context, run Statements, c Copies) error {
	if err := server.fill(ctx, run, c); err != nil {
		return fmt.Errorf("fill PostgreSQL: %w", err)
	}
	_, err := run(ctx, "VACUUM (FREEZE, ANALYZE)", "CHECKPOINT")
	return err
}

// The pragmas of a filling. A file whose filling fails is lost, so the file gets durable at the end
// only.
var pragmas = []string{
	"journal_mode(OFF)", "synchronous(OFF)", "locking_mode(EXCLUSIVE)", "cache_size(-600000)", "temp_store(MEMORY)",
}

// SQLite adds copies to the database file at path, which no other process uses.
func SQLite(ctx context.Context, path string, c Copies) error {
	if err := register(); err != nil {
		return fmt.Errorf("fill %s: %w", path, err)
	}
	db, err := sql.Open("sqlite", bare.DSN(path, pragmas...))
	if err != nil {
		return fmt.Errorf("fill %s: %w", path, err)
	}
	db.SetMaxOpenConns(1) // a temporary table belongs to one connection
	run := func(ctx context.Context, statements ...string) (string, error) { return liteRun(ctx, db, statements) }
	if err := errors.Join(lite.fill(ctx, run, c), db.Close()); err != nil {
		return fmt.Errorf("fill %s: %w", path, err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("fill %s: %w", path, err)
	}
	return errors.Join(f.Sync(), f.Close())
}

// liteRun implements Statements.
func liteRun(ctx context.Context, db *sql.DB, statements []string) (string, error) {
	var out []string
	for _, text := range statements {
		values, err := bare.Texts(ctx, db, text)
		if err != nil {
			return "", err
		}
		out = append(out, values...)
	}
	return strings.Join(out, "\n"), nil
}

// register adds the functions to SQLite that only PostgreSQL has.
var register = sync.OnceValue(func() error {
	spread := func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		n, ok := args[0].(int64)
		seed, also := args[1].(int64)
		if !ok || !also {
			return nil, fmt.Errorf("hashint8extended of %v", args)
		}
		return int64(bare.Mix(uint64(n) ^ uint64(seed)<<48)), nil
	}
	sum := func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		of := md5.Sum(fmt.Append(nil, args[0])) //nolint:gosec // as PostgreSQL computes it, to draw keys
		return hex.EncodeToString(of[:]), nil
	}
	return errors.Join(
		sqlite.RegisterDeterministicScalarFunction("hashint8extended", 2, spread),
		sqlite.RegisterDeterministicScalarFunction("md5", 1, sum),
	)
})
