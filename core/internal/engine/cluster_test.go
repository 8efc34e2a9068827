package engine_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// MustHeartbeat lets cores write heartbeats, in this order.
func MustHeartbeat(t *testing.T, cores ...*coretest.Service) {
	t.Helper()
	for _, s := range cores {
		if err := s.Cluster.Heartbeat(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestACoreStopsPostgreSQL: of three cores one stops with a payment at the acquirer. The leader
// then claims it, and it alone inquires at the acquirer, once. It leaves the steps of the other
// cores alone. An approval that comes later is released.
func TestACoreStopsPostgreSQL(t *testing.T) {
	t.Parallel()
	first := coretest.OpenShared(t)
	second, third := first.Beside(t), first.Beside(t)
	all := []*coretest.Service{first, second, third}
	MustHeartbeat(t, all...)
	if !first.Cluster.Leads() || second.Cluster.Leads() || third.Cluster.Leads() {
		t.Fatal("the first core leads, and it alone")
	}
	held, reached := make(chan struct{}), make(chan struct{}, 2)
	first.Acquirer.Before = func(_ context.Context, c coretest.Call) error {
		if c.Verb == coretest.Authorize {
			reached <- struct{}{}
			<-held
		}
		return nil
	}
	var running sync.WaitGroup
	var stopped, living engine.Result
	running.Go(func() { stopped, _ = first.Pay(t.Context(), first.Request("stopped"), 100, true) })
	<-reached
	running.Go(func() { living, _ = second.Pay(t.Context(), second.Request("living"), 50, true) })
	<-reached
	passes := func() {
		var passing sync.WaitGroup
		for _, s := range all[1:] {
			passing.Go(func() {
				if err := s.Engine.NewRecovery().CatchUp(t.Context(), time.Minute); err != nil {
					t.Error(err)
				}
			})
		}
		passing.Wait()
	}
	first.Clock.Advance(time.Second)
	passes()
	if got := len(first.Acquirer.Calls(coretest.Inquire)); got != 0 {
		t.Errorf("%d questions while all cores live", got)
	}
	programtest.WaitFor(t, "another core leads", func() bool { // the first sends no heartbeat
		MustHeartbeat(t, second, third)
		return second.Cluster.Leads() || third.Cluster.Leads()
	})
	for range 6 {
		MustHeartbeat(t, second, third)
	}
	passes()
	// There is one inquiry about the payment, and one by its reversal before the drop request.
	if inquiries, voids := first.Acquirer.Calls(coretest.Inquire), first.Acquirer.Calls(coretest.Void); len(inquiries) != 2 || len(voids) != 1 {
		t.Errorf("inquiries %v, voids %v", inquiries, voids)
	}
	if got := first.Number(t, "SELECT COUNT(*) FROM transactions WHERE status = 'processing'"); got != 1 {
		t.Errorf("%d payments run, want the living core's", got)
	}
	close(held)
	running.Wait()
	if living.Status != 201 || stopped.Status == 201 {
		t.Errorf("living %d, stopped %d", living.Status, stopped.Status)
	}
	first.Acquirer.Before = nil
	first.Clock.Advance(time.Minute)
	programtest.WaitFor(t, "the acquirer holds the living core's 50 alone", func() bool {
		MustHeartbeat(t, second, third) // a busy machine may have outlasted the lease
		passes()
		return first.Acquirer.HeldInAll() == 50
	})
	wantSettledBooks(t, first)
}

// TestPassesAtOncePostgreSQL: if two cores lead for a moment, work that both do takes effect once.
func TestPassesAtOncePostgreSQL(t *testing.T) {
	t.Parallel()
	first := coretest.OpenShared(t)
	all := []*coretest.Service{first, first.Beside(t), first.Beside(t)}
	for i := range 120 {
		mustPay(t, all[i%3], true)
		mustPay(t, all[i%3], false)
	}
	for range 30 {
		lose(first, coretest.Authorize, true, nil)
		if _, err := first.Pay(t.Context(), first.Request(""), 100, true); err != nil {
			t.Fatal(err)
		}
	}
	heal(first)
	if _, err := first.Engine.Broadcast(t.Context(), engine.Request{Tenant: engine.Operator(), ID: "req"}, "certificate.rotated", "one", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	together := func(do func(s *coretest.Service) (int, error)) (sum int) {
		var mu sync.Mutex
		var wg sync.WaitGroup
		for _, s := range all {
			wg.Go(func() {
				n, err := do(s)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				sum += n
			})
		}
		wg.Wait()
		return sum
	}
	first.Clock.Advance(time.Second)
	for _, s := range all { // each considers itself the leader
		s.Engine.Cluster = nil
	}
	together(func(s *coretest.Service) (int, error) {
		return 0, s.Engine.NewRecovery().CatchUp(t.Context(), time.Minute)
	})
	first.Clock.Advance(24 * time.Hour)
	if got := together(func(s *coretest.Service) (int, error) { return s.Engine.SettleDue(t.Context()) }); got != 150 {
		t.Errorf("settled %d, want 150", got)
	}
	first.Clock.Advance(7 * 24 * time.Hour)
	if got := together(func(s *coretest.Service) (int, error) { return s.Engine.ExpireDue(t.Context()) }); got != 120 {
		t.Errorf("expired %d, want 120", got)
	}
	together(func(s *coretest.Service) (int, error) { return s.Engine.BroadcastDue(t.Context()) })
	for kind, want := range map[string]int64{"transaction.settled": 150, "transaction.expired": 120, "transaction.captured": 150, "certificate.rotated": 2} {
		if got := first.Number(t, "SELECT COUNT(*) FROM events WHERE type = ?", kind); got != want {
			t.Errorf("%s: got %d events, want %d", kind, got, want)
		}
	}
	wantSettledBooks(t, first)
}

// TestEventsOfSeveralCoresPostgreSQL: a core whose clock is slow draws lower ids. A client that
// pages misses none of its events.
func TestEventsOfSeveralCoresPostgreSQL(t *testing.T) {
	t.Parallel()
	first := coretest.OpenShared(t)
	slow := first.Beside(t)
	event := func(s *coretest.Service, n int64) {
		t.Helper()
		err := s.DB.Update(t.Context(), func(tx *store.Tx) error {
			return tx.InsertEvent(&payment.Event{ID: n, Tenant: s.Tenant, Type: "customer.created", Object: 1, Sequence: 1, Data: []byte("{}")})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	list := func(p payment.Page) (ids []int64) {
		t.Helper()
		first.Database.WaitForCommands(t, first.Inspect)
		p.Limit = 10
		found, err := first.DB.Events(t.Context(), first.Tenant, payment.EventFilter{}, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range found.Rows {
			ids = append(ids, e.ID)
		}
		return ids
	}
	event(first, 1000)
	if got := list(payment.Page{}); len(got) != 1 {
		t.Fatalf("got %v", got)
	}
	event(slow, 500)
	if got := list(payment.Page{Before: 1000}); len(got) != 1 || got[0] != 500 {
		t.Errorf("after 1000: got %v, want 500", got)
	}
	event(first, 2000)
	if got := list(payment.Page{}); len(got) != 3 || got[0] != 2000 || got[1] != 500 || got[2] != 1000 {
		t.Errorf("newest first: got %v", got)
	}
	if got := list(payment.Page{After: 500}); len(got) != 1 || got[0] != 1000 {
		t.Errorf("older than 500: got %v, want 1000", got)
	}
	restored(t, first, event, list)
}

// restored restores a dump of the events on a server whose transaction counter is lower.
func restored(
	t *testing.T, first *coretest.Service, event func(*coretest.Service, int64), list func(payment.Page) []int64,
) {
	t.Helper()
	first.MustExec(t, "UPDATE events SET position = position + 1000000000")
	again := first.Beside(t)
	if got := list(payment.Page{}); len(got) != 3 {
		t.Errorf("after a restore: got %v", got)
	}
	event(again, 600)
	if got := list(payment.Page{Before: 2000}); len(got) != 1 || got[0] != 600 {
		t.Errorf("after 2000 and a restore: got %v, want 600", got)
	}
	before := first.Number(t, "SELECT commit_position('0')")
	if first.Beside(t); first.Number(t, "SELECT commit_position('0')") != before {
		t.Error("the offset was raised once more")
	}
}

// TestTakenBackPostgreSQL: a command that runs again, because of other commands, begins from its
// request. The amount that is left is read again.
func TestTakenBackPostgreSQL(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		capture bool // immediately
		table   string
		change  string // the change of another program between the first time and the second
		step    func(s *coretest.Service, txn int64) action
		took    string
	}{
		"capture": {false, "captures", "amount_captured = 40, status = 'partially_captured'", func(s *coretest.Service, txn int64) action {
			return capturing(s, txn, 0, false)
		}, "SELECT amount FROM captures WHERE state = 'succeeded' AND transaction_id = ?"},
		"refund": {true, "refunds", "amount_refunded = 40", func(s *coretest.Service, txn int64) action {
			return refunding(s, txn, 0)
		}, "SELECT amount FROM refunds WHERE state = 'succeeded' AND transaction_id = ?"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := coretest.OpenShared(t)
			s.MustExec(t, "CREATE SEQUENCE times")
			s.MustExec(t, `CREATE FUNCTION twice() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				IF nextval('times') > 1 THEN RETURN NEW; END IF;
				WHILE NOT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))) LOOP
					PERFORM pg_sleep(0.01); -- until somebody waits for what this has locked
				END LOOP;
				RAISE EXCEPTION 'again' USING ERRCODE = '40001'; END $$`)
			s.MustExec(t, "CREATE TRIGGER twice BEFORE INSERT ON "+c.table+" FOR EACH ROW EXECUTE FUNCTION twice()")
			for !takenBack(t, s, c.capture, c.change, c.step, c.took) { // else the second time was before the change
				continue
			}
		})
	}
}

// takenBack takes a step on a new payment, and reports whether the change of another program came
// between its two times.
func takenBack(t *testing.T, s *coretest.Service, capture bool, change string, step func(*coretest.Service, int64) action, took string) bool {
	t.Helper()
	s.MustExec(t, "SELECT nextval('times'), nextval('times')") // the payment's own capture does not count
	txn, err := paid(t.Context(), s, 100, capture)
	if err != nil {
		t.Fatal(err)
	}
	s.MustExec(t, "ALTER SEQUENCE times RESTART")
	var taking sync.WaitGroup
	taking.Go(func() {
		if a, err := step(s, txn)(t.Context()); err != nil || a.Status != 201 {
			t.Errorf("got %d %s, %v", a.Status, a.Body, err)
		}
	})
	for s.Number(t, "SELECT last_value * CASE WHEN is_called THEN 1 ELSE 0 END FROM times") == 0 { // until it is in its first time
		runtime.Gosched()
	}
	captured := map[bool]int64{true: 100}[capture]
	done, err := s.Inspect.ExecContext(t.Context(), "UPDATE transactions SET "+change+
		" WHERE id = ? AND amount_captured = ? AND amount_capture_pending + amount_refund_pending + amount_refunded = 0", txn, captured) // at the end of that
	if err != nil {
		t.Error(err)
		return true
	}
	taking.Wait()
	if n, err := done.RowsAffected(); n == 0 && err == nil && !t.Failed() {
		return false
	}
	if got := s.Number(t, took, txn); got != 60 {
		t.Errorf("took %d, want the 60 that were left", got)
	}
	return true
}
