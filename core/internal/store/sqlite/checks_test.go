package sqlite_test

import (
	"database/sql"
	"slices"
	"testing"
)

// TestNoCheckBuildsAnIndex: for some CHECK rules SQLite builds an index for each row that it
// writes. Such rules once made the statements of a payment 50 % slower.
func TestNoCheckBuildsAnIndex(t *testing.T) {
	t.Parallel()
	db := setup(t).MustWrite(t)
	const tables = `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`
	for _, table := range column(t, db, "name", tables) {
		ops := column(t, db, "opcode", `EXPLAIN INSERT INTO `+table+` DEFAULT VALUES`)
		if slices.Contains(ops, "OpenEphemeral") || !slices.Contains(ops, "Insert") && !slices.Contains(ops, "IdxInsert") {
			t.Errorf("%s: an insert builds an index (spell its CHECK with OR), or cannot be explained", table)
		}
	}
}

// column returns the values of one column of a query, as text.
func column(t *testing.T, db *sql.DB, name, query string, args ...any) (out []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }() // rows.Err returns the failure
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
