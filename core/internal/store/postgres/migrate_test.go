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

func mustOpen(t *testing.T, at string) *store.DB {
	t.Helper()
	db, err := postgres.Open(t.Context(), at, clock.System())
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

// TestMigrateAtOncePostgreSQL: of several that start on an empty database at once each finds it whole, and each step was taken once.
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
	err := mustConnect(t, at).QueryRowContext(t.Context(), "SELECT COUNT(*), COUNT(DISTINCT version_id) FROM core_schema WHERE version_id > 0").Scan(&steps, &versions)
	if want, _ := postgres.SchemaVersion(); err != nil || steps != want || versions != want {
		t.Errorf("got %d steps of %d versions, %v, want %d", steps, versions, err, want)
	}
}

// TestMigrateGivesWayPostgreSQL: a step that cannot have a table, because somebody reads it for long, lets payments through, and is taken when the
// other has ended.
func TestMigrateGivesWayPostgreSQL(t *testing.T) {
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
	go func() {
		done <- postgres.MigrateOn(t.Context(), secret.New(at), "-- +goose Up\nALTER TABLE customers ADD COLUMN more BIGINT NOT NULL DEFAULT 0;")
	}()
	for waits := false; !waits; {
		mustScan(t, db, `SELECT EXISTS (SELECT 1 FROM pg_locks WHERE relation = 'customers'::regclass AND NOT granted)`, &waits)
	}
	writer := mustConnect(t, at+"&statement_timeout=1800") // a payment's patience
	mustExec(t, writer, "INSERT INTO customers (id, merchant_id, live, details, version, created_at, updated_at) VALUES (1, 1, 0, '{}', 1, 1, 1)")
	select {
	case err := <-done:
		t.Errorf("it was taken under a dump: %v", err)
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

// TestConcurrentIndexPostgreSQL: a step that is not in a transaction makes an index beside writes, and may be cut short and taken again.
func TestConcurrentIndexPostgreSQL(t *testing.T) {
	t.Parallel()
	at := pgtest.Schema(t)
	db := mustConnect(t, at)
	mustOpen(t, at)
	const row = "INSERT INTO customers (id, merchant_id, live, details, version, created_at, updated_at) VALUES (%d, 1, 0, '{}', 1, 1, 1)"
	mustExec(t, db, fmt.Sprintf(row, 1))
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
	if _, err := writer.ExecContext(t.Context(), fmt.Sprintf(row, 2)); err != nil {
		t.Fatal(err)
	}
	ctx, cut := context.WithCancel(t.Context())
	done := make(chan error, 1)
	migrate := func(ctx context.Context) { done <- postgres.MigrateOn(ctx, secret.New(at), step) }
	go migrate(ctx)
	waits := func() {
		for found := false; !found; { // for the writer
			mustScan(t, db, `SELECT EXISTS (SELECT 1 FROM pg_index WHERE indexrelid = to_regclass('customers_more') AND NOT indisvalid)`, &found)
		}
	}
	waits()
	cut()
	if err := <-done; err == nil {
		t.Error("it was cut short, and said that it was done")
	}
	go migrate(t.Context())
	waits()
	mustExec(t, mustConnect(t, at+"&statement_timeout=1800"), fmt.Sprintf(row, 3))
	if err := writer.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	var valid bool
	if mustScan(t, db, `SELECT indisvalid FROM pg_index WHERE indexrelid = 'customers_more'::regclass`, &valid); !valid {
		t.Error("the index is not whole")
	}
}

// TestOlderRefusesPostgreSQL: a build that knows less of the schema says so, and leaves everything as it is.
func TestOlderRefusesPostgreSQL(t *testing.T) {
	t.Parallel()
	at := pgtest.Schema(t)
	running := mustOpen(t, at)
	mustExec(t, mustConnect(t, at), "INSERT INTO core_schema (version_id, is_applied) VALUES (9999, true)")
	for range 2 {
		_, err := postgres.Open(t.Context(), at, clock.System())
		if err == nil || !strings.Contains(err.Error(), "schema version 9999") || !strings.Contains(err.Error(), "use a newer build") {
			t.Errorf("got %v", err)
		}
	}
	if err := running.Update(t.Context(), func(*store.Tx) error { return nil }); err != nil {
		t.Errorf("one that runs: %v", err)
	}
	if err := running.PingWriter(t.Context()); err != nil {
		t.Errorf("one that runs: %v", err)
	}
}

// TestPreparedBeforePostgreSQL: statements that a core has prepared work on after a migration has changed the types of their columns.
func TestPreparedBeforePostgreSQL(t *testing.T) {
	t.Parallel()
	at := pgtest.Schema(t)
	c := clock.NewFake(time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC))
	db, err := postgres.Open(t.Context(), at, c)
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
