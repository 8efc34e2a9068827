package webhook_test

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/webhook"
	"github.com/causeway-pay/causeway/shared/programtest"
)

func TestTwoDeliverersNeverShareADelivery(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var mu sync.Mutex
	under, clashes := map[string]int{}, 0
	r := newReceiver(t, func(_ http.ResponseWriter, q *http.Request) {
		message := q.Header.Get("webhook-id")
		mu.Lock()
		if under[message]++; under[message] > 1 {
			clashes++
		}
		mu.Unlock()
	})
	e := b.MustEndpoint(t, r.URL)
	run(t, b.deliverer(), b.deliverer(), b.deliverer())
	const payments = 150
	var payers sync.WaitGroup
	for range 5 {
		payers.Go(func() {
			for range payments / 5 {
				if _, err := b.Pay(context.Background(), engine.Request{Tenant: b.Tenant}, 100, true); err != nil {
					t.Error(err)
				}
			}
		})
	}
	payers.Wait()
	programtest.WaitFor(t, "all are delivered", func() bool {
		return !slices.ContainsFunc(b.deliveries(t, e), func(d *payment.Delivery) bool { return d.Status != payment.DeliverySucceeded })
	})
	if got := len(r.messages()); got != payments || clashes != 0 {
		t.Errorf("got %d messages and %d clashes, want %d and none", got, clashes, payments)
	}
}

func TestTheLeaseOfADeadDelivererRunsOut(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := newReceiver(t, nil)
	e := b.MustEndpoint(t, r.URL)
	b.MustPay(t)
	var dead []store.Lease
	err := b.DB.Update(t.Context(), func(tx *store.Tx) (err error) {
		dead, err = tx.LeaseDeliveries(e.ID, store.Due{}, 10, tx.Now.Add(time.Minute))
		return err
	})
	if err != nil || len(dead) != 1 {
		t.Fatalf("got %d leases, %v", len(dead), err)
	}
	run(t, b.deliverer())
	b.Clock.Advance(time.Minute - time.Millisecond)
	witness := newReceiver(t, nil) // when it gets a new delivery, the queue has been read after the advance
	b.MustEndpoint(t, witness.URL)
	b.MustPay(t)
	witness.wait(t, 1)
	if got := b.deliveries(t, e)[0]; !got.Leased || got.Attempts != 1 {
		t.Errorf("before the lease ran out: %+v", got)
	}
	b.Clock.Advance(time.Millisecond)
	programtest.WaitFor(t, "it is taken again", func() bool { return b.deliveries(t, e)[0].Status == payment.DeliverySucceeded })
	late := func(tx *store.Tx) error {
		return tx.EndAttempt(dead[0], payment.DeliveryAttempt{Error: webhook.ErrorTimeout}, payment.DeliveryPending, tx.Now)
	}
	if err := b.DB.Update(t.Context(), late); err != store.ErrConflict { //nolint:errorlint // exactly this one
		t.Errorf("the dead one's outcome: got %v, want a conflict", err)
	}
	if got := b.deliveries(t, e)[0]; got.Attempts != 2 || got.Status != payment.DeliverySucceeded {
		t.Errorf("got %+v", got)
	}
}

// TestLeasesAreInOrder: deliveries to an endpoint are not due in the order of their creation.
// Leases take the deliveries that are due first, oldest first.
func TestLeasesAreInOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const pending, leased = 1000, 100
	e := b.MustEndpoint(t, "https://shop.example")
	b.mustFill(t, e, pending)
	b.MustExec(t, "UPDATE webhook_deliveries SET due_at = due_at - (id % 1009 * 7919) % 1009")
	b.MustExec(t, "UPDATE webhook_deliveries SET updated_at = updated_at + 1 WHERE id % 2 = 0") // PostgreSQL moves them
	b.MustExec(t, "ANALYZE webhook_deliveries")
	last := b.Number(t, "SELECT due_at FROM webhook_deliveries ORDER BY due_at, id LIMIT 1 OFFSET ?", leased)
	var got []int64
	err := b.DB.Update(t.Context(), func(tx *store.Tx) error {
		leases, err := tx.LeaseDeliveries(e.ID, store.Due{}, leased, tx.Now.Add(time.Minute))
		got = nil
		for _, l := range leases {
			got = append(got, l.Delivery)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != leased || !slices.IsSorted(got) {
		t.Errorf("got %d leases, in order: %t, want %d in order", len(got), slices.IsSorted(got), leased)
	}
	if n := b.Number(t, "SELECT COUNT(*) FROM webhook_deliveries WHERE leased = 0 AND due_at < ?", last); n != 0 {
		t.Errorf("got %d deliveries that are due before a leased one, want none", n)
	}
}

func TestTakeOverSQLite(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := newReceiver(t, nil)
	e := b.MustEndpoint(t, r.URL)
	b.MustPay(t)
	err := b.DB.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.LeaseDeliveries(e.ID, store.Due{}, 1, tx.Now.Add(time.Minute))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	d := b.deliverer()
	if err := d.TakeOver(t.Context()); err != nil {
		t.Fatal(err)
	}
	run(t, d)
	r.wait(t, 1)
}

func TestAStopHandsBackWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	entered := make(chan struct{}, 1)
	r := newReceiver(t, func(_ http.ResponseWriter, q *http.Request) {
		select {
		case entered <- struct{}{}:
		default:
		}
		<-q.Context().Done()
	})
	e := b.MustEndpoint(t, r.URL)
	stop := run(t, b.deliverer())
	b.MustPay(t)
	<-entered
	stop()
	d := b.deliveries(t, e)[0]
	if d.Leased || d.Attempts != 0 || d.Status != payment.DeliveryPending || !d.Last.At.IsZero() {
		t.Errorf("got %+v, want it as if not begun", d)
	}
	r.respond(nil)
	run(t, b.deliverer())
	programtest.WaitFor(t, "the next process delivers it", func() bool { return b.deliveries(t, e)[0].Status == payment.DeliverySucceeded })
}

func TestPurge(t *testing.T) {
	t.Parallel()
	b := setup(t)
	e := b.MustEndpoint(t, "https://one.example")
	gone := b.MustEndpoint(t, "https://two.example")
	b.MustPay(t)
	b.Clock.Advance(30*24*time.Hour + time.Second)
	if coretest.Shared() { // a server drops their partition, and removes single rows only if that was not possible for two weeks
		b.Clock.Advance(14 * 24 * time.Hour)
	}
	b.MustPay(t)
	if _, err := b.Engine.DeleteEndpoint(t.Context(), engine.Request{Tenant: b.Tenant}, gone.ID); err != nil {
		t.Fatal(err)
	}
	b.MustPay(t)
	if err := b.deliverer().Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := len(b.deliveries(t, e)), 2; got != want {
		t.Errorf("kept: got %d, want %d", got, want)
	}
	if n := b.Number(t, "SELECT COUNT(*) FROM webhook_deliveries WHERE endpoint_id = ?", gone.ID); n != 0 {
		t.Errorf("%d deliveries of the deleted endpoint are left", n)
	}
	if n := b.Number(t, "SELECT COUNT(*) FROM webhook_endpoints"); n != 1 {
		t.Errorf("%d endpoints are left, want 1", n)
	}
}
