package webhook_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/webhook"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// mustOther makes another merchant, with an endpoint and a delivery to it.
func (b *bundle) mustOther(t *testing.T, url string) {
	t.Helper()
	mine := b.Tenant
	b.Tenant = payment.Tenant{Merchant: b.IDs.Next()}
	err := b.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.InsertMerchant(b.Tenant.Merchant, "other") })
	if err != nil {
		t.Fatal(err)
	}
	b.MustEndpoint(t, url)
	b.MustPay(t)
	b.Tenant = mine
}

// TestRefusedLeaseStopsNoDelivery: the store refuses to lease the oldest deliveries to an endpoint,
// more than its window. All others are delivered, to this endpoint and to another merchant's. The
// refused ones are retried after a pause.
func TestRefusedLeaseStopsNoDelivery(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r, other := newReceiver(t, nil), newReceiver(t, nil)
	e := b.MustEndpoint(t, r.URL)
	const refused, all = 6, 30
	for range all {
		b.MustPay(t)
		b.Clock.Advance(time.Millisecond)
	}
	b.mustOther(t, other.URL)
	last := b.Number(t, "SELECT id FROM webhook_deliveries ORDER BY id LIMIT 1 OFFSET ?", refused-1)
	end := b.MustRefuse(t, "UPDATE", "webhook_deliveries", fmt.Sprintf("NEW.id <= %d AND NEW.leased = 1", last))
	run(t, b.deliverer())
	other.wait(t, 1)
	programtest.WaitFor(t, "all others are delivered", func() bool { return b.delivered(t, e) == all-refused })
	if got := strings.Count(b.Log.String(), fmt.Sprintf(`"kind":"webhook_delivery","id":%d,`, last)); got != 1 {
		t.Errorf("tries of a refused delivery within its pause: got %d, want 1", got)
	}
	end()
	b.Clock.Advance(time.Minute)
	programtest.WaitFor(t, "the refused ones are delivered", func() bool { return b.delivered(t, e) == all })
}

// TestRefusedDueTimeStopsNoDelivery: the store refuses to make a delivery due that a clock wrote
// while it was ahead. Other deliveries of that clock are sent.
func TestRefusedDueTimeStopsNoDelivery(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := newReceiver(t, nil)
	b.Clock.Advance(aDay)
	e := b.MustEndpoint(t, r.URL)
	for range 3 {
		b.MustPay(t)
	}
	first := b.Number(t, "SELECT MIN(id) FROM webhook_deliveries")
	b.MustRefuse(t, "UPDATE", "webhook_deliveries", fmt.Sprintf("NEW.id = %d", first))
	b.Clock.Advance(-aDay)
	run(t, b.deliverer())
	programtest.WaitFor(t, "the others are delivered", func() bool { return b.delivered(t, e) == 2 })
}

// TestMissingEventStopsNoDelivery: an event is missing. Its delivery fails and is retried by the
// schedule, and the next event is delivered.
func TestMissingEventStopsNoDelivery(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := newReceiver(t, nil)
	e := b.MustEndpoint(t, r.URL)
	b.MustPay(t)
	b.MustExec(t, "DELETE FROM events")
	b.MustPay(t)
	run(t, b.deliverer())
	programtest.WaitFor(t, "the other is delivered", func() bool { return b.delivered(t, e) == 1 })
	programtest.WaitFor(t, "the attempt has failed", func() bool {
		d := b.deliveries(t, e)[0]
		return !d.Leased && d.Attempts == 1 && d.Last.Error == "internal_error" && d.Status == payment.DeliveryPending
	})
}

// TestRefusedDeliveryStopsNoPurge: the store refuses to remove one of three deliveries. Their
// endpoint is deleted, and a purge removes the others.
func TestRefusedDeliveryStopsNoPurge(t *testing.T) {
	t.Parallel()
	b := setup(t)
	e := b.MustEndpoint(t, "https://one.example")
	for range 3 {
		b.MustPay(t)
	}
	first := b.Number(t, "SELECT MIN(id) FROM webhook_deliveries")
	end := b.MustRefuse(t, "DELETE", "webhook_deliveries", fmt.Sprintf("OLD.id = %d", first))
	if _, err := b.Engine.DeleteEndpoint(t.Context(), b.Request(""), e.ID); err != nil {
		t.Fatal(err)
	}
	for _, left := range []int64{1, 0} {
		if err := b.deliverer().Purge(t.Context()); err != nil {
			t.Error(err)
		}
		if got := b.Number(t, "SELECT COUNT(*) FROM webhook_deliveries"); got != left {
			t.Errorf("left: got %d, want %d", got, left)
		}
		if left > 0 {
			end()
		}
	}
	if got := b.Number(t, "SELECT COUNT(*) FROM webhook_endpoints"); got != 0 {
		t.Errorf("%d deleted endpoints are left", got)
	}
}

// TestARefusedEndpointHasNoFurtherTurn: the attempts at failing endpoints leave one attempt free.
// The store refuses to lease the many deliveries to the endpoint with the next turn. Another
// merchant's endpoint gets the attempt before all of these were tried.
func TestARefusedEndpointHasNoFurtherTurn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r, arrived := newRefusingReceiver(t)
	const most, refused = 8, 500
	b.mustPayEach(t, b.mustEndpoints(t, r.URL+"/holds", most-1), 1)
	b.mustEndpoints(t, r.URL+"/refused", 1)
	b.mustFill(t, b.only(t), refused)
	b.MustRefuse(t, "UPDATE", "webhook_deliveries", fmt.Sprintf("NEW.endpoint_id = %d AND NEW.leased = 1", b.only(t).ID))
	b.mustPayEach(t, b.mustEndpoints(t, r.URL+"/one", 1), 1)
	b.mustFail(t)
	run(t, b.bounded(most, most))
	wantInTurn(t, arrived, "/one/0")
	if got := strings.Count(b.Log.String(), `"kind":"webhook_delivery"`); got >= refused {
		t.Errorf("refused leases before the attempt: got %d, want fewer than %d", got, refused)
	}
}

// TestRefusedDeliveryStopsNoBound: the store refuses to end the oldest delivery of a queue that is
// too long. The other oldest deliveries end as failed.
func TestRefusedDeliveryStopsNoBound(t *testing.T) {
	t.Parallel()
	b := setup(t)
	pending := deliveryRow{status: "pending"}
	e, ids := b.mustHave(t, pending, pending, pending, pending, pending)
	b.MustRefuse(t, "UPDATE", "webhook_deliveries", fmt.Sprintf("NEW.id = %d", ids[0]))
	n, err := b.DB.BoundOutbox(t.Context(), 1, 100, webhook.ErrorQueueFull)
	if err != nil || n != 3 {
		t.Errorf("got %d ended, %v, want 3", n, err)
	}
	if left, full := b.statuses(t, e); left != 2 || full != 3 {
		t.Errorf("got %d pending and %d failed, want 2 and 3", left, full)
	}
}
