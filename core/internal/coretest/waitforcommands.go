package coretest

import (
	"database/sql"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// WaitForCommands waits until every command that runs now on the database has ended, because a list
// waits for them only a second. The next list has all rows whose commits were reported. inspect
// queries the database directly.
func (d *Database) WaitForCommands(tb testing.TB, inspect *sql.DB) {
	tb.Helper()
	if d.url == "" {
		return
	}
	var now string
	if err := inspect.QueryRowContext(tb.Context(), "SELECT CAST(clock_timestamp() AS TEXT)").Scan(&now); err != nil {
		tb.Fatal(err)
	}
	programtest.WaitFor(tb, "all commands have ended", func() bool {
		var running int
		if err := inspect.QueryRowContext(tb.Context(), `SELECT COUNT(*) FROM pg_stat_activity WHERE backend_xid IS NOT NULL
			AND datname = current_database() AND application_name LIKE 'causeway-core%'
			AND xact_start < CAST(CAST(? AS TEXT) AS TIMESTAMPTZ)`, now).Scan(&running); err != nil {
			tb.Fatal(err)
		}
		return running == 0
	})
}
