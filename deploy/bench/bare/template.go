package bare

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
)

// Template is all rows that the server wrote for one payment, and the schema.
type Template struct {
	schema []string         // CREATE statements, tables first
	rows   map[string][]Row // by table
}

// Row is a stored row by column: int64, string, []byte or nil.
type Row map[string]any

// Snapshot holds the number of rows of each table.
type Snapshot map[string]int64

// background lists the tables that core writes without a payment: the health check's probe and the
// confirmed time.
const background = `'store_probes', 'confirmed_clock'`

// Look takes a snapshot of the database file at path, which a server may have open.
func Look(ctx context.Context, path string) (Snapshot, error) {
	db, err := openReader(path)
	if err != nil {
		return nil, err
	}
	s, err := look(ctx, db)
	return s, errors.Join(err, db.Close())
}

func look(ctx context.Context, db *sql.DB) (Snapshot, error) {
	names, err := texts(ctx, db, `SELECT name FROM sqlite_master 
		WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
		AND name NOT IN (`+background+`)`)
	if err != nil {
		return nil, err
	}
	s := Snapshot{}
	for _, name := range names { // it comes from the schema and stands in quotes
		var rows int64
		if err := db.QueryRowContext(ctx, `SELECT COUNT(*) FROM "`+name+`"`).Scan(&rows); err != nil {
			return nil, fmt.Errorf("look at table %s: %w", name, err)
		}
		s[name] = rows
	}
	return s, nil
}

// Learn reads the rows that were written to the database file at path since the snapshot.
func Learn(ctx context.Context, path string, since Snapshot) (*Template, error) {
	db, err := openReader(path)
	if err != nil {
		return nil, err
	}
	t, err := learn(ctx, db, since)
	return t, errors.Join(err, db.Close())
}

func learn(ctx context.Context, db *sql.DB, since Snapshot) (*Template, error) {
	schema, err := texts(ctx, db, `SELECT sql FROM sqlite_master
		WHERE type IN ('table', 'index', 'trigger', 'view') AND sql IS NOT NULL AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
		ORDER BY CASE type WHEN 'table' THEN 0 ELSE 1 END`)
	if err != nil {
		return nil, err
	}
	t := &Template{schema: schema, rows: map[string][]Row{}}
	for name, before := range since {
		rows, err := newRows(ctx, db, name, before)
		if err != nil {
			return nil, fmt.Errorf("read table %s: %w", name, err)
		}
		if len(rows) > 0 {
			t.rows[name] = rows
		}
	}
	return t, nil
}

func newRows(ctx context.Context, db *sql.DB, table string, before int64) ([]Row, error) {
	// New rows are behind the old ones. A table without rowids returns as many, perhaps other ones.
	text := `SELECT * FROM "` + table + `" LIMIT -1 OFFSET ?` //nolint:gosec // the name comes from the schema
	found, err := db.QueryContext(ctx, text, before)
	if err != nil {
		return nil, err
	}
	defer func() { _ = found.Close() }() // Err below reports a failure
	columns, err := found.Columns()
	if err != nil {
		return nil, err
	}
	var out []Row
	for found.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := found.Scan(into...); err != nil {
			return nil, err
		}
		row := Row{}
		for i, c := range columns {
			row[c] = values[i]
		}
		out = append(out, row)
	}
	return out, found.Err()
}

func texts(ctx context.Context, db *sql.DB, query string) ([]string, error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	defer func() { _ = rows.Close() }() // Err below reports a failure
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, fmt.Errorf("read schema: %w", err)
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

func openReader(path string) (*sql.DB, error) {
	return open(path, "busy_timeout(5000)", "query_only(1)")
}

func open(path string, pragmas ...string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", dsn(path, pragmas...))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

func dsn(path string, pragmas ...string) string {
	u := url.URL{Scheme: "file", Opaque: filepath.ToSlash(path), RawQuery: url.Values{"_pragma": pragmas}.Encode()}
	return u.String()
}
