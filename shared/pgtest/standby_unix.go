//go:build unix

package pgtest

import (
	"context"
	"database/sql"
	"net/url"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// Standby makes each commit wait for a standby of this name, which does not exist; "" ends that. It
// returns once commits behave so. The processes of a server read a setting one after the other, so
// a session can show a setting before commits follow it.
func (s *Server) Standby(tb testing.TB, name string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), programtest.Patience)
	defer cancel()
	db := dial(tb, s.URL(url.Values{"synchronous_commit": {"local"}})) // its commits wait for no standby
	for _, statement := range []string{
		"ALTER SYSTEM SET synchronous_standby_names = '" + name + "'",
		"SELECT pg_reload_conf()",
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			tb.Fatal(err)
		}
	}
	for s.waits(ctx, tb, db) != (name != "") {
		continue
	}
}

// waits commits, and reports whether that waited for a standby.
func (s *Server) waits(ctx context.Context, tb testing.TB, db *sql.DB) (is bool) {
	tb.Helper()
	const name = "pgtest"
	done := make(chan error, 1)
	other := dial(tb, s.URL(url.Values{"application_name": {name}, "synchronous_commit": {"on"}}))
	defer func() { _ = other.Close() }() // the loop may open many
	go func() {
		_, err := other.ExecContext(ctx, "SELECT pg_logical_emit_message(true, 'pgtest', '')")
		done <- err
	}()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			if err != nil {
				tb.Fatal(err)
			}
			return is
		case <-tick.C:
		}
		var n int
		err := db.QueryRowContext(ctx,
			"SELECT COUNT(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name = $1",
			name).Scan(&n)
		if err != nil {
			tb.Fatal(err)
		}
		is = is || n > 0
	}
}

// dial opens a database until the test ends.
func dial(tb testing.TB, url string) *sql.DB {
	tb.Helper()
	db, err := sql.Open("pgx", url)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = db.Close() }) // a test's connection
	return db
}
