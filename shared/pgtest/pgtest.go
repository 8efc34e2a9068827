package pgtest

import (
	"context"
	"database/sql"
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

// Run is Main for one that has more to do in the end: it returns the exit code.
func Run(m *testing.M) int {
	code := m.Run()
	if one.Server != nil {
		if err := one.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	return code
}

// Schema returns the URL of an empty schema on the server of this test program. The first call
// starts the server.
func Schema(tb testing.TB) string {
	tb.Helper()
	one.once.Do(func() { one.Server, one.err = server.Start(context.Background(), settings...) })
	if one.err != nil {
		tb.Fatal(one.err)
	}
	schema := fmt.Sprintf("t%d", one.schemas.Add(1))
	db, err := sql.Open("pgx", one.URL("postgres", nil))
	if err != nil {
		tb.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // a test's connection
	if _, err := db.ExecContext(tb.Context(), "CREATE SCHEMA "+schema); err != nil {
		tb.Fatal(err)
	}
	return one.URL("postgres", url.Values{"search_path": {schema}})
}

// settings are the settings of servers for tests. fsync stays on: core and mle-filter reject a
// server without it.
var settings = []string{"max_connections=300"}

// one is the server of this test program.
var one struct {
	*server.Server
	once    sync.Once
	err     error
	schemas atomic.Int64
}
