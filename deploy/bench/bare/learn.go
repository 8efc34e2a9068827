package bare

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"reflect"
	"strings"
	"time"
)

// background lists the tables that core writes without a payment: the health check's probe and the
// confirmed time.
const background = `'store_probes', 'confirmed_clock'`

// ErrUnseen is returned, wrapped, if the payment did not leave an intent and then an outcome.
var ErrUnseen = errors.New("bare: the payment left no intent and outcome")

// row is a stored row by column: int64, string, []byte or nil.
type row map[string]any

// table is a table of the server, with its rows that a payment wrote.
type table struct {
	name     string
	before   int64             // number of rows before the payment
	defaults map[string]string // by column, as in the schema
	intent   []row
	final    []row // the rows of intent first, in the same order
}

// Learn returns a template of the rows that a server writes to the database file at path for one
// payment. pay makes the payment, whose acquirer must be slow: Learn reads the rows of its intent
// before its outcome is committed.
func Learn(ctx context.Context, path string, pay func() error) (t *Template, err error) {
	db, err := open(path, "busy_timeout(5000)", "query_only(1)")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tables, err := readTables(ctx, db)
	if err != nil {
		return nil, err
	}
	paid := make(chan error, 1)
	go func() { paid <- pay() }()
	for found := false; !found; {
		select {
		case err := <-paid:
			return nil, errors.Join(ErrUnseen, err)
		case <-time.After(5 * time.Millisecond):
		}
		if found, err = readRows(ctx, db, tables, func(t *table, rows []row) { t.intent = rows }); err != nil {
			return nil, err
		}
	}
	if err := <-paid; err != nil {
		return nil, err
	}
	if _, err = readRows(ctx, db, tables, func(t *table, rows []row) { t.final = rows }); err != nil {
		return nil, err
	}
	schema, err := Texts(ctx, db, `SELECT sql FROM sqlite_master
		WHERE type IN ('table', 'index', 'trigger', 'view') AND sql IS NOT NULL AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
		ORDER BY CASE type WHEN 'table' THEN 0 ELSE 1 END`)
	if err != nil {
		return nil, err
	}
	return newTemplate(schema, tables)
}

// readTables returns the tables in the order of their creation: a table follows the tables that it
// refers to.
func readTables(ctx context.Context, db *sql.DB) ([]*table, error) {
	names, err := Texts(ctx, db, `SELECT name FROM sqlite_master WHERE type = 'table'
		AND name NOT LIKE 'sqlite\_%' ESCAPE '\' AND name NOT IN (`+background+`) ORDER BY rowid`)
	if err != nil {
		return nil, err
	}
	var tables []*table
	for _, name := range names { // it comes from the schema and stands in quotes
		t := &table{name: name, defaults: map[string]string{}}
		if err := db.QueryRowContext(ctx, `SELECT COUNT(*) FROM "`+name+`"`).Scan(&t.before); err != nil {
			return nil, fmt.Errorf("table %s: %w", name, err)
		}
		columns, err := Texts(ctx, db, `SELECT name || '=' || TRIM(dflt_value, '''') FROM pragma_table_info(?)
			WHERE dflt_value IS NOT NULL`, name)
		if err != nil {
			return nil, err
		}
		for _, c := range columns {
			column, value, _ := strings.Cut(c, "=")
			t.defaults[column] = value
		}
		tables = append(tables, t)
	}
	return tables, nil
}

// readRows calls set with the new rows of each table at one moment, and reports whether there are
// any.
func readRows(ctx context.Context, db *sql.DB, tables []*table, set func(*table, []row)) (found bool, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, tx.Rollback()) }()
	for _, t := range tables {
		rows, err := newRows(ctx, tx, t)
		if err != nil {
			return false, fmt.Errorf("table %s: %w", t.name, err)
		}
		set(t, rows)
		found = found || len(rows) > 0
	}
	return found, nil
}

func newRows(ctx context.Context, tx *sql.Tx, t *table) ([]row, error) {
	// New rows come after the old ones. For a table without rowids the number is right, but the rows
	// may be others.
	text := `SELECT * FROM "` + t.name + `" LIMIT -1 OFFSET ?` //nolint:gosec // the name comes from the schema
	found, err := tx.QueryContext(ctx, text, t.before)
	if err != nil {
		return nil, err
	}
	defer func() { _ = found.Close() }() // Err below reports a failure
	columns, err := found.Columns()
	if err != nil {
		return nil, err
	}
	var out []row
	for found.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := found.Scan(into...); err != nil {
			return nil, err
		}
		r := row{}
		for i, c := range columns {
			r[c] = values[i]
		}
		out = append(out, r)
	}
	return out, found.Err()
}

// changes returns the columns of a row whose values differ from before.
func (r row) changes(before row) row {
	out := row{}
	for column, value := range r {
		if !reflect.DeepEqual(value, before[column]) {
			out[column] = value
		}
	}
	return out
}

// Texts returns the only column of a query.
func Texts(ctx context.Context, db *sql.DB, query string, args ...any) ([]string, error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", query, err)
	}
	defer func() { _ = rows.Close() }() // Err below reports a failure
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, fmt.Errorf("%s: %w", query, err)
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

func open(path string, pragmas ...string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", DSN(path, pragmas...))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// DSN returns the data source name of a file, with pragmas.
func DSN(path string, pragmas ...string) string {
	u := url.URL{Scheme: "file", Opaque: filepath.ToSlash(path), RawQuery: url.Values{"_pragma": pragmas}.Encode()}
	return u.String()
}
