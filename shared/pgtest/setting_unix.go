//go:build unix

package pgtest

import (
	"context"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// Set changes a setting in the server's configuration and reloads that. It returns once new
// sessions have the value. Existing sessions get it before their next statement or shortly after.
func (s *Server) Set(tb testing.TB, name, value string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), programtest.Patience)
	defer cancel()
	db := dial(tb, s.URL(nil))
	db.SetMaxIdleConns(0) // each statement has a new session
	for _, statement := range []string{"ALTER SYSTEM SET " + name + " = '" + value + "'", "SELECT pg_reload_conf()"} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			tb.Fatal(err)
		}
	}
	for got := ""; got != value; {
		if err := db.QueryRowContext(ctx, "SELECT current_setting($1)", name).Scan(&got); err != nil {
			tb.Fatal(err)
		}
	}
}
