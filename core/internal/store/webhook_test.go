package store_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/id"
)

var errRolledBack = errors.New("the command fails")

func endpoint(n int64, types ...string) *payment.Endpoint {
	return &payment.Endpoint{
		ID: n, Tenant: tenant, URL: "https://shop.example/", Types: types, Details: []byte("{}"),
		Status: payment.EndpointEnabled, Generation: 1, Version: 1,
	}
}

// MustUpdate runs a command that must succeed.
func (b *bundle) MustUpdate(t *testing.T, fn func(*store.Tx) error) {
	t.Helper()
	if err := b.db.Update(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// event returns a command that inserts one event of the tenant.
func event(n int64) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		return tx.InsertEvent(&payment.Event{
			ID: n, Tenant: tenant, Type: "transaction.captured", Object: 1, Sequence: n, Data: []byte("{}"),
		})
	}
}

// TestEventWithoutEndpoints: an event of a tenant without endpoints runs no statement on endpoints
// or deliveries, once the cache has the tenant.
func TestEventWithoutEndpoints(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.MustUpdate(t, event(1))
	// A statement on a missing table would fail.
	drop := `DROP TABLE webhook_endpoints; DROP TABLE webhook_deliveries`
	if _, err := b.MustWrite(t).ExecContext(t.Context(), drop); err != nil {
		t.Fatal(err)
	}
	b.MustUpdate(t, event(2))
	if got := b.MustCount(t, "events"); got != 2 {
		t.Errorf("got %d events, want 2", got)
	}
}

// TestDeliveriesFollowCommits: an event is delivered to the endpoints as the last commit left them.
// A change of endpoints that was rolled back has no effect on later events.
func TestDeliveriesFollowCommits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.MustUpdate(t, event(1)) // the cache has the tenant, without endpoints
	err := b.db.Update(t.Context(), func(tx *store.Tx) error {
		return errors.Join(tx.InsertEndpoint(endpoint(50, payment.AllEventTypes)), event(2)(tx), errRolledBack)
	})
	if !errors.Is(err, errRolledBack) {
		t.Fatal(err)
	}
	b.MustUpdate(t, event(2))
	if got := b.MustCount(t, "webhook_deliveries"); got != 0 {
		t.Errorf("deliveries to an endpoint that was rolled back: got %d, want 0", got)
	}
	e := endpoint(51, "transaction.captured")
	b.MustUpdate(t, func(tx *store.Tx) error { return errors.Join(tx.InsertEndpoint(e), event(3)(tx)) })
	b.MustUpdate(t, event(4))
	b.MustUpdate(t, func(tx *store.Tx) error {
		return tx.InsertEvent(&payment.Event{
			ID: 5, Tenant: tenant, Type: "refund.created", Object: 1, Sequence: 1, Data: []byte("{}"),
		})
	})
	if got := b.MustCount(t, "webhook_deliveries"); got != 2 {
		t.Errorf("deliveries: got %d, want 2, of events 3 and 4", got)
	}
	err = b.db.Update(t.Context(), func(tx *store.Tx) error {
		off := *e
		off.Status = payment.EndpointDisabled
		return errors.Join(tx.UpdateEndpoint(&off), event(6)(tx), errRolledBack)
	})
	if !errors.Is(err, errRolledBack) {
		t.Fatal(err)
	}
	b.MustUpdate(t, event(6))
	if got := b.MustCount(t, "webhook_deliveries"); got != 3 {
		t.Errorf("after a rolled back disabling: got %d, want 3", got)
	}
	b.MustUpdate(t, func(tx *store.Tx) error {
		e.Status = payment.EndpointDeleted
		return errors.Join(tx.UpdateEndpoint(e), event(7)(tx))
	})
	if got := b.MustCount(t, "webhook_deliveries"); got != 3 {
		t.Errorf("after the deletion: got %d, want 3", got)
	}
}

// TestEndpointOfAnotherProcess: an event is delivered to an endpoint that another process has
// written, five seconds later at the latest.
func TestEndpointOfAnotherProcess(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.MustUpdate(t, event(1))
	other := b.MustOpen(t)
	err := other.Update(t.Context(), func(tx *store.Tx) error {
		return tx.InsertEndpoint(endpoint(50, payment.AllEventTypes))
	})
	if err != nil {
		t.Fatal(err)
	}
	b.clock.Advance(5 * time.Second)
	b.MustUpdate(t, event(2))
	if got := b.MustCount(t, "webhook_deliveries"); got != 1 {
		t.Errorf("got %d deliveries, want 1", got)
	}
}

// TestDeliveriesDueWakesAfterTheCommit: only a commit with deliveries wakes the deliverer.
func TestDeliveriesDueWakesAfterTheCommit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.MustUpdate(t, event(1))
	select {
	case <-b.db.DeliveriesDue():
		t.Error("woken without a delivery")
	default:
	}
	b.MustUpdate(t, func(tx *store.Tx) error { return tx.InsertEndpoint(endpoint(50, payment.AllEventTypes)) })
	b.MustUpdate(t, event(2))
	b.MustUpdate(t, event(3))
	<-b.db.DeliveriesDue()
	waiting, err := b.db.WaitingEndpoints(t.Context())
	if err != nil || len(waiting) != 1 || waiting[0].Endpoint.ID != 50 || waiting[0].DueAt.After(b.clock.Now()) {
		t.Errorf("got %+v, %v", waiting, err)
	}
}

// TestWaitingEndpoints: only enabled endpoints with pending deliveries are waiting.
func TestWaitingEndpoints(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.MustUpdate(t, func(tx *store.Tx) error {
		disabled := endpoint(52, payment.AllEventTypes)
		disabled.Status = payment.EndpointDisabled
		err := errors.Join(tx.InsertEndpoint(endpoint(50, payment.AllEventTypes)),
			tx.InsertEndpoint(endpoint(51, payment.AllEventTypes)), tx.InsertEndpoint(disabled),
			tx.InsertEndpoint(endpoint(53, "refund.created")))
		for n := range int64(300) {
			err = errors.Join(err, event(n+1)(tx))
		}
		_, more := tx.InsertDelivery(1, 52)
		return errors.Join(err, more)
	})
	b.clock.Advance(time.Minute)
	b.MustUpdate(t, func(tx *store.Tx) error {
		leases, err := tx.LeaseDeliveries(50, store.Due{}, 4, tx.Now.Add(time.Hour))
		if len(leases) != 4 || leases[0].Attempt != 1 || leases[0].Event != 1 {
			t.Errorf("leases: got %+v", leases)
		}
		return err
	})
	got, err := b.db.WaitingEndpoints(t.Context())
	if err != nil || len(got) != 2 || got[0].Endpoint.ID != 50 || got[1].Endpoint.ID != 51 {
		t.Errorf("got %+v, %v, want endpoints 50 and 51", got, err)
	}
}

// TestOneDeliveryIsLeasedOnce: commands that lease at the same time never lease the same delivery.
func TestOneDeliveryIsLeasedOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.MustUpdate(t, func(tx *store.Tx) error { return tx.InsertEndpoint(endpoint(50, payment.AllEventTypes)) })
	for n := range int64(100) {
		b.MustUpdate(t, event(n+1))
	}
	var mu sync.Mutex
	seen := map[int64]int{}
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for {
				var got []store.Lease
				err := b.db.Update(t.Context(), func(tx *store.Tx) (err error) {
					got, err = tx.LeaseDeliveries(50, store.Due{}, 3, tx.Now.Add(time.Minute))
					return err
				})
				if err != nil || len(got) == 0 {
					return
				}
				mu.Lock()
				for _, l := range got {
					seen[l.Delivery]++
				}
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	for d, n := range seen {
		if n != 1 {
			t.Errorf("delivery %d was leased %d times, want 1", d, n)
		}
	}
	if len(seen) != 100 {
		t.Errorf("leased: got %d, want 100", len(seen))
	}
}

// TestAttemptsEndOnce: an attempt that has ended can be neither ended again nor released.
func TestAttemptsEndOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.MustUpdate(t, func(tx *store.Tx) error {
		return errors.Join(tx.InsertEndpoint(endpoint(50, payment.AllEventTypes)), event(1)(tx))
	})
	var l store.Lease
	b.MustUpdate(t, func(tx *store.Tx) error {
		got, err := tx.LeaseDeliveries(50, store.Due{}, 1, tx.Now.Add(time.Minute))
		l = got[0]
		return err
	})
	end := func(tx *store.Tx) error {
		return tx.EndAttempt(l, payment.DeliveryAttempt{At: tx.Now, Status: 200}, payment.DeliverySucceeded, tx.Now)
	}
	b.MustUpdate(t, end)
	release := func(tx *store.Tx) error { return tx.ReleaseAttempt(l) }
	for name, fn := range map[string]func(*store.Tx) error{"end": end, "release": release} {
		if err := b.db.Update(t.Context(), fn); !errors.Is(err, store.ErrConflict) {
			t.Errorf("%s after the end: got %v, want %v", name, err, store.ErrConflict)
		}
	}
	b.MustUpdate(t, func(tx *store.Tx) error { return tx.DropLeases() })
	b.MustUpdate(t, func(tx *store.Tx) error {
		if got, err := tx.LeaseDeliveries(50, store.Due{}, 9, tx.Now); len(got) != 0 {
			t.Errorf("a delivery that succeeded was leased: %+v", got)
			return err
		}
		return nil
	})
}

// TestEventsAfterTheClockWasSetBack: a list by object contains an event with a lower id than its
// object.
func TestEventsAfterTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ids := id.NewGenerator(b.clock)
	object := ids.Next()
	b.clock.Advance(-time.Hour)
	late := id.NewGenerator(b.clock).Next() // as a process that started after the step draws it
	b.MustUpdate(t, func(tx *store.Tx) error {
		return tx.InsertEvent(&payment.Event{
			ID: late, Tenant: tenant, Type: "refund.created", Object: object, Sequence: 1, Data: []byte("{}"),
		})
	})
	filter := payment.EventFilter{Kind: "refund", Object: object}
	got, err := b.db.Events(t.Context(), tenant, filter, payment.Page{Limit: 10})
	if err != nil || len(got.Rows) != 1 {
		t.Errorf("got %d events, %v, want 1", len(got.Rows), err)
	}
	live := payment.Tenant{Merchant: tenant.Merchant, Live: true}
	if got, err := b.db.Event(t.Context(), live, late); !errors.Is(err, payment.ErrNotFound) {
		t.Errorf("in live mode: got %+v, %v, want %v", got, err, payment.ErrNotFound)
	}
}
