package engine_test

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// behind is how far the clock of the second core is behind.
const behind = 3 * time.Second

// listed is a list of the store, and the row that is written for it. of is the object to which all
// rows of the list belong.
type listed struct {
	of     func(tx *store.Tx, s *coretest.Service, of int64) error // nil if there is none
	insert func(tx *store.Tx, s *coretest.Service, n, of int64) (int64, error)
	list   func(ctx context.Context, s *coretest.Service, of int64, p payment.Page) ([]int64, error)
}

// ids returns the ids of a list.
func ids[T any](l payment.List[T], err error, idOf func(T) int64) ([]int64, error) {
	out := []int64{}
	for _, row := range l.Rows {
		out = append(out, idOf(row))
	}
	return out, err
}

func transactionID(t *payment.Transaction) int64 { return t.ID }
func captureID(c *payment.Capture) int64         { return c.ID }
func refundID(r *payment.Refund) int64           { return r.ID }
func customerID(c *payment.Customer) int64       { return c.ID }
func methodID(m *payment.Method) int64           { return m.ID }
func eventID(e *payment.Event) int64             { return e.ID }
func endpointID(e *payment.Endpoint) int64       { return e.ID }
func deliveryID(d *payment.Delivery) int64       { return d.ID }
func keyID(k *payment.APIKey) int64              { return k.ID }
func merchantID(m payment.Merchant) int64        { return m.ID }

func insertPayment(tx *store.Tx, s *coretest.Service, n int64, terms payment.Terms) error {
	_, err := tx.BeginPayment(&store.Intent{Terms: terms, Transaction: &payment.Transaction{
		ID: n, Tenant: s.Tenant, Status: payment.Processing, Amount: 100, Currency: "usd",
		Details: []byte(`{"reference":"mine"}`), CreatedAt: s.Clock.Now(), UpdatedAt: s.Clock.Now(),
	}})
	return err
}

func insertCustomer(tx *store.Tx, s *coretest.Service, n int64) error {
	return tx.InsertCustomer(&payment.Customer{
		ID: n, Tenant: s.Tenant, Details: []byte(`{"reference":"mine","email":"a@example.com"}`),
	})
}

func insertMethod(tx *store.Tx, s *coretest.Service, n, customer int64) error {
	return tx.InsertMethod(&payment.Method{
		ID: n, Tenant: s.Tenant, Customer: customer, Kind: "card", Details: []byte("{}"),
		Sealed: payment.Sealed{Key: 1, Number: []byte("sealed")},
	})
}

// transactions returns a list of transactions with a filter.
func transactions(f payment.TransactionFilter) listed {
	return listed{
		insert: func(tx *store.Tx, s *coretest.Service, n, _ int64) (int64, error) {
			return n, insertPayment(tx, s, n, payment.Terms{Reference: "mine"})
		},
		list: func(ctx context.Context, s *coretest.Service, _ int64, p payment.Page) ([]int64, error) {
			l, err := s.DB.FilteredTransactions(ctx, s.Tenant, f, p)
			return ids(l, err, transactionID)
		},
	}
}

// customers returns a list of customers with a filter.
func customers(f payment.CustomerFilter) listed {
	return listed{
		insert: func(tx *store.Tx, s *coretest.Service, n, _ int64) (int64, error) { return n, insertCustomer(tx, s, n) },
		list: func(ctx context.Context, s *coretest.Service, _ int64, p payment.Page) ([]int64, error) {
			l, err := s.DB.Customers(ctx, s.Tenant, f, p)
			return ids(l, err, customerID)
		},
	}
}

func insertAPIKey(tx *store.Tx, s *coretest.Service, n, _ int64) (int64, error) {
	return n, tx.InsertKey(&payment.APIKey{ID: n, Tenant: s.Tenant, Kind: "secret"}, []byte(strconv.FormatInt(n, 10)))
}

// lists returns all lists of the store.
func lists() map[string]listed {
	out := listsOfPayments()
	for _, more := range []map[string]listed{listsOfRefunds(), listsOfCustomers(), listsOfWebhooks(), listsOfMerchants()} {
		maps.Copy(out, more)
	}
	return out
}

func listsOfPayments() map[string]listed {
	amount := int64(100)
	return map[string]listed{
		"transactions":           transactions(payment.TransactionFilter{}),
		"transactions by amount": transactions(payment.TransactionFilter{Amount: &amount}),
		"transactions by time": transactions(payment.TransactionFilter{
			After: coretest.Birth.Add(-time.Hour), Before: coretest.Birth.Add(time.Hour),
		}),
		"transactions by reference": transactions(payment.TransactionFilter{Reference: "mine"}),
		"captures":                  capturesBy(func(int64) payment.StepFilter { return payment.StepFilter{} }),
		"captures of a transaction": capturesBy(func(of int64) payment.StepFilter {
			return payment.StepFilter{Transaction: of}
		}),
	}
}

func listsOfRefunds() map[string]listed {
	return map[string]listed{
		"refunds": {
			insert: insertCredit,
			list: func(ctx context.Context, s *coretest.Service, _ int64, p payment.Page) ([]int64, error) {
				l, err := s.DB.Refunds(ctx, s.Tenant, payment.StepFilter{}, p)
				return ids(l, err, refundID)
			},
		},
		"refunds of a transaction": {
			of: insertCaptured,
			insert: func(tx *store.Tx, s *coretest.Service, n, of int64) (int64, error) {
				return n, tx.BeginRefund(&payment.Refund{
					ID: n, Transaction: of, Tenant: s.Tenant, Amount: 1, Currency: "usd", Details: []byte("{}"),
				})
			},
			list: func(ctx context.Context, s *coretest.Service, of int64, p payment.Page) ([]int64, error) {
				l, err := s.DB.Refunds(ctx, s.Tenant, payment.StepFilter{Transaction: of}, p)
				return ids(l, err, refundID)
			},
		},
	}
}

func listsOfCustomers() map[string]listed {
	return map[string]listed{
		"customers":              customers(payment.CustomerFilter{}),
		"customers by reference": customers(payment.CustomerFilter{Reference: "mine"}),
		"customers by email":     customers(payment.CustomerFilter{Email: "a@example.com"}),
		"customers by both":      customers(payment.CustomerFilter{Reference: "mine", Email: "a@example.com"}),
		"payment methods": {
			of: func(tx *store.Tx, s *coretest.Service, of int64) error { return insertCustomer(tx, s, of) },
			insert: func(tx *store.Tx, s *coretest.Service, n, of int64) (int64, error) {
				return n, insertMethod(tx, s, n, of)
			},
			list: func(ctx context.Context, s *coretest.Service, of int64, p payment.Page) ([]int64, error) {
				l, err := s.DB.Methods(ctx, s.Tenant, of, payment.MethodFilter{}, p)
				return ids(l, err, methodID)
			},
		},
	}
}

func listsOfWebhooks() map[string]listed {
	return map[string]listed{
		"events": {
			insert: func(tx *store.Tx, s *coretest.Service, n, _ int64) (int64, error) {
				return n, tx.InsertEvent(&payment.Event{
					ID: n, Tenant: s.Tenant, Type: "customer.created", Object: 1, Sequence: 1, Data: []byte("{}"),
				})
			},
			list: func(ctx context.Context, s *coretest.Service, _ int64, p payment.Page) ([]int64, error) {
				l, err := s.DB.Events(ctx, s.Tenant, payment.EventFilter{}, p)
				return ids(l, err, eventID)
			},
		},
		"webhook endpoints": {
			insert: func(tx *store.Tx, s *coretest.Service, n, _ int64) (int64, error) {
				return n, tx.InsertEndpoint(&payment.Endpoint{
					ID: n, Tenant: s.Tenant, URL: "https://example.com", Status: payment.EndpointEnabled, Details: []byte("{}"),
					Generation: 1,
				})
			},
			list: func(ctx context.Context, s *coretest.Service, _ int64, p payment.Page) ([]int64, error) {
				l, err := s.DB.Endpoints(ctx, s.Tenant, "", p)
				return ids(l, err, endpointID)
			},
		},
		"deliveries": {
			insert: func(tx *store.Tx, _ *coretest.Service, n, of int64) (int64, error) { return tx.InsertDelivery(n, of) },
			list: func(ctx context.Context, s *coretest.Service, of int64, p payment.Page) ([]int64, error) {
				l, err := s.DB.Deliveries(ctx, s.Tenant, of, p)
				return ids(l, err, deliveryID)
			},
		},
	}
}

func listsOfMerchants() map[string]listed {
	return map[string]listed{
		"API keys": {
			insert: insertAPIKey,
			list: func(ctx context.Context, s *coretest.Service, _ int64, p payment.Page) ([]int64, error) {
				l, err := s.DB.Keys(ctx, s.Tenant, p)
				return ids(l, err, keyID)
			},
		},
		"API keys of a merchant": {
			insert: insertAPIKey,
			list: func(ctx context.Context, s *coretest.Service, _ int64, p payment.Page) ([]int64, error) {
				l, err := s.DB.MerchantKeys(ctx, s.Tenant.Merchant, p)
				return ids(l, err, keyID)
			},
		},
		"merchants": {
			insert: func(tx *store.Tx, _ *coretest.Service, n, _ int64) (int64, error) {
				return n, tx.InsertMerchant(n, "another")
			},
			list: func(ctx context.Context, s *coretest.Service, _ int64, p payment.Page) ([]int64, error) {
				l, err := s.DB.MerchantPage(ctx, p)
				return ids(l, err, merchantID)
			},
		},
	}
}

func insertPaymentOf(tx *store.Tx, s *coretest.Service, of int64) error {
	return insertPayment(tx, s, of, payment.Terms{})
}

func insertCaptured(tx *store.Tx, s *coretest.Service, of int64) error {
	if err := insertPayment(tx, s, of, payment.Terms{}); err != nil {
		return err
	}
	err := tx.ResolveTransaction(&payment.Transaction{
		ID: of, Tenant: s.Tenant, Status: payment.Captured, Authorized: 100, Captured: 100, Version: 1,
		UpdatedAt: s.Clock.Now(),
	})
	if err != nil {
		return err
	}
	return tx.InsertCapture(&payment.Capture{
		ID: s.IDs.Next(), Transaction: of, Tenant: s.Tenant, State: payment.StepSucceeded, Amount: 100, Currency: "usd",
		Details: []byte("{}"), CreatedAt: s.Clock.Now(), UpdatedAt: s.Clock.Now(),
	})
}

func insertCredit(tx *store.Tx, s *coretest.Service, n, _ int64) (int64, error) {
	return n, tx.InsertCredit(&payment.Refund{
		ID: n, Tenant: s.Tenant, State: payment.StepPending, Amount: 1, Currency: "usd", Details: []byte("{}"),
		CreatedAt: s.Clock.Now(), UpdatedAt: s.Clock.Now(),
	})
}

// mustInsert writes a row of a list and returns its id. during is called before, when the command
// has written something else.
func (l listed) mustInsert(t *testing.T, s *coretest.Service, of int64, during func()) (n int64) {
	t.Helper()
	err := s.DB.Update(context.WithoutCancel(t.Context()), func(tx *store.Tx) (err error) {
		n = s.IDs.Next()
		if _, err := tx.AdvanceTestClock(n, 1); err != nil { // any write
			return err
		}
		if during != nil {
			during()
		}
		n, err = l.insert(tx, s, n, of)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return n
}

// poll reads a list from the last seen id on, like a client that needs every row.
func (l listed) poll(t *testing.T, s *coretest.Service, of int64, seen []int64) []int64 {
	t.Helper()
	for {
		page, err := l.list(t.Context(), s, of, payment.Page{Limit: 7, Before: seen[len(seen)-1]})
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			return seen
		}
		slices.Reverse(page) // newest first
		seen = append(seen, page...)
	}
}

// TestListsOfSeveralCoresPostgreSQL: a core whose clock is behind commits a row late, after another
// core has committed one with a higher id. A client that polls the list sees both rows, each once.
func TestListsOfSeveralCoresPostgreSQL(t *testing.T) {
	t.Parallel()
	for name, l := range lists() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := coretest.OpenOnce(t)
			slow := s.BesideAhead(t, -behind)
			of := s.IDs.Next()
			if l.of != nil {
				if err := s.DB.Update(t.Context(), func(tx *store.Tx) error { return l.of(tx, s, of) }); err != nil {
					t.Fatal(err)
				}
			}
			l.crossed(t, s, slow, of)
		})
	}
}

// crossed writes three rows: the second commits last and has the lowest id.
func (l listed) crossed(t *testing.T, s, slow *coretest.Service, of int64) {
	t.Helper()
	first := l.mustInsert(t, s, of, nil)
	entered, free := make(chan struct{}), make(chan struct{})
	var late int64
	var ended sync.WaitGroup
	ended.Go(func() { late = l.mustInsert(t, slow, of, func() { close(entered); <-free }) })
	<-entered
	second := l.mustInsert(t, s, of, nil)
	seen := l.poll(t, s, of, []int64{first})
	close(free)
	ended.Wait()
	programtest.WaitFor(t, "a poll lists the other rows", func() bool { // not within a second of a page that waited in vain
		seen = l.poll(t, s, of, seen)
		return len(seen) >= 3
	})
	if want := []int64{first, late, second}; !slices.Equal(seen, want) || late > first {
		t.Errorf("polled %v, want %v", seen, want)
	}
	down, err := l.list(t.Context(), slow, of, payment.Page{Limit: 3})
	if err != nil || !slices.Equal(down, []int64{second, late, first}) {
		t.Errorf("newest first: got %v, %v", down, err)
	}
	down, err = l.list(t.Context(), slow, of, payment.Page{Limit: 3, After: second})
	if err != nil || len(down) < 2 || !slices.Equal(down[:2], []int64{late, first}) {
		t.Errorf("older than the second: got %v, %v", down, err)
	}
}

// TestNoRowIsMissed: clients that poll the lists of transactions and events while many pay, at
// every core, see each row once.
func TestNoRowIsMissed(t *testing.T) {
	t.Parallel()
	const writers, payments = 8, 25
	cores := []*coretest.Service{coretest.Open(t)}
	if coretest.Shared() {
		cores = append(cores, cores[0].BesideAhead(t, -behind))
	}
	var writing sync.WaitGroup
	for _, s := range cores {
		for range writers {
			writing.Go(func() {
				for range payments {
					if a, err := s.Pay(t.Context(), s.Request(""), 100, true); err != nil || a.Status != 201 {
						t.Errorf("got %d, %v", a.Status, err)
					}
				}
			})
		}
	}
	done := make(chan struct{})
	go func() { writing.Wait(); close(done) }()
	want := len(cores) * writers * payments
	var polling sync.WaitGroup
	for _, s := range cores {
		for _, name := range []string{"transactions", "events"} {
			polling.Go(func() { lists()[name].follow(t, name, s, done, want) })
		}
	}
	polling.Wait()
}

// follow polls a list until all writers are done, and then until all their rows are listed.
func (l listed) follow(t *testing.T, name string, s *coretest.Service, done <-chan struct{}, want int) {
	t.Helper()
	seen := []int64{id.At(coretest.Birth.Add(-time.Hour))}
	for paying := true; paying; {
		select {
		case <-done:
			paying = false
		default:
		}
		seen = l.poll(t, s, 0, seen)
	}
	programtest.WaitFor(t, "a poll lists the last rows", func() bool {
		seen = l.poll(t, s, 0, seen)
		return len(seen) > want
	})
	slices.Sort(seen)
	if got := len(slices.Compact(slices.Clone(seen))) - 1; got != want || len(seen)-1 != want {
		t.Errorf("%s: saw %d of %d, %d of them twice", name, got, want, len(seen)-1-got)
	}
}
