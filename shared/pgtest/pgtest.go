package pgtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"github.com/causeway-pay/causeway/shared/pgtest/server"
)

// Main is TestMain for a package that uses this one: it stops the server in the end.
func Main(m *testing.M) { os.Exit(Run(m)) }

// Run is Main for a TestMain with further work at its end: it returns the exit code.
func Run(m *testing.M) int {
	code := m.Run()
	if one.Server != nil {
		if one.maintenance != nil {
			_ = one.maintenance.Close() // the server ends its connections anyway
		}
		if err := one.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	return code
}

// Schema returns the URL of an empty schema in a new database on the server of this test program.
// The first call starts the server. The end of the test drops the database: in a shared database
// each change of a schema empties the catalog caches of all connections.
func Schema(tb testing.TB) string {
	tb.Helper()
	return NewSchema(tb, newDatabase(tb, ""))
}

// Copy returns the URL of a schema as prepare makes it, in a new database. Only the first call of a
// program runs prepare: creating the tables would take most of a test's time.
func Copy(tb testing.TB, prepare func(url string) error) string {
	tb.Helper()
	start(tb)
	one.template.Do(func() { one.templateErr = makeTemplate(prepare) })
	if one.templateErr != nil {
		tb.Fatal(one.templateErr)
	}
	at, err := url.Parse(newDatabase(tb, " TEMPLATE prepared STRATEGY file_copy"))
	if err != nil {
		tb.Fatal(err)
	}
	return one.URL(at.Path[1:], url.Values{"search_path": {"prepared"}})
}

func makeTemplate(prepare func(url string) error) error {
	if _, err := one.maintenance.ExecContext(context.Background(), "CREATE DATABASE prepared"); err != nil {
		return err
	}
	at := one.URL("prepared", url.Values{"search_path": {"prepared"}})
	if err := execute(at, "CREATE SCHEMA prepared"); err != nil {
		return err
	}
	return prepare(at)
}

// start starts the server of this test program.
func start(tb testing.TB) {
	tb.Helper()
	one.once.Do(func() {
		if one.Server, one.err = server.Start(context.Background(), settings...); one.err == nil {
			one.maintenance, one.err = sql.Open("pgx", one.URL("postgres", nil))
		}
	})
	if one.err != nil {
		tb.Fatal(one.err)
	}
}

// newDatabase returns the URL of a new database, which the end of the test drops.
func newDatabase(tb testing.TB, options string) string {
	tb.Helper()
	start(tb)
	name := fmt.Sprintf("t%d", one.names.Add(1))
	run := func(statement string) {
		tb.Helper()
		if _, err := one.maintenance.ExecContext(context.Background(), statement); err != nil {
			tb.Fatal(err)
		}
	}
	run("CREATE DATABASE " + name + options)
	tb.Cleanup(func() { run("DROP DATABASE " + name + " WITH (FORCE)") })
	return one.URL(name, nil)
}

// NewSchema returns the URL of an empty schema in the database of a URL that Schema returned.
func NewSchema(tb testing.TB, database string) string {
	tb.Helper()
	at, err := url.Parse(database)
	if err != nil {
		tb.Fatal(err)
	}
	schema := fmt.Sprintf("s%d", one.names.Add(1))
	if err := execute(database, "CREATE SCHEMA "+schema); err != nil {
		tb.Fatal(err)
	}
	query := at.Query()
	query.Set("search_path", schema)
	at.RawQuery = query.Encode()
	return at.String()
}

// execute runs a statement on a new connection.
func execute(database, statement string) error {
	db, err := sql.Open("pgx", database)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(context.Background(), statement)
	return errors.Join(err, db.Close())
}

// settings are the settings of servers for tests. Their databases live for seconds, so nothing is
// vacuumed, and few pages are kept. fsync stays on: core and mle-filter reject a
// server without it.
var settings = []string{"max_connections=300", "autovacuum=off", "shared_buffers=32MB", "jit=off"}

// one is the server of this test program.
var one struct {
	*server.Server
	maintenance *sql.DB // creates and drops databases
	once        sync.Once
	err         error
	template    sync.Once // of Copy
	templateErr error
	names       atomic.Int64
}
