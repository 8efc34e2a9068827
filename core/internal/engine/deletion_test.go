package engine_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// manyMethods and manyEndpoints are the most payment methods of a customer, and the most webhook
// endpoints of a tenant.
const manyMethods, manyEndpoints = payment.MaxMethods, 16

// mustAttachMany makes a customer with manyMethods payment methods with personal data, of a tenant
// with manyEndpoints webhook endpoints. It returns the customer's number.
func mustAttachMany(t *testing.T, s *coretest.Service) int64 {
	t.Helper()
	customer := mustChangeOften(t, s, 1)
	err := s.DB.Update(t.Context(), func(tx *store.Tx) error {
		for range manyEndpoints {
			w := payment.Endpoint{
				ID: s.IDs.Next(), Tenant: s.Tenant, URL: "https://example.com/", Types: []string{payment.AllEventTypes},
				Details: []byte("{}"), Status: payment.EndpointEnabled, Generation: 1, Version: 1,
			}
			if err := tx.InsertEndpoint(&w); err != nil {
				return err
			}
		}
		return tx.InsertMethod(&payment.Method{
			ID: s.IDs.Next(), Tenant: s.Tenant, Customer: customer, Kind: "card", Fingerprint: "of Erika",
			Details: []byte(`{"metadata":{"name":"Erika"}}`), Sealed: payment.Sealed{Key: 1, Number: []byte("sealed")},
			Client: payment.Client{Address: "203.0.113.7"},
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	s.MustExec(t, fmt.Sprintf(`INSERT INTO payment_methods (id, merchant_id, live, customer_id, kind, fingerprint, details,
			vault_key, number, created_at, client_address)
		WITH RECURSIVE numbers AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM numbers WHERE n < %d)
		SELECT %d + n, merchant_id, live, customer_id, kind, fingerprint, details, vault_key, number, created_at,
			client_address FROM payment_methods CROSS JOIN numbers`, manyMethods-1, s.IDs.Next()))
	s.Clock.Advance(time.Minute) // past the ids of the payment methods
	return customer
}

// wantAnnounced checks that a deletion is complete. The payment methods have no personal data, and
// each has one event. The event of the deletion is the last one. Each endpoint gets all events in
// their order.
func wantAnnounced(t *testing.T, s *coretest.Service) {
	t.Helper()
	for what, c := range map[string]struct {
		query string
		want  int64
	}{
		"payment methods with personal data": {`SELECT COUNT(*) FROM payment_methods WHERE number IS NOT NULL
			OR details <> '{}' OR fingerprint <> '' OR client_address <> ''`, 0},
		"events with personal data": {"SELECT COUNT(*) FROM events WHERE data LIKE '%Erika%'", 0},
		"events of payment methods": {"SELECT COUNT(*) FROM events WHERE type = 'payment_method.detached'", manyMethods},
		"payment methods with an event": {
			"SELECT COUNT(DISTINCT object_id) FROM events WHERE type = 'payment_method.detached'", manyMethods,
		},
		"events of the deletion": {"SELECT COUNT(*) FROM events WHERE type = 'customer.deleted'", 1},
		"events behind that of the deletion": {`SELECT COUNT(*) FROM events
			WHERE id > (SELECT MIN(id) FROM events WHERE type = 'customer.deleted')`, 0},
		"deliveries": {"SELECT COUNT(*) FROM webhook_deliveries", (manyMethods + 1) * manyEndpoints},
		"deliveries in another order than their events": {`SELECT COUNT(*) FROM webhook_deliveries a
			JOIN webhook_deliveries b ON a.endpoint_id = b.endpoint_id AND a.id < b.id AND a.event_id > b.event_id
			WHERE a.endpoint_id = (SELECT MAX(id) FROM webhook_endpoints)`, 0},
		"deletions without their events": {"SELECT COUNT(*) FROM customer_erasures WHERE unannounced = 1", 0},
	} {
		wantNumber(t, s, what, c.query, c.want)
	}
}

// TestOneDeletionWritesInParts: the commits of a deletion are short, however many payment methods
// the customer has.
func TestOneDeletionWritesInParts(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	customer := mustAttachMany(t, s)
	var commits atomic.Int64
	s.DB.Observe(func(store.Batch) { commits.Add(1) }, nil)
	if a, err := s.Engine.DeleteCustomer(t.Context(), s.Request(""), customer, nil); err != nil || a.Status != 200 {
		t.Fatalf("delete: %d, %v", a.Status, err)
	}
	rows := int64(manyMethods * (1 + manyEndpoints))
	if got := commits.Load(); rows/got > 520 {
		t.Errorf("got %d commits for %d events and deliveries, want one for each 500", got, rows)
	}
	wantAnnounced(t, s)
}

// TestDeletionEndsMidway: the process dies after some events of a deletion. The customer is gone,
// and its payment methods with it. Later passes write the other events, each once.
func TestDeletionEndsMidway(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	customer := mustAttachMany(t, s)
	shown := map[int64]bool{} // a command may run again
	cfg := s.Engine.Config
	cfg.Render = func(r engine.Result) engine.Response {
		if m, ok := r.Object.(*payment.Method); ok {
			if shown[m.ID] = true; len(shown) > manyMethods/2 {
				panic("the process ends here")
			}
		}
		return api.Render(r)
	}
	if a, err := engine.New(cfg).DeleteCustomer(t.Context(), s.Request(""), customer, nil); err != nil || a.Status != 200 {
		t.Fatalf("delete: %d, %v", a.Status, err)
	}
	wantNumber(t, s, "customers", "SELECT COUNT(*) FROM customers WHERE deleted_at = 0", 0)
	wantNumber(t, s, "numbers", "SELECT COUNT(*) FROM payment_methods WHERE number IS NOT NULL", 0)
	wantNumber(t, s, "events of the deletion", "SELECT COUNT(*) FROM events WHERE type = 'customer.deleted'", 0)
	if got := s.Number(t, "SELECT COUNT(*) FROM events WHERE type = 'payment_method.detached'"); got == 0 || got > manyMethods/2 {
		t.Errorf("events at the end of the process: got %d, want some", got)
	}
	s.Clock.Advance(keptAge)
	if _, err := s.DB.ErasePersonal(t.Context(), s.Clock.Now(), 0, impersonal); err != nil {
		t.Fatal(err)
	}
	wantNumber(t, s, "deletions that wait", "SELECT COUNT(*) FROM customer_erasures", 1)
	for range 2 {
		if err := s.Engine.AnnounceDeletions(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.DB.EraseCustomerEvents(t.Context(), s.Clock.Now(), api.Erased); err != nil {
		t.Fatal(err)
	}
	wantAnnounced(t, s)
}

// TestDeletionOfAClientThatHangsUp: the request of a deletion ends while its events are written.
// All of them are written.
func TestDeletionOfAClientThatHangsUp(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	customer := mustAttachMany(t, s)
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	shown := map[int64]bool{} // a command may run again
	cfg := s.Engine.Config
	cfg.Render = func(r engine.Result) engine.Response {
		if m, ok := r.Object.(*payment.Method); ok {
			if shown[m.ID] = true; len(shown) > manyMethods/2 {
				hangUp()
			}
		}
		return api.Render(r)
	}
	if a, err := engine.New(cfg).DeleteCustomer(ctx, s.Request(""), customer, nil); err != nil || a.Status != 200 {
		t.Fatalf("delete: %d, %v", a.Status, err)
	}
	wantAnnounced(t, s)
}

// TestDeletionDuringItsPass: passes write the events of a deletion at the same time as the request.
func TestDeletionDuringItsPass(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	customer := mustAttachMany(t, s)
	var passes sync.WaitGroup
	for range 2 {
		passes.Go(func() {
			for s.Number(t, "SELECT COUNT(*) FROM events WHERE type = 'customer.deleted'") == 0 {
				if err := s.Engine.AnnounceDeletions(t.Context()); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	if a, err := s.Engine.DeleteCustomer(t.Context(), s.Request(""), customer, nil); err != nil || a.Status != 200 {
		t.Errorf("delete: %d, %v", a.Status, err)
	}
	passes.Wait()
	wantAnnounced(t, s)
}

// TestCustomerWithManyMethodsOverASlowNetworkPostgreSQL: the events and deliveries of a deletion
// cannot be written one after the other within the time of a command.
func TestCustomerWithManyMethodsOverASlowNetworkPostgreSQL(t *testing.T) {
	t.Parallel()
	s, far := onNetwork(t, &network{delay: 12 * time.Millisecond}, longer)
	customer := mustAttachMany(t, s)
	if a, err := far.DeleteCustomer(t.Context(), s.Request(""), customer, nil); err != nil || a.Status != 200 {
		t.Fatalf("delete: %d, %v", a.Status, err)
	}
	wantNumber(t, s, "customers", "SELECT COUNT(*) FROM customers WHERE deleted_at = 0", 0)
	if err := far.AnnounceDeletions(t.Context()); err != nil { // on a busy machine the request leaves some to it
		t.Error(err)
	}
	wantAnnounced(t, s)
	wantNoSkip(t, s)
}
