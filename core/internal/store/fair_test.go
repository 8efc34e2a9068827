package store_test

import (
	"context"
	"errors"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// watched is an engine that records the purpose of each read.
type watched struct {
	store.Engine
	// refuse returns the error for a read, or nil to run it.
	refuse func(s *store.Statement, args []any) error

	mu       sync.Mutex
	purposes map[store.Purpose]map[string]bool // names of statements
	endless  map[string]bool                   // names of statements that ran without a deadline
}

func watch(s *coretest.Service) *watched {
	w := &watched{purposes: map[store.Purpose]map[string]bool{}, endless: map[string]bool{}}
	s.DB.Wrap(func(e store.Engine) store.Engine { w.Engine = e; return w })
	return w
}

// Row implements store.Engine.
func (w *watched) Row(ctx context.Context, p store.Purpose, s *store.Statement, args ...any) store.Scanner {
	w.note(p, s)
	return w.Engine.Row(ctx, p, s, args...)
}

// Each implements store.Engine.
func (w *watched) Each(
	ctx context.Context, p store.Purpose, s *store.Statement, begin func(), scan func(store.Scanner) error, args ...any,
) error {
	if err := w.begin(p, s, args); err != nil {
		return err
	}
	if _, limited := ctx.Deadline(); !limited {
		w.mu.Lock()
		w.endless[s.String()] = true
		w.mu.Unlock()
	}
	return w.Engine.Each(ctx, p, s, begin, scan, args...)
}

// Page implements store.Engine.
func (w *watched) Page(
	ctx context.Context, s *store.Statement, newer bool, begin func(), scan func(store.Scanner) error, args ...any,
) error {
	if err := w.begin(store.Listing, s, args); err != nil {
		return err
	}
	return w.Engine.Page(ctx, s, newer, begin, scan, args...)
}

// begin records a read and returns the error for it, if any.
func (w *watched) begin(p store.Purpose, s *store.Statement, args []any) error {
	w.note(p, s)
	if w.refuse == nil {
		return nil
	}
	return w.refuse(s, args)
}

func (w *watched) note(p store.Purpose, s *store.Statement) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.purposes[p] == nil {
		w.purposes[p] = map[string]bool{}
	}
	w.purposes[p][s.String()] = true
}

// names returns the statements of a purpose since the last call.
func (w *watched) names(p store.Purpose) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := slices.Sorted(maps.Keys(w.purposes[p]))
	w.purposes[p] = nil
	return out
}

// purposeCase has reads of one purpose.
type purposeCase struct {
	what    string
	purpose store.Purpose
	read    func() error
	want    []string // statements
}

func purposeCases(ctx context.Context, s *coretest.Service) []purposeCase {
	page := payment.Page{Limit: 1}
	return []purposeCase{
		{"health", store.Essential, func() error { return s.DB.Ping(ctx) }, []string{"countProbes"}},
		{"authentication", store.Essential, func() error {
			_, err := s.DB.KeyByHash(ctx, nil, netip.Prefix{}, []byte("hash"))
			_, other := s.DB.Operator(ctx, 1)
			return errors.Join(found(err), found(other))
		}, []string{"selectKeyByHash", "selectOperator"}},
		{"reads by id", store.ByID, func() error {
			_, one := s.DB.Transaction(ctx, s.Tenant, 1)
			_, two := s.DB.Event(ctx, s.Tenant, 1)
			return errors.Join(found(one), found(two))
		}, []string{"selectEvent", "selectTransaction"}},
		{"lists", store.Listing, func() error {
			_, one := s.DB.Transactions(ctx, s.Tenant, page)
			_, two := s.DB.FilteredTransactions(ctx, s.Tenant, payment.TransactionFilter{CardFingerprint: "f"}, page)
			_, three := s.DB.Events(ctx, s.Tenant, payment.EventFilter{}, page)
			_, four := s.DB.Operators(ctx)
			_, five := s.DB.NewestAuditRecords(ctx, 0, 1)
			_, six := s.DB.UnfinishedSteps(ctx, payment.UnfinishedFilter{}, 1)
			_, _, seven := s.DB.Settleable(ctx, s.Tenant, 1)
			return errors.Join(one, two, three, four, five, six, seven)
		}, []string{
			"listEvents", "listFilteredTransactions", "listTransactions", "selectNewestAuditRecords", "selectOperators",
			"selectSettleable", "selectUnfinishedSteps",
		}},
		{"passes", store.Background, func() error {
			_, one := s.Engine.SettleDue(ctx)
			_, two := s.Engine.ExpireDue(ctx)
			_, three := s.DB.WaitingEndpoints(ctx)
			_, _, four := s.DB.PendingDeliveries(ctx)
			_, five := s.DB.OpenTransactions(ctx, 0, store.StepPage{Limit: 1})
			_, six := s.DB.ErasePersonal(ctx, s.Clock.Now(), 0, nil)
			_, seven := s.DB.PurgeIdempotencyKeys(ctx, s.Clock.Now())
			return errors.Join(one, two, three, four, five, six, seven)
		}, []string{
			"countPendingDeliveries", "selectDays", "selectDelayedErasures", "selectErasing", "selectExpiring",
			"selectKeyWindow", "selectOpenTransactions", "selectPeriods", "selectWaitingEndpoints",
		}},
	}
}

// found returns err, or nil if err reports a missing object.
func found(err error) error {
	if errors.Is(err, payment.ErrNotFound) {
		return nil
	}
	return err
}

// TestPurposes: health and authentication run on separate connections. Reads by id, lists and
// passes run on others.
func TestPurposes(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	w := watch(s)
	for _, c := range purposeCases(t.Context(), s) {
		for _, p := range store.Purposes() {
			w.names(p)
		}
		if err := c.read(); err != nil {
			t.Errorf("%s: %v", c.what, err)
		}
		if got := w.names(c.purpose); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.what, got, c.want)
		}
	}
}

// endless makes each read of a table endless, if the table has a row.
func endless(t *testing.T, s *coretest.Service, table string) {
	t.Helper()
	s.MustExec(t, "ALTER TABLE "+table+" RENAME TO stored_"+table)
	never := `(WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i < 0)`
	if coretest.Shared() {
		never = `pg_sleep(3600)`
	}
	s.MustExec(t, "CREATE VIEW "+table+" AS SELECT stored.* FROM stored_"+table+" AS stored, "+never+" AS never")
}

// TestSlowReads: endless reads of passes and lists hold no connection that other work needs. They
// end at the deadlines of their purposes.
func TestSlowReads(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	if a, err := s.Pay(t.Context(), s.Request(""), 100, true); err != nil || a.Status != 201 {
		t.Fatalf("pay: %d, %v", a.Status, err)
	}
	paid := s.Number(t, "SELECT id FROM transactions")
	if err := s.DB.Update(t.Context(), func(tx *store.Tx) error {
		return tx.InsertCustomer(&payment.Customer{ID: s.IDs.Next(), Tenant: s.Tenant, Details: []byte("{}")})
	}); err != nil {
		t.Fatal(err)
	}
	w := watch(s)
	var begun atomic.Int64
	w.refuse = func(st *store.Statement, _ []any) error {
		if name := st.String(); name == "selectMerchants" || name == "listCustomers" {
			begun.Add(1)
		}
		return nil
	}
	endless(t, s, "merchants")
	endless(t, s, "customers")
	const each = 4 // more than there are connections
	passes, lists := make(chan error, each), make(chan error, each)
	for range each {
		go func() {
			_, err := s.DB.Merchants(t.Context())
			passes <- err
		}()
		go func() {
			_, err := s.DB.Customers(t.Context(), s.Tenant, payment.CustomerFilter{}, payment.Page{Limit: 1})
			lists <- err
		}()
	}
	other := payment.Tenant{Merchant: s.IDs.Next()}
	programtest.WaitFor(t, "the reads have begun", func() bool { return begun.Load() > each })
	for range 20 {
		if _, err := s.DB.Transaction(t.Context(), s.Tenant, paid); err != nil {
			t.Fatalf("read by id: %v", err)
		}
		if err := s.DB.Ping(t.Context()); err != nil {
			t.Fatalf("health: %v", err)
		}
		if _, err := s.DB.Transactions(t.Context(), other, payment.Page{Limit: 1}); err != nil {
			t.Fatalf("list of another merchant: %v", err)
		}
	}
	if len(passes)+len(lists) > 0 {
		t.Error("quick reads waited for endless ones")
	}
	wantExpired(t, passes, store.ErrUnavailable)
	wantExpired(t, lists, payment.ErrListTimeout, payment.ErrTooManyLists)
}

// wantExpired checks that each error is one of the wanted errors.
func wantExpired(t *testing.T, errs <-chan error, want ...error) {
	t.Helper()
	for range cap(errs) {
		err := <-errs
		if !slices.ContainsFunc(want, func(w error) bool { return errors.Is(err, w) }) {
			t.Errorf("got %v, want one of %v", err, want)
		}
	}
}

// TestSlowSettlementOfOneMerchant: the captures of one merchant cannot be read in time. The
// captures of the others settle.
func TestSlowSettlementOfOneMerchant(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	slow, other := s.Tenant, payment.Tenant{Merchant: s.IDs.Next()}
	err := s.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.InsertMerchant(other.Merchant, "other") })
	if err != nil {
		t.Fatal(err)
	}
	for _, tenant := range []payment.Tenant{slow, other} {
		r := engine.Request{Tenant: tenant, ID: id.Format(id.Request, s.IDs.Next())}
		if a, err := s.Pay(t.Context(), r, 100, true); err != nil || a.Status != 201 {
			t.Fatalf("pay: %d, %v", a.Status, err)
		}
	}
	w := watch(s)
	w.refuse = func(st *store.Statement, args []any) error {
		if st.String() == "selectUnsettledCaptures" && args[0] == slow.Merchant {
			return store.Background.Expired()
		}
		return nil
	}
	s.Clock.Advance(24 * time.Hour)
	if n, err := s.Engine.SettleDue(t.Context()); n != 1 || err != nil {
		t.Errorf("got %d, %v, want 1 settled", n, err)
	}
	w.refuse = nil
	if n, err := s.Engine.SettleDue(t.Context()); n != 1 || err != nil {
		t.Errorf("a pass later: got %d, %v, want 1 settled", n, err)
	}
}

// TestSlowExpiryOfOneMerchant: a read of one merchant's payments whose time is over does not end in
// time. The authorizations of the other merchants expire.
func TestSlowExpiryOfOneMerchant(t *testing.T) {
	t.Parallel()
	for _, statement := range []string{"selectLapsed", "selectUnconfirmed"} {
		t.Run(statement, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			const slow = int64(7) // read first
			err := s.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.InsertMerchant(slow, "slow") })
			if err != nil {
				t.Fatal(err)
			}
			for _, merchant := range []int64{slow, s.Tenant.Merchant} {
				r := s.Request("")
				r.Tenant.Merchant = merchant
				if a, err := s.Pay(t.Context(), r, 100, false); err != nil || a.Status != 201 {
					t.Fatalf("pay: %d, %v", a.Status, err)
				}
			}
			s.Clock.Advance(8 * 24 * time.Hour)
			watch(s).refuse = func(st *store.Statement, args []any) error {
				if st.String() == statement && slices.Contains(args, any(slow)) {
					return store.Background.Expired()
				}
				return nil
			}
			expired, err := s.Engine.ExpireDue(t.Context())
			const query = "SELECT COUNT(*) FROM transactions WHERE merchant_id <> ? AND status = 'expired'"
			if other := s.Number(t, query, slow); err != nil || expired == 0 || other != 1 {
				t.Errorf("got %d, %d of the other merchant, %v, want its one", expired, other, err)
			}
		})
	}
}

// TestTestClocksEndInTime: the work that is due by a test clock takes its merchant's turn of lists.
// Each of its reads has a deadline, so that the turn ends.
func TestTestClocksEndInTime(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	if a, err := s.Pay(t.Context(), s.Request(""), 100, true); err != nil || a.Status != 201 {
		t.Fatalf("pay: %d, %v", a.Status, err)
	}
	w := watch(s)
	if _, err := s.Engine.AdvanceTestClock(t.Context(), s.Request(""), 48*time.Hour); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"selectDaysOf", "selectLapsed", "selectUnconfirmed", "selectUnsettledCaptures"} {
		if !w.purposes[store.Background][name] || w.endless[name] {
			t.Errorf("%s: read %t, without a deadline %t", name, w.purposes[store.Background][name], w.endless[name])
		}
	}
}

// TestTestHelpersHaveTurns: a merchant settles its test payments, or moves its test clock, many
// times at the same time. Only one of its requests reads at a time, as with lists.
func TestTestHelpersHaveTurns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		statement string
		request   func(s *coretest.Service) error
	}{
		"settlement run": {"selectSettleable", func(s *coretest.Service) error {
			_, err := s.Engine.RunSettlement(context.Background(), s.Request(""))
			return err
		}},
		"test clock": {"selectDaysOf", func(s *coretest.Service) error {
			_, err := s.Engine.AdvanceTestClock(context.Background(), s.Request(""), time.Hour)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			w := watch(s)
			var reading atomic.Int64
			release := make(chan struct{})
			w.refuse = func(st *store.Statement, _ []any) error {
				if st.String() == c.statement {
					reading.Add(1)
					<-release
				}
				return nil
			}
			const requests = 3
			ended := make(chan error, requests)
			for range requests {
				go func() { ended <- c.request(s) }()
			}
			programtest.WaitFor(t, "all requests read or wait", func() bool {
				return int(reading.Load())+s.DB.WaitingLists() == requests
			})
			if got := reading.Load(); got != 1 {
				t.Errorf("requests that read at the same time: got %d, want 1", got)
			}
			close(release)
			for range requests {
				if err := <-ended; err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestListsOfModes: a list of a merchant in test mode does not delay its lists in live mode.
func TestListsOfModes(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	w := watch(s)
	begun, release := make(chan struct{}), make(chan struct{})
	w.refuse = func(_ *store.Statement, args []any) error {
		if args[1] == false {
			close(begun)
			<-release
		}
		return nil
	}
	list := func(live bool) error {
		tenant := payment.Tenant{Merchant: s.Tenant.Merchant, Live: live}
		_, err := s.DB.Transactions(t.Context(), tenant, payment.Page{Limit: 1})
		return err
	}
	slow := make(chan error, 1)
	go func() { slow <- list(false) }()
	<-begun
	if err := list(true); err != nil {
		t.Errorf("live mode: %v", err)
	}
	close(release)
	if err := <-slow; err != nil {
		t.Errorf("test mode: %v", err)
	}
}

// TestSlowListRunsAgain: a list has a short deadline. If it takes longer, it runs again with the
// whole time of a list. The merchant's next list of the kind has that time immediately.
func TestSlowListRunsAgain(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	whole, _ := store.Listing.Time(t.Context())
	var got []bool
	s.DB.Wrap(func(e store.Engine) store.Engine {
		return slowPages{e, func(ctx context.Context) error {
			d, _ := store.Listing.Time(ctx)
			got = append(got, d < whole)
			if d < whole {
				return payment.ErrListTimeout
			}
			return nil
		}}
	})
	for range 2 {
		if _, err := s.DB.Transactions(t.Context(), s.Tenant, payment.Page{Limit: 1}); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.DB.Customers(t.Context(), s.Tenant, payment.CustomerFilter{}, payment.Page{Limit: 1}); err != nil {
		t.Error(err)
	}
	if want := []bool{true, false, false, true, false}; !slices.Equal(got, want) {
		t.Errorf("short deadlines: got %v, want %v", got, want)
	}
}

// slowPages is an engine with lists that are slow.
type slowPages struct {
	store.Engine
	page func(context.Context) error
}

// Page implements store.Engine.
func (p slowPages) Page(
	ctx context.Context, _ *store.Statement, _ bool, _ func(), _ func(store.Scanner) error, _ ...any,
) error {
	return p.page(ctx)
}

// TestQuickListsDuringManySlowOnes: several merchants in test mode have endless lists. A quick list
// of another merchant ends before any of them, in each mode.
func TestQuickListsDuringManySlowOnes(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	const merchants = 4
	for m := range merchants {
		s.MustExec(t, `INSERT INTO customers (id, merchant_id, live, details, version, created_at, updated_at)
			VALUES (?1, ?1, 0, '{}', 1, 1, 1)`, 1+m)
	}
	w := watch(s)
	var begun atomic.Int64
	w.refuse = func(st *store.Statement, _ []any) error {
		if st.String() == "listCustomers" {
			begun.Add(1)
		}
		return nil
	}
	endless(t, s, "customers")
	ended := make(chan error, merchants)
	for m := range int64(merchants) {
		go func() {
			tenant := payment.Tenant{Merchant: 1 + m}
			_, err := s.DB.Customers(t.Context(), tenant, payment.CustomerFilter{}, payment.Page{Limit: 1})
			ended <- err
		}()
	}
	programtest.WaitFor(t, "the lists run or wait", func() bool {
		return int(begun.Load())+s.DB.WaitingLists() >= merchants
	})
	for _, live := range []bool{true, false} {
		other := payment.Tenant{Merchant: s.IDs.Next(), Live: live}
		if _, err := s.DB.Transactions(t.Context(), other, payment.Page{Limit: 1}); err != nil {
			t.Errorf("live %t: %v", live, err)
		}
		if n := len(ended); n > 0 {
			t.Errorf("live %t: the quick list waited for %d endless ones", live, n)
		}
	}
	wantExpired(t, ended, payment.ErrListTimeout, store.ErrBusy)
}

// updates is an engine that records the commands.
type updates struct {
	store.Engine
	mu   sync.Mutex
	seen []store.Caller
}

// Update implements store.Engine.
func (u *updates) Update(ctx context.Context, c *store.Command) error {
	u.mu.Lock()
	u.seen = append(u.seen, c.Caller())
	u.mu.Unlock()
	return u.Engine.Update(ctx, c)
}

// TestCommandsHaveTheirCaller: the commands of a request have its tenant, and a mark for payers. A
// command that writes the acquirer's outcome ends a step. So does one that counts a refused
// confirmation: a guess must be counted.
func TestCommandsHaveTheirCaller(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	if a, err := s.Pay(t.Context(), s.Request(""), 100, true); err != nil || a.Status != 201 {
		t.Fatalf("pay: %d, %v", a.Status, err)
	}
	paid := s.Number(t, "SELECT id FROM transactions")
	u := &updates{}
	s.DB.Wrap(func(e store.Engine) store.Engine { u.Engine = e; return u })
	if a, err := s.Engine.Refund(t.Context(), s.Request(""), paid, 0, 1, []byte("{}")); err != nil || a.Status != 201 {
		t.Fatalf("refund: %d, %v", a.Status, err)
	}
	payer := s.Request("guess")
	payer.Payer = true
	waiting := &payment.Transaction{ID: paid, Tenant: s.Tenant}
	why := &payment.Refusal{Code: "unknown_token"}
	if _, err := s.Engine.RefuseConfirmation(t.Context(), payer, waiting, why); err != nil {
		t.Fatalf("refuse a confirmation: %v", err)
	}
	want := []store.Caller{{Tenant: s.Tenant}, {Tenant: s.Tenant, Ends: true}, {Tenant: s.Tenant, Payer: true, Ends: true}}
	if !slices.Equal(u.seen, want) {
		t.Errorf("got %v, want %v", u.seen, want)
	}
}
