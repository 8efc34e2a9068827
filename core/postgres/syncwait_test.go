package postgres_test

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestCommitThatNoStandbyHasPostgreSQL: core does not acknowledge a commit that no standby has
// confirmed. This also holds if the waiting connection is cut, because the commit could be lost
// with the primary. After a confirmation, the client's retry returns the one payment.
func TestCommitThatNoStandbyHasPostgreSQL(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	n := open(t, server.URL(nil))
	db := inspect(t, server.URL(nil))
	db.SetMaxOpenConns(1)
	exec := func(statements ...string) {
		t.Helper()
		for _, statement := range statements {
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
	}
	exec("SET synchronous_commit = local") // the test's own commits do not wait
	pay := func(ctx context.Context) int {
		a, err := n.send(ctx, "POST", "/v1/transactions", payment(1000, "pm_card_slow", ""), "one")
		if err != nil {
			return 0
		}
		return a.status
	}
	first := make(chan int, 1)
	go func() { first <- pay(t.Context()) }()
	programtest.WaitFor(t, "the acquirer has the payment", func() bool {
		return number(t, db, "SELECT COUNT(*) FROM transactions WHERE status = 'processing'") == 1
	})
	release := held(t, db)
	server.Standby(t, "nobody")
	release()
	if status := <-first; status < 500 {
		t.Errorf("got %d for a commit that no standby has", status)
	}
	hold := func(during string) {
		t.Helper()
		for over := time.After(4 * time.Second); ; {
			if status := pay(t.Context()); status < 400 {
				t.Fatalf("%s: got %d for a commit that no standby has", during, status)
			}
			select {
			case <-over:
				return
			default:
			}
		}
	}
	hold("the commit waits")
	// This ends the wait, and commits. On a busy machine core may have cut the connection before.
	exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
	programtest.WaitFor(t, "the outcome is visible", func() bool {
		return number(t, db, "SELECT COUNT(*) FROM idempotency_keys WHERE status = 201") == 1
	})
	hold("the outcome is visible")
	server.Standby(t, "")
	programtest.WaitFor(t, "the retry returns the payment", func() bool { return pay(t.Context()) == 201 })
	if got := number(t, db, "SELECT COUNT(*) FROM transactions WHERE amount_captured = 1000"); got != 1 {
		t.Errorf("%d payments, want one", got)
	}
}

// held locks all transactions until release. The outcome must not be committed before the server
// waits for a standby.
func held(t *testing.T, db *sql.DB) (release func()) {
	t.Helper()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "SELECT 1 FROM transactions FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	}
}
