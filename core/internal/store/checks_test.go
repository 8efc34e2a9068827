package store_test

import (
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/store"
)

// One row of each table whose checks version 11 spells otherwise.
var checkedRows = []string{
	`INSERT INTO transactions (id, merchant_id, live, status, auto_capture, amount, currency, payment_method, amount_authorized, amount_captured,
		details, created_at, updated_at) VALUES (10, 1, 0, 'captured', 1, 100, 'usd', 'card', 100, 100, '{}', 1, 1)`,
	`INSERT INTO captures (id, transaction_id, merchant_id, live, state, amount, currency, final, created_at, updated_at)
		VALUES (11, 10, 1, 0, 'succeeded', 100, 'usd', 1, 1, 1)`,
	`INSERT INTO refunds (id, transaction_id, merchant_id, live, state, amount, currency, created_at, updated_at)
		VALUES (12, 10, 1, 0, 'failed', 100, 'usd', 1, 1)`,
	`INSERT INTO webhook_endpoints (id, merchant_id, live, url, types, status, created_at, updated_at) VALUES (13, 1, 0, 'u', '*', 'enabled', 1, 1)`,
	`INSERT INTO webhook_deliveries (id, endpoint_id, event_id, due_at, created_at, updated_at) VALUES (14, 13, 1, 1, 1, 1)`,
}

// allowed is what the columns with a list of words may hold.
var allowed = map[string][]string{
	"transactions.status": {
		"requires_confirmation", "requires_action", "pending_review", "processing", "unknown", "authorized", "partially_captured", "captured",
		"voided", "canceled", "declined", "failed", "expired",
	},
	"transactions.operation":    {"", "capture", "void"},
	"captures.state":            {"pending", "succeeded", "failed", "voided"},
	"refunds.state":             {"pending", "succeeded", "failed"},
	"webhook_endpoints.status":  {"enabled", "disabled", "deleted"},
	"webhook_endpoints.reason":  {"", "requested", "gone", "failing"},
	"webhook_deliveries.status": {"pending", "succeeded", "failed"},
}

func TestChecksAreTheSameInAFileThatHadRows(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.path = filepath.Join(t.TempDir(), "old.db")
	if err := store.MigrateTo(t.Context(), b.path, 7); err != nil {
		t.Fatal(err)
	}
	old := b.MustWrite(t)
	mustExecAll(t, old, checkedRows)
	b.db = b.MustOpen(t)
	for _, db := range []*sql.DB{old, b.MustWrite(t)} { // a connection from before, and one from after
		for place, words := range allowed {
			table, name, _ := strings.Cut(place, ".")
			for _, word := range words {
				if _, err := db.ExecContext(t.Context(), `UPDATE `+table+` SET `+name+` = ?`, word); err != nil {
					t.Errorf("%s = %q: %v", place, word, err)
				}
			}
			for _, word := range []string{"paid", strings.ToUpper(words[1]), words[1] + " ", words[1][1:]} {
				if _, err := db.ExecContext(t.Context(), `UPDATE `+table+` SET `+name+` = ?`, word); err == nil {
					t.Errorf("%s = %q was written", place, word)
				}
			}
			if _, err := db.ExecContext(t.Context(), `UPDATE `+table+` SET `+name+` = NULL`); err == nil {
				t.Errorf("%s = NULL was written", place)
			}
		}
	}
	var got string
	if err := old.QueryRowContext(t.Context(), `PRAGMA integrity_check`).Scan(&got); err != nil || got != "ok" {
		t.Errorf("integrity: got %q, %v", got, err)
	}
	for _, table := range []string{"transactions", "captures", "refunds", "webhook_endpoints", "webhook_deliveries"} {
		if got, want := b.MustCount(t, table), 1; got != want {
			t.Errorf("%s: got %d rows, want %d", table, got, want)
		}
	}
}

func mustExecAll(t *testing.T, db *sql.DB, statements []string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// A rule that SQLite builds an index for, anew for each row, made a payment's statements half as dear again.
func TestNoCheckBuildsAnIndex(t *testing.T) {
	t.Parallel()
	db := setup(t).MustWrite(t)
	for _, table := range column(t, db, "name", `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`) {
		ops := column(t, db, "opcode", `EXPLAIN INSERT INTO `+table+` DEFAULT VALUES`)
		if slices.Contains(ops, "OpenEphemeral") || !slices.Contains(ops, "Insert") && !slices.Contains(ops, "IdxInsert") {
			t.Errorf("%s: an insert builds an index (spell its CHECK with OR), or cannot be explained", table)
		}
	}
}

// column reads one column of a query's rows, all of whose values are shown as text.
func column(t *testing.T, db *sql.DB, name, query string) (out []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }() // rows.Err tells
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	values, into := make([]sql.NullString, len(names)), make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		out = append(out, values[slices.Index(names, name)].String)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}
