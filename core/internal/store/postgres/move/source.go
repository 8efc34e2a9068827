package move

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/causeway-pay/causeway/core/internal/store"
)

// A piece is at most so many rows, and about so many bytes.
const (
	pieceRows  = 8192
	pieceBytes = 4 << 20
)

// own are the tables that are not moved: they are of the one database that they are in.
func own() []string { return []string{"goose_db_version", "moves", "store_probes"} }

// source is the SQLite store.
type source struct {
	db   *sql.DB
	conn *sql.Conn // the one of a pass
}

func openSource(ctx context.Context, path string) (*source, error) {
	q := url.Values{"mode": {"rw"}, "_pragma": {"busy_timeout(30000)", "synchronous(FULL)", "cache_size(-20000)"}}
	u := url.URL{Scheme: "file", Opaque: filepath.ToSlash(path), RawQuery: q.Encode()}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), db.Close())
	}
	return &source{db: db, conn: conn}, nil
}

func (s *source) close() error { return errors.Join(s.conn.Close(), s.db.Close()) }

// within runs fn with the source standing still for it: closed keeps all writers out meanwhile, else they go on unseen. What fn writes is kept when
// it returns nil.
func (s *source) within(ctx context.Context, closed bool, fn func() error) (err error) {
	begin := "BEGIN"
	if closed {
		begin = "BEGIN IMMEDIATE"
	}
	if _, err := s.conn.ExecContext(ctx, begin); err != nil {
		return fmt.Errorf("begin at the source: %w", err)
	}
	defer func() {
		if err != nil {
			_, rolled := s.conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
			err = errors.Join(err, rolled)
		}
	}()
	if err := fn(); err != nil {
		return err
	}
	if _, err := s.conn.ExecContext(ctx, "COMMIT"); err != nil {
		return fmt.Errorf("commit at the source: %w", err)
	}
	return nil
}

// version is of the schema.
func (s *source) version(ctx context.Context) (int64, error) {
	var v int64
	if err := s.conn.QueryRowContext(ctx, "SELECT MAX(version_id) FROM goose_db_version WHERE is_applied").Scan(&v); err != nil {
		return 0, fmt.Errorf("schema version of the source: %w", err)
	}
	return v, nil
}

// away reports whether the source is marked as moved.
func (s *source) away(ctx context.Context) (away bool, err error) {
	if err := s.conn.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM moves)").Scan(&away); err != nil {
		return false, fmt.Errorf("look whether the source was moved: %w", err)
	}
	return away, nil
}

// tables are those that are moved.
func (s *source) tables(ctx context.Context) ([]*table, error) {
	var out []*table
	err := s.each(ctx, func(row func(...any) error) error {
		t := &table{}
		if err := row(&t.name); err != nil {
			return err
		}
		if !slices.Contains(own(), t.name) {
			out = append(out, t)
		}
		return nil
	}, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name")
	if err != nil {
		return nil, err
	}
	for _, t := range out {
		if err := s.describe(ctx, t); err != nil {
			return nil, err
		}
	}
	for _, t := range out {
		t.needed = slices.ContainsFunc(out, func(o *table) bool { return slices.Contains(o.refers, t.name) })
	}
	return inOrder(out)
}

func (s *source) describe(ctx context.Context, t *table) error {
	places := map[int]int{} // in the key → in columns
	err := s.each(ctx, func(row func(...any) error) error {
		var c column
		var declared string
		var inKey int
		if err := row(&c.name, &declared, &inKey); err != nil {
			return err
		}
		kinds := map[string]kind{"INTEGER": integer, "INT": integer, "TEXT": text, "BLOB": bytes}
		var known bool
		if c.kind, known = kinds[declared]; !known {
			return fmt.Errorf("%s.%s is of a type that cannot be moved: %s", t.name, c.name, declared)
		}
		if inKey > 0 {
			places[inKey] = len(t.columns)
		}
		t.columns = append(t.columns, c)
		return nil
	}, "SELECT name, type, pk FROM pragma_table_info(?) ORDER BY cid", t.name)
	if err != nil {
		return err
	}
	for i := range len(places) {
		t.key = append(t.key, places[i+1])
	}
	if t.key == nil {
		return fmt.Errorf("%s has no primary key", t.name)
	}
	return s.each(ctx, func(row func(...any) error) error {
		var needs string
		err := row(&needs)
		t.refers = append(t.refers, needs)
		return err
	}, `SELECT DISTINCT "table" FROM pragma_foreign_key_list(?)`, t.name)
}

// each hands every row of a statement to fn.
func (s *source) each(ctx context.Context, fn func(row func(...any) error) error, query string, args ...any) (err error) {
	rows, err := s.conn.QueryContext(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("read the source: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := fn(rows.Scan); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read the source: %w", err)
	}
	return nil
}

// piece is some rows of a table, and the span that they are all of.
type piece struct {
	of   *table
	span span
	rows [][]any
}

// pieces cuts a table into pieces that leave no gap between them: the first begins before all keys, the last ends behind all.
func (s *source) pieces(ctx context.Context, t *table, emit func(*piece) error) error {
	p, size := &piece{of: t}, 0
	query := fmt.Sprintf("SELECT %s FROM %s ORDER BY %s", t.list(t.all(), "@", ", "), quoted(t.name), t.list(t.key, "@", ", "))
	err := s.each(ctx, func(scan func(...any) error) error {
		if len(p.rows) == pieceRows || size > pieceBytes {
			p.span.through = t.keyOf(p.rows[len(p.rows)-1])
			next := &piece{of: t, span: span{after: p.span.through}}
			if err := emit(p); err != nil {
				return err
			}
			p, size = next, 0
		}
		row := make([]any, len(t.columns))
		to := make([]any, len(row))
		for i := range row {
			to[i] = &row[i]
		}
		if err := scan(to...); err != nil {
			return fmt.Errorf("read the source: %w", err)
		}
		for i, v := range row {
			if b, ok := v.([]byte); ok && b == nil { // so the driver gives no bytes, which are not NULL
				row[i] = []byte{}
			}
		}
		p.rows = append(p.rows, row)
		size += weight(row)
		return nil
	}, query)
	if err != nil {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	return emit(p)
}

// weight is about how many bytes a row takes.
func weight(row []any) int {
	n := 16 * len(row)
	for _, v := range row {
		switch v := v.(type) {
		case string:
			n += len(v)
		case []byte:
			n += len(v)
		}
	}
	return n
}

// guard is the name of the trigger that refuses an operation on a table.
func guard(t *table, operation string) string { return "moved_" + t.name + "_" + operation }

// mark has the source refuse to be opened, and every write, from the commit on.
func (s *source) mark(ctx context.Context, tables []*table, identity, place string, at int64) error {
	_, err := s.conn.ExecContext(ctx, `INSERT INTO moves (id, state, identity, place, at) VALUES (1, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET state = excluded.state, identity = excluded.identity, place = excluded.place, at = excluded.at`,
		store.MovedAway, identity, place, at)
	if err != nil {
		return fmt.Errorf("mark the source: %w", err)
	}
	for _, t := range tables {
		for _, operation := range []string{"INSERT", "UPDATE", "DELETE"} {
			_, err := s.conn.ExecContext(ctx, fmt.Sprintf("CREATE TRIGGER IF NOT EXISTS %s BEFORE %s ON %s BEGIN SELECT RAISE(ABORT, 'this store was moved away'); END",
				quoted(guard(t, strings.ToLower(operation))), operation, quoted(t.name)))
			if err != nil {
				return fmt.Errorf("guard the source: %w", err)
			}
		}
	}
	return nil
}

// unmark lets the source be used again from the commit on.
func (s *source) unmark(ctx context.Context) error {
	var triggers []string
	err := s.each(ctx, func(row func(...any) error) error {
		var name string
		err := row(&name)
		triggers = append(triggers, name)
		return err
	}, "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name LIKE 'moved\\_%' ESCAPE '\\'")
	if err != nil {
		return err
	}
	for _, name := range triggers {
		if _, err := s.conn.ExecContext(ctx, "DROP TRIGGER "+quoted(name)); err != nil {
			return fmt.Errorf("free the source: %w", err)
		}
	}
	if _, err := s.conn.ExecContext(ctx, "DELETE FROM moves"); err != nil {
		return fmt.Errorf("free the source: %w", err)
	}
	return nil
}
