package sqlite_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"modernc.org/sqlite"

	"github.com/causeway-pay/causeway/shared/sqlitewal"
)

// TestTemporaryFiles tests that SQLite writes no temporary file. A savepoint has one for its old
// pages, and a reader one for the rows that it sorts. Their bytes would stay on the disk, and each
// payment of a batch would write its pages once more.
func TestTemporaryFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "database")
	if err := sqlitewal.Create(path); err != nil {
		t.Fatal(err)
	}
	write := openPlain(t, sqlitewal.Writing(path, ""))
	exec(t, write, `CREATE TABLE numbers (n INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT`)
	exec(t, write, `WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 20000)
		INSERT INTO numbers SELECT n, printf('%500d', n * 7919 % 20000) FROM c`)

	exec(t, write, "BEGIN IMMEDIATE")
	exec(t, write, "SAVEPOINT part")
	exec(t, write, "UPDATE numbers SET text = text || n")
	if got := temporary(t); len(got) > 0 {
		t.Errorf("a savepoint: open files %q", got)
	}
	exec(t, write, "ROLLBACK")

	rows, err := openPlain(t, sqlitewal.Reading(path, "")).QueryContext(t.Context(), "SELECT n FROM numbers ORDER BY text")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	if !rows.Next() {
		t.Fatalf("no row: %v", rows.Err())
	}
	if got := temporary(t); len(got) > 0 {
		t.Errorf("a sorting reader: open files %q", got)
	}
}

// openPlain opens a database with one connection.
func openPlain(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db := sql.OpenDB(sqlitewal.Connector{SQLite: &sqlite.Driver{}, DSN: dsn})
	db.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func exec(t *testing.T, db *sql.DB, text string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), text); err != nil {
		t.Fatal(err)
	}
}

// temporary returns the temporary files of SQLite that are open.
func temporary(t *testing.T) (names []string) {
	t.Helper()
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range links {
		name, err := os.Readlink(l)
		if err == nil && strings.Contains(name, "etilqs") {
			names = append(names, name)
		}
	}
	return names
}
