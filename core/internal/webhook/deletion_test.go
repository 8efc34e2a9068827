package webhook_test

import (
	"errors"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/webhook"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// leftovers counts the deleted endpoints that are stored, and the pending deliveries.
func (b *bundle) leftovers(t *testing.T) [2]int64 {
	t.Helper()
	return [2]int64{
		b.Number(t, "SELECT COUNT(*) FROM webhook_endpoints WHERE status = 'deleted'"),
		b.Number(t, "SELECT COUNT(*) FROM webhook_deliveries WHERE status = 'pending'"),
	}
}

// TestDeletedEndpointsLeaveNoWork: a merchant deletes endpoints that have deliveries, and makes
// others, again and again. The deletions remove the deliveries and the endpoints.
func TestDeletedEndpointsLeaveNoWork(t *testing.T) {
	t.Parallel()
	b := setup(t)
	churns := payment.Tenant{Merchant: b.IDs.Next()}
	for generation := range 3 {
		b.mustReplace(t, churns, "https://shop.example", generation)
		b.mustEvents(t, churns, 2)
	}
	if got, want := b.leftovers(t), [2]int64{0, 32}; got != want {
		t.Errorf("deleted endpoints and pending deliveries: got %v, want %v", got, want)
	}
}

// mustQueue makes an endpoint with deliveries that have ended and pending ones.
func (b *bundle) mustQueue(t *testing.T, ended, pending int) *payment.Endpoint {
	t.Helper()
	e := b.MustEndpoint(t, "https://shop.example")
	b.mustEvents(t, b.Tenant, ended)
	b.MustExec(t, "UPDATE webhook_deliveries SET status = 'failed'")
	b.mustEvents(t, b.Tenant, pending)
	return e
}

// TestADeletionIsBounded: a deletion removes up to 256 deliveries, the pending ones first.
func TestADeletionIsBounded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	e := b.mustQueue(t, 256, 10)
	if _, err := b.Engine.DeleteEndpoint(t.Context(), engine.Request{Tenant: b.Tenant}, e.ID); err != nil {
		t.Fatal(err)
	}
	if got, want := b.leftovers(t), [2]int64{1, 0}; got != want {
		t.Errorf("deleted endpoints and pending deliveries: got %v, want %v", got, want)
	}
	if got := b.Number(t, "SELECT COUNT(*) FROM webhook_deliveries"); got != 10 {
		t.Errorf("deliveries left: got %d, want 10", got)
	}
}

// TestTheRestOfALongQueueIsPurgedSoon: a deliverer that has purged before removes the deliveries
// that a deletion left, and the endpoint.
func TestTheRestOfALongQueueIsPurgedSoon(t *testing.T) {
	t.Parallel()
	b := setup(t)
	old := b.MustEndpoint(t, "https://old.example")
	b.MustExec(t, "UPDATE webhook_endpoints SET status = 'deleted' WHERE id = ?", old.ID)
	run(t, b.deliverer(func(c *webhook.Config) { c.Policy = webhook.Policy{} }))
	programtest.WaitFor(t, "the first purge has ended", func() bool { return b.leftovers(t) == [2]int64{} })
	e := b.mustQueue(t, 300, 0)
	if _, err := b.Engine.DeleteEndpoint(t.Context(), engine.Request{Tenant: b.Tenant}, e.ID); err != nil {
		t.Fatal(err)
	}
	programtest.WaitFor(t, "nothing is left", func() bool {
		return b.leftovers(t) == [2]int64{} && b.Number(t, "SELECT COUNT(*) FROM webhook_deliveries") == 0
	})
}

// TestDeletedEndpointsThatAreLeftCount: while a tenant has 32 stored endpoints, including deleted
// ones, it cannot make another one. The other mode can, and after a purge the tenant can too.
func TestDeletedEndpointsThatAreLeftCount(t *testing.T) {
	t.Parallel()
	b := setup(t)
	create := func(tenant payment.Tenant) error {
		e := payment.Endpoint{URL: "https://shop.example", Types: []string{payment.AllEventTypes}, Details: []byte("{}")}
		_, err := b.Engine.CreateEndpoint(t.Context(), engine.Request{Tenant: tenant}, e)
		return err
	}
	for range 2 {
		for range 16 {
			if err := create(b.Tenant); err != nil {
				t.Fatal(err)
			}
		}
		b.MustExec(t, "UPDATE webhook_endpoints SET status = 'deleted'")
	}
	if err := create(b.Tenant); !errors.Is(err, engine.ErrTooManyEndpoints) {
		t.Errorf("with 32 deleted endpoints: got %v, want %v", err, engine.ErrTooManyEndpoints)
	}
	if err := create(payment.Tenant{Merchant: b.Tenant.Merchant, Live: true}); err != nil {
		t.Errorf("in the other mode: %v", err)
	}
	if err := b.deliverer().Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := create(b.Tenant); err != nil {
		t.Errorf("after a purge: %v", err)
	}
}

// TestEndpointsLeaveMemory: the deliverer keeps no endpoint without pending deliveries and no
// deleted endpoint in memory.
func TestEndpointsLeaveMemory(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := newReceiver(t, nil)
	d := b.deliverer()
	churns := payment.Tenant{Merchant: b.IDs.Next(), Live: true}
	run(t, d)
	for generation := range 3 {
		b.mustReplace(t, churns, r.URL, generation)
		b.mustEvents(t, churns, 1)
		b.awaitSuccesses(t, 16)
	}
	programtest.WaitFor(t, "no endpoint is remembered", func() bool { return d.Remembered() == 0 })
}
