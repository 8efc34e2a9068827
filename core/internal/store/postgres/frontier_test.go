package postgres_test

import (
	"context"
	"database/sql"
	"net/url"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/postgres"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/pgtest"
)

// mustReach opens a store on a server as a role.
func mustReach(t *testing.T, server *pgtest.Server, role string) *store.DB {
	t.Helper()
	db, err := postgres.Open(t.Context(), server.URL(url.Values{"user": {role}, "patience": {"30s"}}), clock.System())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // what it wrote is not looked at
	return db
}

// mustWrite runs a command that writes, and calls during when it has a transaction of its own.
func mustWrite(t *testing.T, db *store.DB, during func()) {
	t.Helper()
	err := db.Update(context.WithoutCancel(t.Context()), func(tx *store.Tx) error {
		defer during()
		_, err := tx.AdvanceTestClock(1, 1) // any write
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestFrontierPostgreSQL: the oldest command of any core is the frontier for as long as it runs, whatever ends behind it; nobody else's transaction is.
// Who asks need not have a right to look at others' transactions.
func TestFrontierPostgreSQL(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t) // on a shared one other tests' commands are cores' too
	one := mustReach(t, server, "postgres")
	foreign, err := sql.Open("pgx", server.URL(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer foreign.Close() //nolint:errcheck // it wrote nothing that is to stay
	if _, err := foreign.ExecContext(t.Context(), "CREATE ROLE looker LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO looker"); err != nil {
		t.Fatal(err)
	}
	other := mustReach(t, server, "looker")
	frontier := func(when string, held bool) (oldest, next int64) {
		t.Helper()
		oldest, next, err := other.LowWaterMark(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if oldest > next || (oldest < next) != held {
			t.Errorf("%s: the frontier is %d, the next one %d", when, oldest, next)
		}
		return oldest, next
	}
	pass := func() { // somebody else's transaction, which ends
		t.Helper()
		if _, err := foreign.ExecContext(t.Context(), "SELECT pg_current_xact_id()"); err != nil {
			t.Fatal(err)
		}
	}
	_, before := frontier("nobody writes", false)
	open, err := foreign.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = open.Rollback() }() // as above
	if _, err := open.ExecContext(t.Context(), "SELECT pg_current_xact_id()"); err != nil {
		t.Fatal(err)
	}
	pass()
	if _, next := frontier("somebody else's is open", false); next < before+2 {
		t.Errorf("the next one stays %d", next)
	}
	entered, free := make(chan struct{}), make(chan struct{})
	var slow sync.WaitGroup
	slow.Go(func() { mustWrite(t, one, func() { close(entered); <-free }) })
	<-entered
	pass()
	first, _ := frontier("a core's command runs", true)
	pass()
	if oldest, next := frontier("it runs still", true); oldest != first || next < first+3 {
		t.Errorf("the frontier moved from %d to %d, the next one is %d", first, oldest, next)
	}
	close(free)
	slow.Wait()
	frontier("it has ended", false)
}
