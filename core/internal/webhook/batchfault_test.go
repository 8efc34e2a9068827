package webhook_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store/pass"
	"github.com/causeway-pay/causeway/core/internal/webhook"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// ended records the results that an observer gets.
type ended struct {
	discarded

	mu  sync.Mutex
	got []string
}

// DeliveryAttempted implements webhook.Observer.
func (o *ended) DeliveryAttempted(failure string, status payment.DeliveryStatus) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.got = append(o.got, fmt.Sprintf("%s %s", status, failure))
}

// EndpointDisabled implements webhook.Observer.
func (o *ended) EndpointDisabled(reason payment.EndpointReason) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.got = append(o.got, fmt.Sprintf("disabled %s", reason))
}

// DeliveriesPurged implements webhook.Observer.
func (o *ended) DeliveriesPurged(int64, error) {}

// results returns the results so far, sorted.
func (o *ended) results() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Sorted(slices.Values(o.got))
}

// TestAnObserverCountsEachResultOnce: of four results in a commit, the store refuses one, and
// another core has taken over the delivery of one. The observer gets the written results.
func TestAnObserverCountsEachResultOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const deliveries = 4
	r, seen := newReceiver(t, nil), &ended{}
	e := b.MustEndpoint(t, r.URL)
	h := b.holdResults(t, func(c *webhook.Config) { c.Observer = seen })
	b.mustEvents(t, b.Tenant, deliveries)
	h.await(t, 1+deliveries)
	all := b.deliveries(t, e)
	b.MustRefuse(t, "UPDATE", "webhook_deliveries", fmt.Sprintf("NEW.id = %d AND NEW.status = 'succeeded'", all[1].ID))
	b.MustExec(t, "UPDATE webhook_deliveries SET attempts = 2 WHERE id = ?", all[2].ID)
	close(h.resume)
	h.awaitEnd(t)
	want := []string{"pending internal_error", "succeeded ", "succeeded ", "succeeded "} // one of the other merchant
	if got := seen.results(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// mustEndBackwards makes two endpoints with one delivery each, and ends both attempts with a
// status, the newer delivery first. It returns the endpoints, the endpoint of the older delivery
// first.
func (b *bundle) mustEndBackwards(t *testing.T, h *heldResults, status int) (older, newer *payment.Endpoint) {
	t.Helper()
	first, second := newSlowReceiver(t), newSlowReceiver(t)
	older, newer = b.MustEndpoint(t, first.URL), b.MustEndpoint(t, second.URL)
	b.mustEvents(t, b.Tenant, 1)
	first.mustArrive(t)
	second.mustArrive(t)
	if b.deliveries(t, older)[0].ID > b.deliveries(t, newer)[0].ID {
		older, newer, first, second = newer, older, second, first
	}
	second.respond <- status
	h.await(t, 2)
	first.respond <- status
	h.await(t, 3)
	return older, newer
}

// TestALostResultCountsForNoEndpoint: attempts at two endpoints fail, not in the order of their
// deliveries. Another core took over the delivery to one endpoint. Only the other endpoint fails.
func TestALostResultCountsForNoEndpoint(t *testing.T) {
	t.Parallel()
	b := setup(t)
	h := b.holdResults(t)
	lost, fails := b.mustEndBackwards(t, h, http.StatusInternalServerError)
	b.MustExec(t, "UPDATE webhook_deliveries SET attempts = 2 WHERE endpoint_id = ?", lost.ID)
	close(h.resume)
	h.awaitEnd(t)
	if got := b.endpoint(t, lost); !got.FailingSince.IsZero() {
		t.Errorf("the endpoint of the lost result: got failing since %v, want it not failing", got.FailingSince)
	}
	if got := b.endpoint(t, fails); got.FailingSince.IsZero() {
		t.Error("the other endpoint: got it not failing, want it failing")
	}
}

// TestAPanicInACommitEndsNoProcess: the observer of skips panics while a commit of results skips a
// refused one. The results of the commit are not written, so their leases stay. Results of later
// commits are written.
func TestAPanicInACommitEndsNoProcess(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.DB.ObserveSkips(func(context.Context, pass.Skip) { panic("a secret") })
	r := newReceiver(t, nil)
	e := b.MustEndpoint(t, r.URL)
	h := b.holdResults(t)
	b.mustEvents(t, b.Tenant, 1)
	h.await(t, 2)
	bad := b.deliveries(t, e)[0]
	b.MustRefuse(t, "UPDATE", "webhook_deliveries", fmt.Sprintf("NEW.id = %d AND NEW.status = 'succeeded'", bad.ID))
	close(h.resume)
	programtest.WaitFor(t, "the log has the delivery", func() bool { return strings.Contains(b.Log.String(), "panicked with a string") })
	h.awaitEnd(t)
	if got := b.deliveries(t, e)[0]; got.Status != payment.DeliveryPending || !got.Leased || got.Attempts != 1 {
		t.Errorf("got %+v, want it under its lease", got)
	}
	b.mustEvents(t, b.Tenant, 1)
	programtest.WaitFor(t, "the next one is delivered", func() bool { return b.delivered(t, e) == 1 })
	if strings.Contains(b.Log.String(), "a secret") {
		t.Error("the log holds the value of the panic")
	}
}

// TestResultsThatTheStoreDoesNotAccept: the store fails as a whole while results wait. The log has
// each result as not written, and no observer gets it. Each delivery stays under its lease, so it
// is repeated once the lease ends.
func TestResultsThatTheStoreDoesNotAccept(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const deliveries = 3
	r, seen := newReceiver(t, nil), &ended{}
	e := b.MustEndpoint(t, r.URL)
	h := b.holdResults(t, func(c *webhook.Config) { c.Observer = seen })
	b.mustEvents(t, b.Tenant, deliveries)
	h.await(t, 1+deliveries)
	if err := b.DB.Close(); err != nil {
		t.Fatal(err)
	}
	close(h.resume)
	h.awaitEnd(t)
	if got := strings.Count(b.Log.String(), "the result of an attempt was not written"); got != 1+deliveries {
		t.Errorf("results in the log: got %d, want %d", got, 1+deliveries)
	}
	if got := seen.results(); len(got) != 0 {
		t.Errorf("results of the observer: got %q, want none", got)
	}
	const leased = "SELECT COUNT(*) FROM webhook_deliveries WHERE endpoint_id = ? AND status = 'pending' AND leased = 1 AND attempts = 1"
	if got := b.Number(t, leased, e.ID); got != deliveries {
		t.Errorf("deliveries under a lease: got %d, want %d", got, deliveries)
	}
}

// TestAnObserverGetsNoResultThatWasRolledBack: the store refuses to note that an endpoint fails,
// after the result of the attempt was written. The observer gets only the failure inside the
// service.
func TestAnObserverGetsNoResultThatWasRolledBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	seen := &ended{}
	e := b.MustEndpoint(t, newReceiver(t, status(http.StatusInternalServerError)).URL)
	b.MustRefuse(t, "UPDATE", "webhook_endpoints", fmt.Sprintf("NEW.id = %d", e.ID))
	stop := run(t, b.deliverer(func(c *webhook.Config) { c.Observer = seen }))
	b.mustEvents(t, b.Tenant, 1)
	programtest.WaitFor(t, "the attempt has ended", func() bool { return b.deliveries(t, e)[0].Last.Error == webhook.ErrorInternal })
	stop()
	if got, want := seen.results(), []string{"pending internal_error"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestResultsLockInOrderPostgreSQL: attempts have not ended in the order of their deliveries. Their
// results are written by id, in the order in which other commands lock deliveries. While the first
// one is locked, the commit has not locked the second one.
func TestResultsLockInOrderPostgreSQL(t *testing.T) {
	t.Parallel()
	b := setupServer(t)
	h := b.holdResults(t)
	older, newer := b.mustEndBackwards(t, h, http.StatusOK)
	commit := b.mustHoldLocks(t, "SELECT id FROM webhook_deliveries WHERE endpoint_id = ? FOR UPDATE", older.ID)
	close(h.resume)
	b.waitForLocks(t, 1)
	b.MustExec(t, "SELECT id FROM webhook_deliveries WHERE endpoint_id = ? FOR UPDATE NOWAIT", newer.ID)
	commit()
	b.awaitSuccesses(t, 3)
}
