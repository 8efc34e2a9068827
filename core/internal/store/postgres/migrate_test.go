package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/postgres"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/secret"
)

// insertCustomer inserts a customer with an id.
const insertCustomer = `INSERT INTO customers (id, merchant_id, live, details, version, created_at, updated_at)
	VALUES (%d, 1, 0, '{}', 1, 1, 1)`

func TestMain(m *testing.M) { pgtest.Main(m) }

func mustConnect(t *testing.T, at string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func mustExec(t *testing.T, db *sql.DB, text string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), text); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func mustScan(t *testing.T, db interface {
	QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row
}, text string, to any,
) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), text).Scan(to); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// patient lets a busy machine connect.
const patient = "&patience=30s"

func mustOpen(t *testing.T, at string) *store.DB {
	t.Helper()
	db, err := postgres.Open(t.Context(), at+patient, clock.System())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// TestMigrateAtOncePostgreSQL: several processes migrate an empty database at the same time. Each
// succeeds, and each step ran once.
func TestMigrateAtOncePostgreSQL(t *testing.T) {
	t.Parallel()
	at := pgtest.Schema(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := postgres.Migrate(t.Context(), secret.New(at)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	var steps, versions int64
	const applied = "SELECT COUNT(*), COUNT(DISTINCT version_id) FROM core_schema WHERE version_id > 0"
	err := mustConnect(t, at).QueryRowContext(t.Context(), applied).Scan(&steps, &versions)
	if want, _ := postgres.SchemaVersion(); err != nil || steps != want || versions != want {
		t.Errorf("got %d steps of %d versions, %v, want %d", steps, versions, err, want)
	}
}

// TestMigrationStepIsRetriedPostgreSQL: a long transaction reads a table that a step changes.
// Commands on the table succeed between the tries of the step. The step succeeds once the
// transaction has ended.
func TestMigrationStepIsRetriedPostgreSQL(t *testing.T) {
	t.Parallel()
	at := pgtest.Schema(t)
	db := mustConnect(t, at)
	mustOpen(t, at)
	dump, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	mustScan(t, dump, "SELECT COUNT(*) FROM customers", new(int))
	done := make(chan error, 1)
	const step = "-- +goose Up\nALTER TABLE customers ADD COLUMN more BIGINT NOT NULL DEFAULT 0;"
	go func() { done <- postgres.MigrateOn(t.Context(), secret.New(at), step) }()
	const waiting = `SELECT EXISTS (SELECT 1 FROM pg_locks WHERE relation = 'customers'::regclass AND NOT granted)`
	for waits := false; !waits; {
		mustScan(t, db, waiting, &waits)
	}
	writer := mustConnect(t, at+"&statement_timeout=1800") // the patience of a payment
	mustExec(t, writer, fmt.Sprintf(insertCustomer, 1))
	select {
	case err := <-done:
		t.Errorf("the step ended while a transaction reads the table: %v", err)
	default:
	}
	if err := dump.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	mustScan(t, db, "SELECT more FROM customers", new(int))
}

// TestConcurrentIndexPostgreSQL: a step outside a transaction builds an index while other
// transactions write. It can be interrupted, and runs again.
func TestConcurrentIndexPostgreSQL(t *testing.T) {
	t.Parallel()
	at := pgtest.Schema(t)
	db := mustConnect(t, at)
	mustOpen(t, at)
	mustExec(t, db, fmt.Sprintf(insertCustomer, 1))
	const step = `-- +goose NO TRANSACTION
-- +goose Up
SET lock_timeout = 0;
DROP INDEX CONCURRENTLY IF EXISTS customers_more;
CREATE INDEX CONCURRENTLY customers_more ON customers (updated_at);
RESET lock_timeout;
`
	writer, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.ExecContext(t.Context(), fmt.Sprintf(insertCustomer, 2)); err != nil {
		t.Fatal(err)
	}
	ctx, cut := context.WithCancel(t.Context())
	done := make(chan error, 1)
	migrate := func(ctx context.Context) { done <- postgres.MigrateOn(ctx, secret.New(at), step) }
	go migrate(ctx)
	waits := func() {
		for found := false; !found; { // for the writer
			mustScan(t, db, `SELECT EXISTS (SELECT 1 FROM pg_index
				WHERE indexrelid = to_regclass('customers_more') AND NOT indisvalid)`, &found)
		}
	}
	waits()
	cut()
	if err := <-done; err == nil {
		t.Error("the interrupted step returned no error")
	}
	go migrate(t.Context())
	waits()
	mustExec(t, mustConnect(t, at+"&statement_timeout=1800"), fmt.Sprintf(insertCustomer, 3))
	if err := writer.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	var valid bool
	if mustScan(t, db, `SELECT indisvalid FROM pg_index WHERE indexrelid = 'customers_more'::regclass`, &valid); !valid {
		t.Error("the index is not valid")
	}
}

// TestOlderRefusesPostgreSQL: an older build does not open a database with a newer schema. The
// error states both versions. A running core goes on.
func TestOlderRefusesPostgreSQL(t *testing.T) {
	t.Parallel()
	at := pgtest.Schema(t)
	running := mustOpen(t, at)
	mustExec(t, mustConnect(t, at), "INSERT INTO core_schema (version_id, is_applied) VALUES (9999, true)")
	for range 2 {
		_, err := postgres.Open(t.Context(), at+patient, clock.System())
		const found, remedy = "schema version 9999", "use a newer build"
		if err == nil || !strings.Contains(err.Error(), found) || !strings.Contains(err.Error(), remedy) {
			t.Errorf("got %v, want an error with %q and %q", err, found, remedy)
		}
	}
	if err := running.Update(t.Context(), func(*store.Tx) error { return nil }); err != nil {
		t.Errorf("a running core: %v", err)
	}
	if err := running.PingWriter(t.Context()); err != nil {
		t.Errorf("a running core: %v", err)
	}
}

// TestPreparedBeforePostgreSQL: a migration changes the types of columns. The statements that a
// core has prepared before still work.
func TestPreparedBeforePostgreSQL(t *testing.T) {
	t.Parallel()
	at := pgtest.Schema(t)
	c := clock.NewFake(time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC))
	db, err := postgres.Open(t.Context(), at+patient, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	use := func() {
		t.Helper()
		_, err := db.Merchants(t.Context())
		_, _, beat := db.Heartbeat(t.Context(), 1, time.Second, func(time.Time) bool { return true })
		_, one := db.Merchant(t.Context(), 1)
		if err = errors.Join(err, beat); err != nil || !errors.Is(one, payment.ErrNotFound) {
			t.Error(err, one)
		}
	}
	for range 2 {
		use()
	}
	admin := mustConnect(t, at)
	mustExec(t, admin, "ALTER TABLE cores ALTER COLUMN beat TYPE INTEGER")
	mustExec(t, admin, "ALTER TABLE merchants ALTER COLUMN cutoff TYPE BIGINT")
	use()
}
