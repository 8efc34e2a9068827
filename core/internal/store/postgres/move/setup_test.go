package move_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/postgres"
	"github.com/causeway-pay/causeway/core/internal/store/postgres/move"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/secret"
)

var birth = time.Date(2026, time.November, 21, 9, 30, 0, 0, time.UTC)

// bundle is a store in a file, and an empty database to move it to.
type bundle struct {
	path     string
	url      secret.String
	source   *sql.DB // past the store
	target   *sql.DB
	told     bytes.Buffer
	lastPass []store.MovedTable
}

func setup(tb testing.TB) *bundle {
	tb.Helper()
	b := &bundle{path: filepath.Join(tb.TempDir(), "causeway.db"), url: secret.New(pgtest.Schema(tb))}
	db, err := store.Open(tb.Context(), b.path, clock.NewFake(birth)) // which makes the tables
	if err != nil {
		tb.Fatal(err)
	}
	if err := db.Close(); err != nil {
		tb.Fatal(err)
	}
	b.source = opened(tb, "sqlite", "file:"+filepath.ToSlash(b.path)+"?_pragma=busy_timeout(5000)&_pragma=foreign_keys(1)")
	b.target = opened(tb, "pgx", b.url.Reveal())
	return b
}

func opened(tb testing.TB, driver, dsn string) *sql.DB {
	tb.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		tb.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	tb.Cleanup(func() { _ = db.Close() }) // its statements have reported
	return db
}

// must runs statements past a store.
func must(tb testing.TB, db *sql.DB, statements ...string) {
	tb.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(tb.Context(), s); err != nil {
			tb.Fatalf("%v: %s", err, s)
		}
	}
}

func number(tb testing.TB, db *sql.DB, query string) int64 {
	tb.Helper()
	var n int64
	if err := db.QueryRowContext(tb.Context(), query).Scan(&n); err != nil {
		tb.Fatalf("%v: %s", err, query)
	}
	return n
}

// series is n rows as a table n(i) of SQLite's.
func series(from, n int) string {
	return fmt.Sprintf("WITH RECURSIVE n(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM n WHERE i < %d) ", from, from+n-1)
}

// pay writes n payments, as an approved one with an Idempotency-Key, a reference and a webhook endpoint leaves them.
func (b *bundle) pay(tb testing.TB, from, n int) {
	tb.Helper()
	details := `'{"description":"Größe 42, größer","metadata":{"order":"' || i || '","pad":"' || hex(zeroblob(150)) || '"}}'`
	must(tb, b.source, "BEGIN",
		series(from, n)+`INSERT INTO transactions (id, merchant_id, live, status, auto_capture, amount, currency, payment_method, amount_authorized,
			amount_captured, details, result, version, created_at, updated_at, partial)
			SELECT i * 16, 7, 0, 'captured', 1, 1000 + i, 'usd', 'card', 1000 + i, 1000 + i, `+details+`, '{"code":"123456"}', 1, i, i, 0 FROM n`,
		series(from, n)+`INSERT INTO captures (id, transaction_id, merchant_id, live, state, amount, currency, final, created_at, updated_at, captured_at)
			SELECT i * 16 + 1, i * 16, 7, 0, 'succeeded', 1000 + i, 'usd', 1, i, i, i FROM n`,
		series(from, n)+`INSERT INTO events (id, merchant_id, live, type, object_id, sequence, data, created_at)
			SELECT i * 16 + 2, 7, 0, 'transaction.captured', i * 16, 1, `+details+`, i FROM n`,
		series(from, n)+`INSERT INTO webhook_deliveries (id, endpoint_id, event_id, due_at, created_at, updated_at)
			SELECT i * 16 + 3, 5, i * 16 + 2, i, i, i FROM n`,
		series(from, n)+`INSERT INTO transaction_terms SELECT 7, 0, 2, 'ä order ' || i, i * 16 FROM n`,
		series(from, n)+`INSERT INTO idempotency_keys (merchant_id, live, key, fingerprint, status, answer, created_at, expires_at)
			SELECT 7, 0, 'k' || i, x'00ff', 201, CAST(`+details+` AS BLOB), i, i + 86400000 FROM n`,
		"COMMIT")
}

// fill writes some rows into every table.
func (b *bundle) fill(tb testing.TB) {
	tb.Helper()
	must(tb, b.source,
		`INSERT INTO merchants (id, name, created_at) VALUES (7, 'Café ''x''', 1), (8, '', 2)`,
		`INSERT INTO api_keys (id, merchant_id, live, kind, hash, hint, scopes, created_at) VALUES (9, 7, 0, 'secret', x'000102', 'wxyz', 'a b', 1),
			(10, 7, 1, 'publishable', x'0001', 'abcd', '', 1)`,
		`INSERT INTO webhook_endpoints (id, merchant_id, live, url, types, status, created_at, updated_at) VALUES (5, 7, 0, 'https://x', '*', 'enabled', 1, 1)`,
		`INSERT INTO customers (id, merchant_id, live, details, version, created_at, updated_at) VALUES (20, 7, 0, '{"email":"a@b"}', 1, 1, 1)`,
		`INSERT INTO payment_methods (id, merchant_id, live, customer_id, kind, fingerprint, details, vault_key, number, created_at)
			VALUES (21, 7, 0, 20, 'card', 'f', '{}', 4000000000, x'00', 1)`,
		`INSERT INTO tokens (id, merchant_id, live, kind, details, vault_key, number, cvc, cvc_given, created_at, expires_at)
			VALUES (22, 7, 0, 'card', '{}', 4000000000, x'0001', NULL, 0, 1, 2)`,
		`INSERT INTO vault_retired_keys VALUES (123, 1)`, `INSERT INTO settlement_marks VALUES (7, 0, 5, 6), (7, 1, 5, 6)`,
		`INSERT INTO test_clocks VALUES (7, 3600000)`, `INSERT INTO announcements VALUES (7, 0, 'mle.key.rotated', 'Z', 1), (7, 0, 'mle.key.rotated', 'a', 2)`,
		`INSERT INTO broadcasts (type, name, data, until, created_at) VALUES ('certificate.rotated', 'B', x'7b7d', 7, 1), ('certificate.rotated', 'a', x'', 7, 1)`,
		`INSERT INTO reversals (id, transaction_id, attempt, merchant_id, live, amount, currency, captured, since, due_at) VALUES (40, 50, 0, 7, 0, 1, 'usd', 0, 1, 1)`)
	b.pay(tb, 100, 50)
	must(tb, b.source, `INSERT INTO refunds (id, transaction_id, merchant_id, live, state, amount, currency, created_at, updated_at)
		VALUES (30, 1600, 7, 0, 'pending', 5, 'usd', 1, 1), (31, NULL, 7, 0, 'succeeded', 5, 'usd', 1, 1)`,
		`UPDATE transactions SET amount_refund_pending = 5 WHERE id = 1600`)
}

func (b *bundle) config() move.Config {
	return move.Config{Target: b.url, MoveConfig: store.MoveConfig{
		Source: b.path, Identity: "one", Clock: clock.NewFake(birth),
		Tell: func(format string, args ...any) { fmt.Fprintf(&b.told, format+"\n", args...) },
	}}
}

// with opens the move for fn.
func (b *bundle) with(tb testing.TB, fn func(*move.Move) ([]store.MovedTable, error)) []store.MovedTable {
	tb.Helper()
	m, err := move.Open(tb.Context(), b.config())
	if err != nil {
		tb.Fatal(err)
	}
	moved, err := fn(m)
	if err != nil {
		tb.Error(err)
	}
	if err := m.Close(); err != nil {
		tb.Error(err)
	}
	if err != nil {
		tb.FailNow()
	}
	return moved
}

func (b *bundle) ahead(tb testing.TB) []store.MovedTable {
	tb.Helper()
	b.lastPass = b.with(tb, func(m *move.Move) ([]store.MovedTable, error) { return m.Ahead(tb.Context()) })
	return b.lastPass
}

func (b *bundle) finish(tb testing.TB) []store.MovedTable {
	tb.Helper()
	return b.with(tb, func(m *move.Move) ([]store.MovedTable, error) { return m.Finish(tb.Context(), store.Luggage{}) })
}

func changed(moved []store.MovedTable) (n int64) {
	for _, m := range moved {
		n += m.Changed
	}
	return n
}

// dump is every row of every table, sorted, read past both this package and the store.
func dump(tb testing.TB, db *sql.DB, tables []string) map[string][]string {
	tb.Helper()
	out := map[string][]string{}
	for _, name := range tables {
		out[name] = dumpOf(tb, db, name)
	}
	return out
}

func dumpOf(tb testing.TB, db *sql.DB, name string) (out []string) {
	tb.Helper()
	rows, err := db.QueryContext(tb.Context(), "SELECT * FROM "+name)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = rows.Close() }() // rows.Err tells
	columns, err := rows.Columns()
	if err != nil {
		tb.Fatal(err)
	}
	for rows.Next() {
		values, to := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			to[i] = &values[i]
		}
		if err := rows.Scan(to...); err != nil {
			tb.Fatal(err)
		}
		parts := make([]string, len(columns))
		for i, v := range values {
			if name == "events" && columns[i] == "place" && v == int64(0) { // which only the target has
				continue
			}
			parts[i] = fmt.Sprintf("%s=%T:%v", columns[i], v, v)
		}
		slices.Sort(parts)
		out = append(out, strings.TrimSpace(strings.Join(parts, " ")))
	}
	if err := rows.Err(); err != nil {
		tb.Fatal(err)
	}
	slices.Sort(out)
	return out
}

// tables are those of the file that are moved.
func (b *bundle) tables(tb testing.TB) []string {
	tb.Helper()
	rows, err := b.source.QueryContext(tb.Context(), `SELECT name FROM sqlite_schema WHERE type = 'table'
		AND name NOT LIKE 'sqlite%' AND name NOT IN ('goose_db_version', 'moves', 'store_probes')`)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = rows.Close() }() // rows.Err tells
	var out []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			tb.Fatal(err)
		}
		out = append(out, name)
	}
	if err := rows.Err(); err != nil {
		tb.Fatal(err)
	}
	return out
}

// wantSame holds all rows of both to each other.
func (b *bundle) wantSame(tb testing.TB) {
	tb.Helper()
	tables := b.tables(tb)
	want, got := dump(tb, b.source, tables), dump(tb, b.target, tables)
	for _, name := range tables {
		if !slices.Equal(got[name], want[name]) {
			tb.Errorf("%s: got %d rows, want %d\ngot  %.600v\nwant %.600v", name, len(got[name]), len(want[name]), got[name], want[name])
		}
	}
}

// openSource and openTarget open the stores as a service does.
func (b *bundle) openSource(ctx context.Context) (*store.DB, error) {
	return store.Open(ctx, b.path, clock.NewFake(birth))
}

func (b *bundle) openTarget(ctx context.Context) (*store.DB, error) {
	return postgres.Open(ctx, b.url.Reveal(), clock.NewFake(birth))
}
