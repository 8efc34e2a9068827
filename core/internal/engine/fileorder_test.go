package engine_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// heldCommand is a command that runs until it is released.
type heldCommand struct{ entered, release chan struct{} }

// startHeld starts a held command, which writes a row if it is on a server.
func startHeld(s *coretest.Service, all *sync.WaitGroup) heldCommand {
	h := heldCommand{make(chan struct{}), make(chan struct{})}
	enter := sync.OnceFunc(func() { close(h.entered) }) // a command may run again
	all.Go(func() {
		_ = s.DB.Update(context.Background(), func(tx *store.Tx) error {
			_, err := tx.AdvanceTestClock(7, 1) // any write
			enter()
			<-h.release
			return err
		})
	})
	return h
}

// awaitQueue waits until that many commands wait for a batch of the file.
func awaitQueue(t *testing.T, s *coretest.Service, commands int) {
	t.Helper()
	programtest.WaitFor(t, "the commands are in the queue", func() bool { return s.DB.Waiting() == commands })
}

// pollBetween puts the command of first into one batch of the file, and the command of late into
// the next batch. The command of late is queued before the command of first runs. It returns the
// ids that list returns between the two commits.
func pollBetween(t *testing.T, s *coretest.Service, first, late func(), list func() []int64) (between []int64) {
	t.Helper()
	s.DB.Observe(func(b store.Batch) {
		if b.Commands == 2 {
			between = list()
		}
	}, nil)
	var all sync.WaitGroup
	blocking := startHeld(s, &all)
	<-blocking.entered
	ahead := startHeld(s, &all)
	awaitQueue(t, s, 1)
	all.Go(first)
	awaitQueue(t, s, 2)
	close(blocking.release)
	<-ahead.entered
	all.Go(late)
	awaitQueue(t, s, 1)
	close(ahead.release)
	all.Wait()
	return between
}

// mustIDs returns the ids of a list.
func mustIDs[T any](t *testing.T, l payment.List[T], err error, idOf func(T) int64) []int64 {
	t.Helper()
	out, err := ids(l, err, idOf)
	if err != nil {
		t.Error(err)
	}
	return out
}

// mustCapture makes a payment that is captured.
func mustCapture(t *testing.T, s *coretest.Service) {
	t.Helper()
	if a, err := s.Pay(context.Background(), s.Request(""), 100, true); err != nil || a.Status != 201 {
		t.Errorf("pay: %d, %v", a.Status, err)
	}
}

// wantPolled checks that a client that polls between two commits, from the only id, reads one more
// row.
func wantPolled(t *testing.T, between []int64, list func(before int64) []int64) {
	t.Helper()
	if len(between) != 1 {
		t.Fatalf("between the commits: got %v, want one id", between)
	}
	if got := list(between[0]); len(got) != 1 {
		t.Errorf("polled on from %d: got %v, want the other row of %v", between[0], got, list(0))
	}
}

// TestAPollSeesPaymentsOfAFileSQLite: a payment waits in the queue while another one is committed
// and listed. A client that polls from that one finds the payment.
func TestAPollSeesPaymentsOfAFileSQLite(t *testing.T) {
	t.Parallel()
	if coretest.Shared() {
		return
	}
	s := coretest.Open(t)
	list := func(before int64) []int64 {
		l, err := s.DB.Transactions(context.Background(), s.Tenant, payment.Page{Limit: 50, Before: before})
		return mustIDs(t, l, err, transactionID)
	}
	wantPolled(t, pollBetween(t, s,
		func() {
			if _, err := s.Prepare(context.Background(), s.Request(""), 100, true); err != nil {
				t.Error(err)
			}
		},
		func() { mustCapture(t, s) },
		func() []int64 { return list(0) }), list)
}

// TestAPollSeesEventsOfAFileSQLite is TestAPollSeesPaymentsOfAFileSQLite for the event of an
// outcome.
func TestAPollSeesEventsOfAFileSQLite(t *testing.T) {
	t.Parallel()
	if coretest.Shared() {
		return
	}
	s := coretest.Open(t)
	sent, respond := make(chan struct{}), make(chan struct{})
	s.Acquirer.After = func(context.Context, coretest.Call) error { close(sent); <-respond; return nil }
	var paying sync.WaitGroup
	paying.Go(func() { mustCapture(t, s) })
	<-sent
	list := func(before int64) []int64 {
		l, err := s.DB.Events(context.Background(), s.Tenant, payment.EventFilter{}, payment.Page{Limit: 50, Before: before})
		return mustIDs(t, l, err, eventID)
	}
	wantPolled(t, pollBetween(t, s,
		func() {
			if _, err := s.Engine.CreateCustomer(context.Background(), s.Request(""), []byte("{}")); err != nil {
				t.Error(err)
			}
		},
		func() { close(respond); paying.Wait() },
		func() []int64 { return list(0) }), list)
}

// TestAPollSeesPaymentMethodsOfAFileSQLite is TestAPollSeesPaymentsOfAFileSQLite for the payment
// methods of a customer.
func TestAPollSeesPaymentMethodsOfAFileSQLite(t *testing.T) {
	t.Parallel()
	if coretest.Shared() {
		return
	}
	s := coretest.Open(t)
	customer, err := customerOf(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	late := attaching(s, customer, MustToken(t, s, ""))
	list := func(before int64) []int64 {
		l, err := s.DB.Methods(context.Background(), s.Tenant, customer, payment.MethodFilter{}, payment.Page{Limit: 50, Before: before})
		return mustIDs(t, l, err, methodID)
	}
	wantPolled(t, pollBetween(t, s,
		func() {
			err := s.DB.Update(context.Background(), func(tx *store.Tx) error {
				return insertMethod(tx, s, s.IDs.Next(), customer)
			})
			if err != nil {
				t.Error(err)
			}
		},
		func() {
			if a, err := late(context.Background()); err != nil || a.Status != 201 {
				t.Errorf("attach: %d, %v", a.Status, err)
			}
		},
		func() []int64 { return list(0) }), list)
}

// TestEventsOfTwoDaysSQLite: the outcome of a payment waits for its commit at midnight. Its event
// is in the list of exactly one of the two days.
func TestEventsOfTwoDaysSQLite(t *testing.T) {
	t.Parallel()
	if coretest.Shared() {
		return
	}
	s := coretest.Open(t)
	sent, respond := make(chan struct{}), make(chan struct{})
	s.Acquirer.After = func(context.Context, coretest.Call) error { close(sent); <-respond; return nil }
	var all sync.WaitGroup
	all.Go(func() { mustCapture(t, s) })
	<-sent
	held := startHeld(s, &all)
	<-held.entered
	close(respond)
	awaitQueue(t, s, 1)
	s.Clock.Advance(500 * time.Millisecond)
	midnight := s.Clock.Now()
	s.Clock.Advance(500 * time.Millisecond)
	close(held.release)
	all.Wait()
	found := 0
	for _, f := range []payment.EventFilter{{Before: midnight}, {After: midnight.Add(-time.Millisecond)}} {
		l, err := s.DB.Events(t.Context(), s.Tenant, f, payment.Page{Limit: 50})
		if err != nil {
			t.Fatal(err)
		}
		found += len(l.Rows)
	}
	if found != 1 {
		t.Errorf("events of both days: got %d, want 1", found)
	}
}

// TestListsDuringASlowCommandPostgreSQL: a command of another core does not end. The lists of many
// merchants have their acknowledged rows, and none waits behind the others. A page of rows newer
// than a cursor omits these rows until the command has ended.
func TestListsDuringASlowCommandPostgreSQL(t *testing.T) {
	t.Parallel()
	s := coretest.OpenOnce(t)
	var all sync.WaitGroup
	held := startHeld(s.Beside(t), &all)
	<-held.entered
	const merchants = 40
	for n := range int64(merchants) {
		err := s.DB.Update(t.Context(), func(tx *store.Tx) error {
			tenant := payment.Tenant{Merchant: 1000 + n}
			return tx.InsertCustomer(&payment.Customer{ID: s.IDs.Next(), Tenant: tenant, Details: []byte("{}")})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	list := func(merchant, before int64) []*payment.Customer {
		page := payment.Page{Limit: 5, Before: before}
		l, err := s.DB.Customers(context.Background(), payment.Tenant{Merchant: 1000 + merchant}, payment.CustomerFilter{}, page)
		if err != nil {
			t.Errorf("merchant %d: %v", merchant, err)
		}
		return l.Rows
	}
	var lists sync.WaitGroup
	for n := range int64(merchants) {
		lists.Go(func() {
			if got := list(n, 0); len(got) != 1 {
				t.Errorf("merchant %d: got %d rows, want the acknowledged one", n, len(got))
			}
		})
	}
	lists.Wait()
	if got := list(1, 1); len(got) != 0 {
		t.Errorf("newer rows while the command runs: got %d, want none", len(got))
	}
	close(held.release)
	all.Wait()
	programtest.WaitFor(t, "newer rows are listed", func() bool { return len(list(1, 1)) == 1 })
}
