package coretest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// Shared reports whether the tests of this run have their stores on a real PostgreSQL server:
// CAUSEWAY_TEST_STORE is postgres. Otherwise each store is a file.
func Shared() bool { return os.Getenv("CAUSEWAY_TEST_STORE") == "postgres" }

// files and servers are the engines of the store. sqlite.go and postgres.go link them. No other
// helper imports an engine, so an engine can be removed together with its file.
var (
	files   fileEngine
	servers serverEngine
)

// fileEngine opens stores in files.
type fileEngine struct {
	open   func(ctx context.Context, path string, c clock.Clock) (*store.DB, error)
	attach func(ctx context.Context, conn driver.Conn, path string) error // attaches the security codes
}

// serverEngine opens stores on a server.
type serverEngine struct {
	migrate func(ctx context.Context, url string) error
	open    func(ctx context.Context, url string, c clock.Clock, o serverOptions) (*store.DB, error)
}

// serverOptions are the options that only tests set.
type serverOptions struct {
	rehearse int  // every nth command runs twice, 0 for none
	alone    bool // no payment shares a batch
}

// Database is the empty database of one test, which any number of stores may open.
type Database struct {
	// Path is of the file, "" on a server.
	Path string
	url  string
	test serverOptions
}

// NewDatabase returns a database without rows: a file in a folder, or a schema on a server.
func NewDatabase(tb testing.TB, dir string) *Database {
	tb.Helper()
	if Shared() {
		return onServer(serverSchema(tb))
	}
	mustCopyTables(tb, dir)
	return &Database{Path: filepath.Join(dir, databaseFile)}
}

// serverSchema returns the URL of a migrated schema without rows on a server.
func serverSchema(tb testing.TB) string {
	tb.Helper()
	return pgtest.Copy(tb, func(url string) error { return servers.migrate(context.Background(), url) })
}

// onServer returns the database of a URL. One command of four runs twice, and in a soak every
// command. That has the effect of a server that rolls the command back because of other commands.
func onServer(url string) *Database {
	every := 4
	if programtest.Soak() {
		every = 1
	}
	return &Database{url: url, test: serverOptions{rehearse: every}}
}

// patient returns a URL for a machine that is busy with many tests, which do not measure its speed.
// The process can stand still for seconds in the middle of a transaction.
func patient(url string) string {
	return url + "&patience=2m&idle_in_transaction_session_timeout=120000&pool_max_conns=6"
}

// Open opens the store.
func (d *Database) Open(ctx context.Context, c clock.Clock) (*store.DB, error) {
	if d.url == "" {
		return files.open(ctx, d.Path, c)
	}
	return servers.open(ctx, patient(d.url), c, d.test)
}

// MustInspect opens the database for direct queries, without the store. Queries are in SQLite's
// SQL.
func (d *Database) MustInspect(tb testing.TB) *sql.DB {
	tb.Helper()
	if d.url == "" {
		return MustInspect(tb, d.Path)
	}
	connector, err := stdlib.GetDefaultDriver().(driver.DriverContext).OpenConnector(d.url)
	if err != nil {
		tb.Fatal(err)
	}
	db := sql.OpenDB(translating{connector})
	db.SetMaxOpenConns(1)
	tb.Cleanup(func() { _ = db.Close() }) // it wrote nothing
	return db
}

// MustExec writes directly to the database, without the store. Statements are in SQLite's SQL.
func (d *Database) MustExec(tb testing.TB, statement string, args ...any) {
	tb.Helper()
	db := d.mustWrite(tb)
	defer func() { _ = db.Close() }() // the statement below has reported
	if _, err := db.ExecContext(tb.Context(), statement, args...); err != nil {
		tb.Fatal(err)
	}
}

// MustConfirm writes the time of a clock as the confirmed time, like a service that has run until
// then. Without it, a service that is opened much later does not confirm the time of its clock.
func (d *Database) MustConfirm(tb testing.TB, c clock.Clock) {
	tb.Helper()
	d.MustExec(tb, "UPDATE confirmed_clock SET at = ?", c.Now().UnixMilli())
}

func (d *Database) mustWrite(tb testing.TB) *sql.DB {
	tb.Helper()
	if d.url != "" {
		return d.MustInspect(tb)
	}
	return mustAttach(tb, d.Path, "?_pragma=busy_timeout(300000)&_pragma=secure_delete(1)") // which leaves no copies, as the store
}

// mustAttach opens a file with its security codes.
func mustAttach(tb testing.TB, path, parameters string) *sql.DB {
	tb.Helper()
	unused, err := sql.Open("sqlite", "") // for its driver: it never connects
	if err != nil {
		tb.Fatal(err)
	}
	if err := unused.Close(); err != nil {
		tb.Fatal(err)
	}
	return sql.OpenDB(withCodes{unused.Driver(), path, parameters})
}

// withCodes opens connections to a file and attaches its security codes.
type withCodes struct {
	driver           driver.Driver
	path, parameters string
}

// Driver implements driver.Connector.
func (w withCodes) Driver() driver.Driver { return w.driver }

// Connect implements driver.Connector.
func (w withCodes) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := w.driver.Open("file:" + filepath.ToSlash(w.path) + w.parameters)
	if err != nil {
		return nil, err
	}
	return conn, files.attach(ctx, conn, w.path)
}

// Files returns all data that the store has written: the files of its folder, and on a server the
// rows of each table as text.
func (d *Database) Files(tb testing.TB, dir string) map[string][]byte {
	tb.Helper()
	out := Files(tb, dir)
	if d.url == "" {
		return out
	}
	db, err := sql.Open("pgx", d.url)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = db.Close() }() // it wrote nothing
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(tb.Context(), "SET bytea_output = 'escape'"); err != nil { // text stays readable
		tb.Fatal(err)
	}
	for _, table := range mustTexts(tb, db, "SELECT table_name FROM information_schema.tables WHERE table_schema = $1", d.schema()) {
		out["the table "+table] = []byte(strings.Join(mustTexts(tb, db, "SELECT t::text FROM "+table+" t"), "\n"))
	}
	return out
}

func mustTexts(tb testing.TB, db *sql.DB, query string, args ...any) []string {
	tb.Helper()
	rows, err := db.QueryContext(tb.Context(), query, args...)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = rows.Close() }() // rows.Err reports a failure
	var out []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			tb.Fatal(err)
		}
		out = append(out, text)
	}
	if err := rows.Err(); err != nil {
		tb.Fatal(err)
	}
	return out
}

// translating connects to PostgreSQL and translates the statements of tests, which are in SQLite's
// SQL.
type translating struct{ driver.Connector }

// Connect implements driver.Connector.
func (w translating) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := w.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return translatingConn{c.(*stdlib.Conn)}, nil
}

type translatingConn struct{ *stdlib.Conn }

// QueryContext implements driver.QueryerContext.
func (c translatingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	text, args := translated(query, args)
	return c.Conn.QueryContext(ctx, text, args)
}

// ExecContext implements driver.ExecerContext.
func (c translatingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	text, args := translated(query, args)
	return c.Conn.ExecContext(ctx, text, args)
}

var (
	// member reads a member of a JSON text, in SQLite's SQL.
	member = regexp.MustCompile(`(\w+) ->> '\$\.(\w+)'`)
	// parameter matches ?, ?1 and so on.
	parameter = regexp.MustCompile(`\?\d*`)
)

// translated returns a test's statement with PostgreSQL's parameters and JSON operator.
func translated(query string, args []driver.NamedValue) (string, []driver.NamedValue) {
	casts := make([]string, len(args))
	for i, a := range args {
		switch v := a.Value.(type) {
		case bool:
			casts[i] = "::bigint"
			if args[i].Value = int64(0); v {
				args[i].Value = int64(1)
			}
		case int64:
			casts[i] = "::bigint"
		case string:
			casts[i] = "::text"
		case []byte:
			casts[i] = "::bytea"
		}
	}
	last := 0
	text := parameter.ReplaceAllStringFunc(member.ReplaceAllString(query, "($1::jsonb ->> '$2')"), func(p string) string {
		n, err := strconv.Atoi(p[1:])
		if err != nil {
			n = last + 1
		}
		if last = max(last, n); n > len(casts) {
			return p
		}
		return "$" + strconv.Itoa(n) + casts[n-1]
	})
	return text, args
}

// Main is TestMain for a package whose tests may run on a server: it is stopped in the end.
func Main(m *testing.M) { pgtest.Main(m) }

// OnServer returns the empty database of a server that the test itself started.
func OnServer(url string) *Database { return onServer(url) }

// OpenServer opens the store on a server with the settings of production.
func OpenServer(ctx context.Context, url string, c clock.Clock) (*store.DB, error) {
	return servers.open(ctx, url, c, serverOptions{})
}

// MustMigrate makes the tables of a database on a server.
func (d *Database) MustMigrate(tb testing.TB) {
	tb.Helper()
	if err := servers.migrate(tb.Context(), d.url); err != nil {
		tb.Fatal(err)
	}
}
