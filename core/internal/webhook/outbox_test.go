package webhook_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/webhook"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// discarded counts the deliveries that ended as failed because too many were pending.
type discarded struct {
	webhook.Observer
	n int64
}

func (d *discarded) DeliveriesDiscarded(n int64) { d.n += n }

// statuses counts the pending and the discarded deliveries to an endpoint.
func (b *bundle) statuses(t *testing.T, e *payment.Endpoint) (pending, full int64) {
	t.Helper()
	const of = "SELECT COUNT(*) FROM webhook_deliveries WHERE endpoint_id = ? AND "
	return b.Number(t, of+"status = 'pending' AND error = ''", e.ID),
		b.Number(t, of+"status = 'failed' AND error = 'queue_full' AND attempted_at > 0", e.ID)
}

// TestTheOldestOfALongQueueAreDiscarded: too many deliveries to an endpoint are pending. The oldest
// ones end as failed, whenever they are due, except a delivery with an attempt in progress. The
// queue of another endpoint stays.
func TestTheOldestOfALongQueueAreDiscarded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const most, pending, leased = 300, 1000, 1
	long, short := b.MustEndpoint(t, "https://long.example"), b.MustEndpoint(t, "https://short.example")
	b.mustFill(t, long, pending)
	var leases []store.Lease
	err := b.DB.Update(t.Context(), func(tx *store.Tx) (err error) {
		leases, err = tx.LeaseDeliveries(long.ID, store.Due{}, leased, tx.Now.Add(time.Minute))
		return err
	})
	if err != nil || len(leases) != leased {
		t.Fatalf("got %d leases, %v", len(leases), err)
	}
	b.MustExec(t, "UPDATE webhook_deliveries SET due_at = due_at + 1000 - id % 1000 WHERE endpoint_id = ? AND leased = 0", long.ID)
	seen := &discarded{}
	d := b.deliverer(func(c *webhook.Config) { c.MostQueued, c.Observer = most, seen })
	if err := d.BoundOutbox(t.Context()); err != nil {
		t.Fatal(err)
	}
	left, full := b.statuses(t, long)
	if left != most+leased || full != pending-most-leased || seen.n != full {
		t.Errorf("got %d pending, %d failed, %d of them counted, want %d and %d", left, full, seen.n, most+leased, pending-most-leased)
	}
	const newest = "SELECT COUNT(*) FROM webhook_deliveries WHERE endpoint_id = ? AND status = 'pending' AND id <= (" +
		"SELECT MAX(id) FROM webhook_deliveries WHERE endpoint_id = ? AND status = 'failed')"
	if got := b.Number(t, newest, long.ID, long.ID); got != leased {
		t.Errorf("pending deliveries that are older than one that has failed: got %d, want the leased one", got)
	}
	if left, full := b.statuses(t, short); left != 1 || full != 0 {
		t.Errorf("the other endpoint: got %d pending and %d failed, want 1 and 0", left, full)
	}
	end := func(tx *store.Tx) error {
		return tx.EndAttempt(leases[0], payment.DeliveryAttempt{At: tx.Now, Status: 200}, payment.DeliverySucceeded, tx.Now)
	}
	if err := b.DB.Update(t.Context(), end); err != nil {
		t.Errorf("the attempt under way: %v", err)
	}
}

// TestTheLongestQueuesAreShortened: too many deliveries are pending in total. The two longest
// queues are shortened to the same length, and the shorter ones stay.
func TestTheLongestQueuesAreShortened(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const most = 100
	for i, pending := range []int64{30, 10, 500, 20} {
		tenants := b.mustEndpoints(t, fmt.Sprintf("https://shop-%d.example", i), 1)
		b.Tenant = tenants[0]
		b.mustFill(t, b.only(t), pending)
	}
	b.MustExec(t, "UPDATE webhook_endpoints SET status = 'disabled' WHERE id = (SELECT MAX(id) FROM webhook_endpoints)")
	if err := b.deliverer(func(c *webhook.Config) { c.MostPending = most }).BoundOutbox(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.wantQueues(t, "30", "10", "40", "20")
}

// wantQueues compares the lengths of the queues, in the order in which their endpoints were made.
func (b *bundle) wantQueues(t *testing.T, want ...string) {
	t.Helper()
	got := b.Texts(t, `SELECT COUNT(*) FROM webhook_deliveries WHERE status = 'pending'
		GROUP BY endpoint_id ORDER BY endpoint_id`)
	if !slices.Equal(got, want) {
		t.Errorf("pending: got %v, want %v", got, want)
	}
}

// TestMerchantsShareTheOutbox: too many deliveries are pending in total. A merchant with several
// endpoints, in both modes, keeps no more of them than a merchant with one endpoint.
func TestMerchantsShareTheOutbox(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const most = 100
	test := b.mustEndpoints(t, "https://many.example", 1)[0]
	for _, tenant := range []payment.Tenant{test, test, {Merchant: test.Merchant, Live: true}} {
		b.Tenant = tenant
		b.mustFill(t, b.MustEndpoint(t, "https://many.example"), 200)
	}
	b.mustEndpoints(t, "https://one.example", 1)
	b.mustFill(t, b.only(t), 49)
	b.mustEndpoints(t, "https://short.example", 1)
	b.mustFill(t, b.only(t), 3)
	if err := b.deliverer(func(c *webhook.Config) { c.MostPending = most }).BoundOutbox(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The larger merchants keep (100 - 3) / 2 each. Of these, each longer queue keeps (48 - 2) / 3.
	b.wantQueues(t, "2", "15", "15", "15", "48", "3")
}

// TestAFullQueueRefusesNoPayment: the queue of an endpoint that holds each request is full.
// Payments continue, and their new deliveries stay in the queue.
func TestAFullQueueRefusesNoPayment(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := newSlowReceiver(t)
	const most, payments = 5, 30
	e := b.MustEndpoint(t, r.URL)
	run(t, b.deliverer(patient, func(c *webhook.Config) { c.MostQueued = most }))
	for range payments {
		b.MustPay(t)
		b.Clock.Advance(time.Millisecond)
	}
	programtest.WaitFor(t, "the queue is short", func() bool {
		pending, full := b.statuses(t, e)
		return pending <= most+4 && pending+full == payments
	})
	all := b.deliveries(t, e)
	for _, d := range all[payments-most:] {
		if d.Status != payment.DeliveryPending {
			t.Errorf("one of the newest deliveries: got %s", d.Status)
		}
	}
}

// TestOnlyTheLeaderBoundsTheOutbox: a core that does not lead discards no delivery.
func TestOnlyTheLeaderBoundsTheOutbox(t *testing.T) {
	t.Parallel()
	b := setup(t)
	e := b.MustEndpoint(t, "https://shop.example")
	b.mustFill(t, e, 20)
	asked := make(chan struct{}, 1000)
	run(t, b.deliverer(func(c *webhook.Config) {
		c.MostQueued, c.Agrees = 5, func() bool { return false } // so that it attempts none
		c.Leads = func() bool {
			select {
			case asked <- struct{}{}:
			default:
			}
			return false
		}
	}))
	for range 20 {
		<-asked
	}
	if pending, full := b.statuses(t, e); pending != 20 || full != 0 {
		t.Errorf("got %d pending and %d failed, want 20 and 0", pending, full)
	}
}

// TestTheLogShowsAFullQueue: the log of deliveries shows the merchant which deliveries were
// discarded, and why.
func TestTheLogShowsAFullQueue(t *testing.T) {
	t.Parallel()
	b := setup(t)
	e := b.MustEndpoint(t, "https://shop.example")
	b.mustEvents(t, b.Tenant, 2)
	if err := b.deliverer(func(c *webhook.Config) { c.MostQueued = 1 }).BoundOutbox(t.Context()); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(b.API)
	t.Cleanup(server.Close)
	path := server.URL + "/v1/webhook_endpoints/" + id.Format(id.WebhookEndpoint, e.ID) + "/deliveries"
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+b.Key)
	resp, err := coretest.NewContract(t, http.DefaultTransport).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	var got v1.WebhookDeliveryList
	if err := json.UnmarshalRead(resp.Body, &got); err != nil || len(got.Data) != 2 {
		t.Fatalf("got %d deliveries, %v", len(got.Data), err)
	}
	newer, older := got.Data[0], got.Data[1]
	if newer.Status != v1.WebhookDeliveryStatusPending || newer.LastAttempt != nil {
		t.Errorf("the newer one: got %+v, want it as it was", newer)
	}
	last := older.LastAttempt
	if older.Status != v1.WebhookDeliveryStatusFailed || last == nil || last.Error == nil ||
		*last.Error != v1.WebhookAttemptErrorQueueFull || !last.At.Equal(b.Clock.Now()) {
		t.Errorf("the older one: got %+v with %+v, want it failed with the reason", older, last)
	}
}
