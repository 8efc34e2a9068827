package coretest

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/pgtest"
)

// urlFile is a file in the folder of a copy, with the URL of the copied database.
const urlFile = "database.url"

// copyTo copies the committed rows of a server into another database, for the folder dir. A file is
// copied with its folder.
func (d *Database) copyTo(tb testing.TB, dir string) {
	tb.Helper()
	if d.url == "" {
		return
	}
	to := onServer(pgtest.NewSchema(tb, d.url))
	made, err := to.Open(tb.Context(), clock.System()) // which makes the tables
	if err != nil {
		tb.Fatal(err)
	}
	if err := made.Close(); err != nil {
		tb.Fatal(err)
	}
	db, err := sql.Open("pgx", d.url)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = db.Close() }()                                                       // the statement below has reported
	tx, err := db.BeginTx(tb.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead}) // reads one snapshot
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := tx.ExecContext(tb.Context(), fmt.Sprintf(copySchema, d.schema(), to.schema())); err != nil {
		tb.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, urlFile), []byte(to.url), 0o600); err != nil {
		tb.Fatal(err)
	}
}

// copied returns the database of a folder that a copy was made for.
func copied(tb testing.TB, dir string) *Database {
	tb.Helper()
	url, err := os.ReadFile(filepath.Join(dir, urlFile))
	if err == nil {
		return onServer(string(url))
	}
	if !os.IsNotExist(err) {
		tb.Fatal(err)
	}
	return &Database{Path: filepath.Join(dir, databaseFile)}
}

// tables are the files of a store without rows, by name. To make its tables costs more than a test
// does with them.
var tables struct {
	sync.Mutex

	files map[string][]byte
}

// mustCopyTables puts the files of a store without rows into a folder.
func mustCopyTables(tb testing.TB, dir string) {
	tb.Helper()
	tables.Lock()
	defer tables.Unlock()
	if tables.files == nil {
		tables.files = mustMakeTables(tb)
	}
	for name, text := range tables.files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
}

func mustMakeTables(tb testing.TB) map[string][]byte {
	tb.Helper()
	dir := tb.TempDir()
	d := &Database{Path: filepath.Join(dir, databaseFile)}
	db, err := d.Open(tb.Context(), clock.NewFake(Birth))
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		tb.Fatal(err)
	}
	files := map[string][]byte{}
	for _, name := range []string{databaseFile, codesFile} {
		if files[name], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			tb.Fatal(err)
		}
	}
	return files
}

// schema returns the schema of the database's tables.
func (d *Database) schema() string {
	_, name, _ := strings.Cut(d.url, "search_path=")
	name, _, _ = strings.Cut(name, "&")
	return name
}

// copySchema copies the rows of all tables of one schema into another schema, and sets its
// sequences to the same values.
const copySchema = `DO $$
DECLARE t record; n bigint;
BEGIN
	-- A partitioned table is copied as one.
	FOR t IN SELECT c.relname AS table_name FROM pg_class c WHERE c.relnamespace = '%[1]s'::regnamespace AND c.relkind IN ('r', 'p')
			AND NOT c.relispartition AND c.relname NOT IN ('core_schema', 'lead')
			ORDER BY CASE c.relname WHEN 'merchants' THEN 0 WHEN 'customers' THEN 1 WHEN 'transactions' THEN 1 ELSE 2 END LOOP
		EXECUTE format('INSERT INTO %[2]s.%%I OVERRIDING SYSTEM VALUE SELECT * FROM %[1]s.%%I', t.table_name, t.table_name);
	END LOOP;
	FOR t IN SELECT table_name FROM information_schema.columns WHERE table_schema = '%[2]s' AND column_name = 'id' AND is_identity = 'YES' LOOP
		EXECUTE format('SELECT COALESCE(MAX(id), 0) + 1 FROM %[2]s.%%I', t.table_name) INTO n;
		EXECUTE format('ALTER TABLE %[2]s.%%I ALTER COLUMN id RESTART WITH %%s', t.table_name, n);
	END LOOP;
END $$`
