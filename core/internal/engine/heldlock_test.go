package engine_test

import (
	"context"
	"database/sql"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// hold locks the row of a transaction until release, like a command of another program.
func hold(t *testing.T, s *coretest.Service, txn int64) (held *sql.Tx, release func()) {
	t.Helper()
	held, err := s.Database.MustInspect(t).BeginTx(t.Context(), &sql.TxOptions{})
	if err != nil {
		t.Fatal(err)
	}
	release = sync.OnceFunc(func() { _ = held.Rollback() }) // it changed nothing
	t.Cleanup(release)
	if _, err := held.ExecContext(t.Context(), "SELECT id FROM transactions WHERE id = ? FOR UPDATE", txn); err != nil {
		t.Fatal(err)
	}
	return held, release
}

// waiter returns the statement that waits for a lock, once one does.
func waiter(t *testing.T, s *coretest.Service) string {
	t.Helper()
	for {
		got := s.Texts(t, `SELECT query FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'causeway-core' AND datname = current_database()
			AND pid IN (SELECT pid FROM pg_locks WHERE relation = 'transactions'::regclass)`)
		if len(got) > 0 {
			return got[0]
		}
		runtime.Gosched()
	}
}

// TestTheTransactionIsLockedBeforeItsCapturePostgreSQL: a refund that waits for the lock of its
// transaction has not locked the capture yet. Otherwise a command that locks the transaction first
// and then the capture would deadlock with it.
func TestTheTransactionIsLockedBeforeItsCapturePostgreSQL(t *testing.T) {
	t.Parallel()
	s := coretest.OpenShared(t)
	txn, err := paid(t.Context(), s, 100, true)
	if err != nil {
		t.Fatal(err)
	}
	asked, proceed := make(chan struct{}), make(chan struct{})
	s.Acquirer.Before = func(_ context.Context, c coretest.Call) error {
		if c.Verb == coretest.Refund {
			close(asked)
			<-proceed
		}
		return nil
	}
	var ended sync.WaitGroup
	var a engine.Result
	ended.Go(func() { a, err = refunding(s, txn, 60)(t.Context()) })
	<-asked
	held, release := hold(t, s, txn)
	close(proceed)
	waiter(t, s)
	if _, err := held.ExecContext(t.Context(), "SELECT id FROM captures WHERE transaction_id = ? FOR UPDATE NOWAIT", txn); err != nil {
		t.Errorf("the capture is locked: %v", err)
	}
	release()
	ended.Wait()
	if err != nil || a.Status != 201 {
		t.Errorf("got %d %s, %v", a.Status, a.Body, err)
	}
}

// TestTheRestIsReadUnderItsLockPostgreSQL: the remaining amount is read after all commands that can
// change it.
func TestTheRestIsReadUnderItsLockPostgreSQL(t *testing.T) {
	t.Parallel()
	s := coretest.OpenShared(t)
	txn, err := paid(t.Context(), s, 100, true)
	if err != nil {
		t.Fatal(err)
	}
	_, release := hold(t, s, txn)
	var ended sync.WaitGroup
	ended.Go(func() {
		if a, err := refunding(s, txn, 0)(t.Context()); err != nil || a.Status != 201 {
			t.Errorf("got %d %s, %v", a.Status, a.Body, err)
		}
	})
	if got := waiter(t, s); len(got) < 6 || got[:6] != "SELECT" {
		t.Errorf("it had read by the time it waits: %s", got)
	}
	release()
	ended.Wait()
}

// TestMovedEventsPostgreSQL: events that were imported from another store have no commit position.
// Lists show them by id, before all events of this store. A client that pages across both kinds, in
// either direction, reads each event once.
func TestMovedEventsPostgreSQL(t *testing.T) {
	t.Parallel()
	s := coretest.OpenShared(t)
	for n := int64(1); n <= 5; n++ {
		mustEvent(t, s, 10*n, nil)
	}
	s.MustExec(t, "UPDATE events SET position = 0")
	for _, n := range []int64{70, 45, 60} { // one of a core whose clock is slow
		mustEvent(t, s, n, nil)
	}
	want := []int64{10, 20, 30, 40, 50, 70, 45, 60}
	s.Database.WaitForCommands(t, s.Inspect)
	list := func(p payment.Page) (ids []int64) {
		p.Limit = 2
		found, err := s.DB.Events(t.Context(), s.Tenant, payment.EventFilter{}, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range found.Rows {
			ids = append(ids, e.ID)
		}
		return ids
	}
	up := []int64{}
	for got := list(payment.Page{Before: 1}); len(got) > 0; got = list(payment.Page{Before: up[len(up)-1]}) {
		slices.Reverse(got)
		up = append(up, got...)
	}
	down := []int64{}
	for got := list(payment.Page{}); len(got) > 0; got = list(payment.Page{After: down[len(down)-1]}) {
		down = append(down, got...)
	}
	slices.Reverse(down)
	if !slices.Equal(up, want) || !slices.Equal(down, want) {
		t.Errorf("got %v and %v, want %v", up, down, want)
	}
}
