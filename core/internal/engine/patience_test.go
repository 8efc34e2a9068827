package engine_test

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// network forwards to a PostgreSQL server and delays each message. It delays none before the store
// is open, because a busy machine already needs the time of a connection.
type network struct {
	delay    time.Duration
	open     atomic.Bool
	messages atomic.Int64 // remaining messages before the network breaks; 0 for no limit
	broken   chan struct{}
}

// mustServe returns the URL of a server behind the network.
func (n *network) mustServe(t *testing.T, server string) string {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	q, dir := u.Query(), t.TempDir()
	socket := filepath.Join(q.Get("host"), ".s.PGSQL.5432")
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", filepath.Join(dir, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() }) // nothing uses it any more
	n.broken = make(chan struct{})
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := new(net.Dialer).DialContext(t.Context(), "unix", socket)
			if err != nil {
				_ = near.Close() // the client sees that
				continue
			}
			go n.forward(t, near, far)
			go n.forward(t, far, near)
		}
	}()
	q.Set("host", dir)
	u.RawQuery = q.Encode()
	return strings.Replace(u.String(), "postgres:/postgres", "postgres:///postgres", 1)
}

func (n *network) forward(t *testing.T, from io.ReadCloser, to io.WriteCloser) {
	t.Helper()
	defer func() { _, _ = from.Close(), to.Close() }() // the other end sees that
	b := make([]byte, 1<<16)
	for {
		length, err := from.Read(b)
		if err != nil {
			return
		}
		if n.messages.Add(-1) == 0 {
			close(n.broken)
		}
		delay := n.delay
		if !n.open.Load() {
			delay = 0
		}
		select {
		case <-n.broken:
			<-t.Context().Done()
			return
		case <-time.After(delay):
		}
		if _, err := to.Write(b[:length]); err != nil {
			return
		}
	}
}

// onNetwork makes a service on a server, and an engine on the same store behind a network. It has
// the settings of production unless parameters of the URL set others.
func onNetwork(t *testing.T, n *network, parameters string) (s *coretest.Service, far *engine.Engine) {
	t.Helper()
	server, c := pgtest.Schema(t), clock.NewFake(coretest.Birth)
	base := &coretest.Service{
		Dir: t.TempDir(), Acquirer: &coretest.Acquirer{}, Accounts: &coretest.Accounts{}, Clock: c, IDs: id.NewGenerator(c), Log: &programtest.Log{},
		Database: coretest.OnServer(server),
	}
	s = base.Beside(t)
	s.Tenant = mustMerchant(t, s)
	db, err := coretest.OpenServer(t.Context(), n.mustServe(t, server)+parameters, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })                               // its network may be broken
	programtest.WaitFor(t, "a pass has its connections", func() bool { // a busy machine connects slowly
		_, err := db.Days(t.Context())
		return errors.Join(err, db.Update(t.Context(), func(*store.Tx) error { return nil })) == nil
	})
	n.open.Store(true)
	config := s.Engine.Config
	config.Store = db
	far = engine.New(config)
	db.ObserveSkips(far.Skipped)
	return s, far
}

// longer is three times the patience of production: a small command is slow on a busy machine. The
// networks are slow in proportion.
const longer = "&patience=5400ms"

// wantNoSkip checks that no pass has skipped an object.
func wantNoSkip(t *testing.T, s *coretest.Service) {
	t.Helper()
	if strings.Contains(s.Log.String(), "an object was skipped") {
		t.Error("an object was skipped: " + s.Log.String())
	}
}

// TestSettlementOverASlowNetworkPostgreSQL: the captures of a page cannot all be settled within the
// time of one command. They are settled in several commits of one pass, and so are the captures of
// the next merchant.
func TestSettlementOverASlowNetworkPostgreSQL(t *testing.T) {
	t.Parallel()
	s, far := onNetwork(t, &network{delay: 12 * time.Millisecond}, longer)
	for range 40 {
		mustPayFor(t, s, s.Tenant)
	}
	mustPayFor(t, s, mustMerchant(t, s))
	s.Clock.Advance(25 * time.Hour)
	if n, err := far.SettleDue(t.Context()); err != nil || n != 41 {
		t.Errorf("settled: got %d, %v, want 41", n, err)
	}
	wantNoSkip(t, s)
}

// TestSettlementRunOverASlowNetworkPostgreSQL: one run of the test helpers cannot settle all
// transactions within the time of one command. The runs settle them together.
func TestSettlementRunOverASlowNetworkPostgreSQL(t *testing.T) {
	t.Parallel()
	s, far := onNetwork(t, &network{delay: 24 * time.Millisecond}, longer)
	for range 60 {
		mustPayFor(t, s, s.Tenant)
	}
	settled := 0
	for more, runs := true, 0; more; runs++ {
		result, err := far.RunSettlement(t.Context(), engine.Request{Tenant: s.Tenant, ID: "req"})
		if err != nil || result.Status != 200 {
			t.Fatalf("run %d: %d, %v", runs, result.Status, err)
		}
		run := v1.SettlementRun{}
		if err := json.Unmarshal(result.Body, &run); err != nil || run.TransactionsSettled == 0 {
			t.Fatalf("run %d: got %s, %v, want some transactions", runs, result.Body, err)
		}
		settled, more = settled+run.TransactionsSettled, run.HasMore
	}
	if settled != 60 {
		t.Errorf("settled: got %d, want 60", settled)
	}
}

// TestExpiryOverASlowNetworkPostgreSQL is TestSettlementOverASlowNetworkPostgreSQL for
// authorizations that expire.
func TestExpiryOverASlowNetworkPostgreSQL(t *testing.T) {
	t.Parallel()
	s, far := onNetwork(t, &network{delay: 15 * time.Millisecond}, longer)
	for range 50 {
		mustPayAs(t, s, s.Tenant)
	}
	s.Clock.Advance(8 * 24 * time.Hour)
	if n, err := far.ExpireDue(t.Context()); err != nil || n != 50 {
		t.Errorf("expired: got %d, %v, want 50", n, err)
	}
	wantNoSkip(t, s)
}

// TestBroadcastOverASlowNetworkPostgreSQL is TestSettlementOverASlowNetworkPostgreSQL for the
// merchants of a broadcast.
func TestBroadcastOverASlowNetworkPostgreSQL(t *testing.T) {
	t.Parallel()
	s, far := onNetwork(t, &network{delay: 12 * time.Millisecond}, longer)
	for range 39 {
		mustMerchant(t, s)
	}
	a, err := s.Engine.Broadcast(t.Context(), s.Request(""), "certificate.rotated", "one", []byte("{}"))
	if err != nil || a.Status != 201 {
		t.Fatalf("broadcast: %d, %v", a.Status, err)
	}
	if n, err := far.BroadcastDue(t.Context()); err != nil || n != 40 {
		t.Errorf("broadcast: got %d, %v, want 40", n, err)
	}
	wantNumber(t, s, "events", "SELECT COUNT(*) FROM events", 2*40)
	wantNoSkip(t, s)
}

// TestErasureOverASlowNetworkPostgreSQL: neither a page of payments nor one payment with many
// refunds can be erased within the time of one command.
func TestErasureOverASlowNetworkPostgreSQL(t *testing.T) {
	t.Parallel()
	s, far := onNetwork(t, &network{delay: 12 * time.Millisecond}, longer)
	mustRefundOften(t, s, 300)
	for range 30 {
		mustPayFor(t, s, s.Tenant)
	}
	s.MustExec(t, "UPDATE transactions SET details = ?, client_address = '203.0.113.7'", personalDetails)
	s.Clock.Advance(keptAge)
	if _, err := far.Store.ErasePersonal(t.Context(), s.Clock.Now(), keptDays, impersonal); err != nil {
		t.Error(err)
	}
	if got := personalRows(t, s); got != 0 {
		t.Errorf("rows with personal data: got %d, want 0", got)
	}
	wantNoSkip(t, s)
}

// TestCustomerWithManyEventsOverASlowNetworkPostgreSQL: the events of a customer cannot be erased
// within the time of one command. The customer is deleted immediately, and its events are erased
// later. The same holds for inactive customers.
func TestCustomerWithManyEventsOverASlowNetworkPostgreSQL(t *testing.T) {
	t.Parallel()
	s, far := onNetwork(t, &network{delay: 12 * time.Millisecond}, longer)
	requested := mustChangeOften(t, s, 250)
	mustChangeOften(t, s, 250)
	s.Clock.Advance(keptAge)
	r := engine.Request{Tenant: s.Tenant, ID: "req"}
	if a, err := far.DeleteCustomer(t.Context(), r, requested, nil); err != nil || a.Status != 200 {
		t.Errorf("delete: %d, %v", a.Status, err)
	}
	if n, err := far.DeleteInactiveCustomers(t.Context(), keptDays); err != nil || n != 1 {
		t.Errorf("inactive customers: got %d, %v, want 1", n, err)
	}
	wantNumber(t, s, "customers that are left", "SELECT COUNT(*) FROM customers WHERE deleted_at = 0", 0)
	if _, err := far.Store.EraseCustomerEvents(t.Context(), s.Clock.Now(), api.Erased); err != nil {
		t.Error(err)
	}
	wantNumber(t, s, "events with personal data", "SELECT COUNT(*) FROM events WHERE data LIKE '%Erika%'", 0)
	wantNoSkip(t, s)
}

// TestCustomerWithFewEventsOverASlowNetworkPostgreSQL: the commit of a deletion erases a few events
// of the customer however long it takes.
func TestCustomerWithFewEventsOverASlowNetworkPostgreSQL(t *testing.T) {
	t.Parallel()
	s, far := onNetwork(t, &network{delay: 6 * time.Millisecond}, "&patience=30s")
	customer := mustChangeOften(t, s, 15)
	if a, err := far.DeleteCustomer(t.Context(), s.Request(""), customer, nil); err != nil || a.Status != 200 {
		t.Errorf("delete: %d, %v", a.Status, err)
	}
	wantNumber(t, s, "events with personal data", "SELECT COUNT(*) FROM events WHERE data LIKE '%Erika%'", 0)
}

// TestLockedPaymentStopsNoSettlementPostgreSQL: another session locks a payment for longer than a
// command may take. It is skipped alone and settled by a later pass.
func TestLockedPaymentStopsNoSettlementPostgreSQL(t *testing.T) {
	t.Parallel()
	s, far := onNetwork(t, &network{}, longer)
	series := scraped(s)
	locked := mustPayFor(t, s, s.Tenant)
	far.Observer = s.Engine.Observer
	for range 3 {
		mustPayFor(t, s, s.Tenant)
	}
	mustPayFor(t, s, mustMerchant(t, s))
	s.Clock.Advance(25 * time.Hour)
	tx, err := s.Database.MustInspect(t).BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "UPDATE transactions SET version = version WHERE id = ?", locked); err != nil {
		t.Fatal(err)
	}
	if n, err := far.SettleDue(t.Context()); err != nil || n != 4 {
		t.Errorf("settled: got %d, %v, want 4", n, err)
	}
	wantSkipped(t, s, series, "settlement", locked)
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if n, err := far.SettleDue(t.Context()); err != nil || n != 1 {
		t.Errorf("settled after the lock: got %d, %v, want 1", n, err)
	}
}

// TestBrokenNetworkEndsAPassPostgreSQL: the network breaks in the middle of a command. The pass
// ends within the time of a command and of a probe, and skips nothing.
func TestBrokenNetworkEndsAPassPostgreSQL(t *testing.T) {
	t.Parallel()
	n := &network{}
	s, far := onNetwork(t, n, longer)
	for range 20 {
		mustPayFor(t, s, s.Tenant)
	}
	s.Clock.Advance(25 * time.Hour)
	n.messages.Store(40)
	if settled, err := far.SettleDue(t.Context()); err == nil || settled == 20 { // a busy machine settles them in parts
		t.Errorf("got %d settled, %v, want an error", settled, err)
	}
	wantNoSkip(t, s)
}
