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

var errChanged = errors.New("the command changes its mind")

func endpoint(n int64, types ...string) *payment.Endpoint {
	return &payment.Endpoint{ID: n, Tenant: tenant, URL: "https://shop.example/", Types: types, Details: []byte("{}"), Status: payment.EndpointEnabled, Generation: 1, Version: 1}
}

// MustUpdate runs a command and wants it to succeed.
func (b *bundle) MustUpdate(t *testing.T, fn func(*store.Tx) error) {
	t.Helper()
	if err := b.db.Update(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// event inserts one event of the tenant.
func event(n int64) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		return tx.InsertEvent(&payment.Event{ID: n, Tenant: tenant, Type: "transaction.captured", Object: 1, Sequence: n, Data: []byte("{}")})
	}
}

func TestATenantWithoutEndpointsPaysNoStatement(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.MustUpdate(t, event(1))
	// What is not there cannot be asked.
	if _, err := b.MustWrite(t).ExecContext(t.Context(), `DROP TABLE webhook_endpoints; DROP TABLE webhook_deliveries`); err != nil {
		t.Fatal(err)
	}
	b.MustUpdate(t, event(2))
	if got := b.MustCount(t, "events"); got != 2 {
		t.Errorf("got %d events, want 2", got)
	}
}

func TestWhoIsDeliveredToFollowsTheCommits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.MustUpdate(t, event(1)) // from now on the writer knows that there is none
	taken := b.db.Update(t.Context(), func(tx *store.Tx) error {
		return errors.Join(tx.InsertEndpoint(endpoint(50, payment.AllEventTypes)), event(2)(tx), errChanged)
	})
	if !errors.Is(taken, errChanged) {
		t.Fatal(taken)
	}
	b.MustUpdate(t, event(2))
	if got := b.MustCount(t, "webhook_deliveries"); got != 0 {
		t.Errorf("deliveries to an endpoint that was taken back: %d", got)
	}
	e := endpoint(51, "transaction.captured")
	b.MustUpdate(t, func(tx *store.Tx) error { return errors.Join(tx.InsertEndpoint(e), event(3)(tx)) })
	b.MustUpdate(t, event(4))
	b.MustUpdate(t, func(tx *store.Tx) error {
		return tx.InsertEvent(&payment.Event{ID: 5, Tenant: tenant, Type: "refund.created", Object: 1, Sequence: 1, Data: []byte("{}")})
	})
	if got := b.MustCount(t, "webhook_deliveries"); got != 2 {
		t.Errorf("deliveries: got %d, want those of events 3 and 4", got)
	}
	err := b.db.Update(t.Context(), func(tx *store.Tx) error {
		off := *e
		off.Status = payment.EndpointDisabled
		return errors.Join(tx.UpdateEndpoint(&off), event(6)(tx), errChanged)
	})
	if !errors.Is(err, errChanged) {
		t.Fatal(err)
	}
	b.MustUpdate(t, event(6))
	if got := b.MustCount(t, "webhook_deliveries"); got != 3 {
		t.Errorf("after a disabling that was taken back: got %d, want 3", got)
	}
	b.MustUpdate(t, func(tx *store.Tx) error {
		e.Status = payment.EndpointDeleted
		return errors.Join(tx.UpdateEndpoint(e), event(7)(tx))
	})
	if got := b.MustCount(t, "webhook_deliveries"); got != 3 {
		t.Errorf("after the deletion: got %d, want 3", got)
	}
}

func TestAnotherProcessIsFeltSoon(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.MustUpdate(t, event(1))
	other := b.MustOpen(t)
	if err := other.Update(t.Context(), func(tx *store.Tx) error { return tx.InsertEndpoint(endpoint(50, payment.AllEventTypes)) }); err != nil {
		t.Fatal(err)
	}
	b.clock.Advance(5 * time.Second)
	b.MustUpdate(t, event(2))
	if got := b.MustCount(t, "webhook_deliveries"); got != 1 {
		t.Errorf("got %d deliveries, want 1", got)
	}
}

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

func TestWaitingEndpointsStepsOverLongQueues(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.MustUpdate(t, func(tx *store.Tx) error {
		disabled := endpoint(52, payment.AllEventTypes)
		disabled.Status = payment.EndpointDisabled
		err := errors.Join(tx.InsertEndpoint(endpoint(50, payment.AllEventTypes)), tx.InsertEndpoint(endpoint(51, payment.AllEventTypes)),
			tx.InsertEndpoint(disabled), tx.InsertEndpoint(endpoint(53, "refund.created")))
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
		t.Errorf("got %d, %v", len(got), err)
	}
}

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
			t.Errorf("delivery %d was leased %d times", d, n)
		}
	}
	if len(seen) != 100 {
		t.Errorf("leased: got %d, want 100", len(seen))
	}
}

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
	for name, fn := range map[string]func(*store.Tx) error{"end": end, "release": func(tx *store.Tx) error { return tx.ReleaseAttempt(l) }} {
		if err := b.db.Update(t.Context(), fn); !errors.Is(err, store.ErrConflict) {
			t.Errorf("%s again: got %v", name, err)
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

func TestEventsOfOneObjectAfterTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ids := id.NewGenerator(b.clock)
	object := ids.Next()
	b.clock.Advance(-time.Hour)
	late := id.NewGenerator(b.clock).Next() // as a process draws it that started after the step
	b.MustUpdate(t, func(tx *store.Tx) error {
		return tx.InsertEvent(&payment.Event{ID: late, Tenant: tenant, Type: "refund.created", Object: object, Sequence: 1, Data: []byte("{}")})
	})
	got, err := b.db.Events(t.Context(), tenant, payment.EventFilter{Kind: "refund", Object: object}, payment.Page{Limit: 10})
	if err != nil || len(got.Rows) != 1 {
		t.Errorf("got %d, %v", len(got.Rows), err)
	}
	if got, err := b.db.Event(t.Context(), payment.Tenant{Merchant: tenant.Merchant, Live: true}, late); !errors.Is(err, payment.ErrNotFound) {
		t.Errorf("in the other mode: got %+v, %v", got, err)
	}
}
