package coretest_test

import (
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
)

// TestNewDatabaseHasNoRows: a store begins like the one of a first start.
func TestNewDatabaseHasNoRows(t *testing.T) {
	t.Parallel()
	db := coretest.NewDatabase(t, t.TempDir()).MustInspect(t)
	rows, err := db.QueryContext(t.Context(), `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'
		AND name <> 'goose_db_version' UNION ALL SELECT 'codes.' || name FROM codes.sqlite_schema WHERE type = 'table'`)
	if err != nil {
		t.Fatal(err)
	}
	var tables []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		tables = append(tables, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if len(tables) < 20 {
		t.Errorf("got %d tables, want 20 or more", len(tables))
	}
	for _, name := range tables {
		var n int
		if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+name).Scan(&n); err != nil || n != 0 {
			t.Errorf("%s: got %d rows, %v", name, n, err)
		}
	}
}
