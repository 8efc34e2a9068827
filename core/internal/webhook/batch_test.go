package webhook_test

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/webhook"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// heldResults is a deliverer whose commits of results wait. The first commit has the result of
// another merchant's endpoint.
type heldResults struct {
	*webhook.Deliverer
	resume chan struct{}
	mu     sync.Mutex
	parts  [][]int64 // the deliveries of each commit
}

// holdResults returns a deliverer with one commit of results at a time, which it holds until resume
// is closed. Later results share the next commits.
func (b *bundle) holdResults(t *testing.T, options ...func(*webhook.Config)) *heldResults {
	t.Helper()
	return b.holdCommits(t, (*webhook.Deliverer).OneCommitOfResults, options...)
}

// holdCommits returns a running deliverer that holds each commit until resume is closed. One commit
// is held already. prepare changes the deliverer before it runs.
func (b *bundle) holdCommits(
	t *testing.T, prepare func(*webhook.Deliverer), options ...func(*webhook.Config),
) *heldResults {
	t.Helper()
	mine := b.Tenant
	first := newReceiver(t, nil)
	h := &heldResults{Deliverer: b.deliverer(append(options, patient)...), resume: make(chan struct{})}
	prepare(h.Deliverer)
	h.ObserveResults(func(deliveries []int64) {
		h.mu.Lock()
		h.parts = append(h.parts, deliveries)
		h.mu.Unlock()
		<-h.resume
	})
	b.mustEvents(t, b.mustEndpoints(t, first.URL, 1)[0], 1)
	run(t, h.Deliverer)
	t.Cleanup(func() { // runs before the cleanup of run
		select {
		case <-h.resume:
		default:
			close(h.resume)
		}
	})
	first.wait(t, 1)
	programtest.WaitFor(t, "a commit is held", func() bool { return len(h.commits()) == 1 })
	b.Tenant = mine
	return h
}

// commits returns the deliveries of each commit so far.
func (h *heldResults) commits() [][]int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.parts)
}

// await waits until that many results have reached a commit or wait for one.
func (h *heldResults) await(t *testing.T, results int) {
	t.Helper()
	programtest.WaitFor(t, fmt.Sprintf("%d attempts have ended", results), func() bool {
		n := h.WaitingResults()
		for _, in := range h.commits() {
			n += len(in)
		}
		return n >= results
	})
}

// awaitEnd waits until no attempt is under way.
func (h *heldResults) awaitEnd(t *testing.T) {
	t.Helper()
	awaitUnderWay(t, h.Deliverer, 0, 0)
}

// TestResultsShareCommits: all allowed commits of results are held while the attempts at many
// endpoints end. The longest-waiting results share the next commit, up to its bound. The others
// share the commit after it.
func TestResultsShareCommits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const atOnce, each, others = 4, 100, 50
	h := b.holdCommits(t, func(*webhook.Deliverer) {})
	r := newReceiver(t, nil)
	tenants := b.mustEndpoints(t, r.URL, atOnce-1+each+others)
	for n, tenant := range tenants {
		b.mustEvents(t, tenant, 1)
		switch {
		case n < atOnce-1:
			programtest.WaitFor(t, "another commit is held", func() bool { return len(h.commits()) == n+2 })
		case n == atOnce+each-2, n == len(tenants)-1:
			h.await(t, n+2)
		}
	}
	first := b.Number(t, "SELECT id FROM webhook_deliveries ORDER BY id LIMIT 1 OFFSET ?", atOnce)
	second := b.Number(t, "SELECT id FROM webhook_deliveries ORDER BY id LIMIT 1 OFFSET ?", atOnce+each)
	close(h.resume)
	b.awaitSuccesses(t, int64(1+len(tenants)))
	got := h.commits()
	if len(got) != atOnce+2 {
		t.Fatalf("commits: got %d, want %d", len(got), atOnce+2)
	}
	slices.SortFunc(got[atOnce:], func(a, b []int64) int { return cmp.Compare(len(b), len(a)) })
	for i, want := range []struct {
		results int
		oldest  int64
	}{{each, first}, {others, second}} {
		if in := got[atOnce+i]; len(in) != want.results || slices.Min(in) != want.oldest {
			t.Errorf("a commit: got %d results from delivery %d on, want %d from %d on", len(in), slices.Min(in), want.results, want.oldest)
		}
	}
}

// TestAHeldCommitDelaysNoOther: a commit of results does not end. The result of another attempt is
// written.
func TestAHeldCommitDelaysNoOther(t *testing.T) {
	t.Parallel()
	b := setup(t)
	hold := make(chan struct{})
	var commits atomic.Int64
	d := b.deliverer(patient)
	d.ObserveResults(func([]int64) {
		if commits.Add(1) == 1 {
			<-hold
		}
	})
	r := newReceiver(t, nil)
	e := b.MustEndpoint(t, r.URL)
	b.MustPay(t)
	run(t, d)
	t.Cleanup(func() { close(hold) })
	r.wait(t, 1)
	b.MustPay(t)
	programtest.WaitFor(t, "the second delivery is over", func() bool { return b.delivered(t, e) == 1 })
}

// TestARefusedResultStopsNoOther: the store refuses the success of one delivery in a commit with
// others. Only that delivery ends as failed inside the service.
func TestARefusedResultStopsNoOther(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const deliveries = 4
	r := newReceiver(t, nil)
	e := b.MustEndpoint(t, r.URL)
	h := b.holdResults(t)
	b.mustEvents(t, b.Tenant, deliveries)
	h.await(t, 1+deliveries)
	bad := b.deliveries(t, e)[1]
	b.MustRefuse(t, "UPDATE", "webhook_deliveries", fmt.Sprintf("NEW.id = %d AND NEW.status = 'succeeded'", bad.ID))
	close(h.resume)
	b.awaitSuccesses(t, deliveries) // including the other merchant's
	programtest.WaitFor(t, "the refused one has ended", func() bool { return !b.deliveries(t, e)[1].Leased })
	if got := b.deliveries(t, e)[1]; got.Status != payment.DeliveryPending || got.Last.Error != webhook.ErrorInternal || got.Attempts != 1 {
		t.Errorf("got %+v, want a failed attempt", got)
	}
}

// TestResultsOfLostLeases: attempts at two endpoints have ended. One endpoint is deleted, and
// another core takes over one delivery to the other endpoint. The results of the other deliveries
// are written, and the results of lost leases are not.
func TestResultsOfLostLeases(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const deliveries = 3
	r := newReceiver(t, nil)
	e, gone := b.MustEndpoint(t, r.URL), b.MustEndpoint(t, r.URL)
	h := b.holdResults(t)
	b.mustEvents(t, b.Tenant, deliveries)
	h.await(t, 1+2*deliveries)
	if _, err := b.Engine.DeleteEndpoint(t.Context(), engine.Request{Tenant: b.Tenant}, gone.ID); err != nil {
		t.Fatal(err)
	}
	b.MustExec(t, "UPDATE webhook_deliveries SET attempts = 2 WHERE id = ?", b.deliveries(t, e)[0].ID)
	close(h.resume)
	b.awaitSuccesses(t, deliveries)
	if got := b.deliveries(t, e)[0]; got.Status != payment.DeliveryPending || !got.Leased || !got.Last.At.IsZero() {
		t.Errorf("the delivery of the other core: got %+v, want it as it was", got)
	}
	if got := b.Number(t, "SELECT COUNT(*) FROM webhook_deliveries WHERE endpoint_id = ?", gone.ID); got != 0 {
		t.Errorf("deliveries to the deleted endpoint: got %d, want none", got)
	}
}

// TestResultsOfOneEndpointInOneCommit: results of an endpoint that has failed for five days are
// written in one commit, in the order in which the attempts ended.
func TestResultsOfOneEndpointInOneCommit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		statuses []int
		lost     bool // another core took over the deliveries
		failing  bool
		want     payment.EndpointStatus
	}{
		"a success":                  {[]int{200}, false, false, payment.EndpointEnabled},
		"a success, taken over":      {[]int{200}, true, true, payment.EndpointEnabled},
		"a failure":                  {[]int{500}, false, true, payment.EndpointDisabled},
		"a failure, taken over":      {[]int{500}, true, true, payment.EndpointEnabled},
		"a failure before a success": {[]int{500, 200}, false, false, payment.EndpointEnabled},
		"a failure after a success":  {[]int{200, 500}, false, true, payment.EndpointEnabled},
		"a success between failures": {[]int{500, 200, 500}, false, true, payment.EndpointEnabled},
		"gone before a success":      {[]int{410, 200}, false, false, payment.EndpointDisabled},
		"gone after a success":       {[]int{200, 410}, false, false, payment.EndpointDisabled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			r := newSlowReceiver(t)
			e := b.MustEndpoint(t, r.URL)
			h := b.holdResults(t)
			b.mustEvents(t, b.Tenant, len(c.statuses))
			for range c.statuses {
				r.mustArrive(t)
			}
			for i, status := range c.statuses {
				r.respond <- status
				h.await(t, 2+i)
			}
			since := b.Clock.Now().Add(-5 * aDay)
			b.MustExec(t, "UPDATE webhook_endpoints SET failing_since = ? WHERE id = ?", since.UnixMilli(), e.ID)
			if c.lost {
				b.MustExec(t, "UPDATE webhook_deliveries SET attempts = 2 WHERE endpoint_id = ?", e.ID)
			}
			close(h.resume)
			h.awaitEnd(t)
			got := b.endpoint(t, e)
			if got.Status != c.want || c.want == payment.EndpointEnabled && got.FailingSince.IsZero() == c.failing {
				t.Errorf("got %s, failing since %v, want %s and failing: %t", got.Status, got.FailingSince, c.want, c.failing)
			}
		})
	}
}

// TestGoneEndpointsThatAreOffAlready: an endpoint responds 410. Before the result is written, the
// endpoint is disabled or deleted. The result is in the log, and no event reports the endpoint.
func TestGoneEndpointsThatAreOffAlready(t *testing.T) {
	t.Parallel()
	for _, off := range []string{"disabled", "deleted"} {
		t.Run(off, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			r := newReceiver(t, status(http.StatusGone))
			e := b.MustEndpoint(t, r.URL)
			h := b.holdResults(t)
			b.mustEvents(t, b.Tenant, 1)
			h.await(t, 2)
			b.MustExec(t, "UPDATE webhook_endpoints SET status = ? WHERE id = ?", off, e.ID)
			close(h.resume)
			h.awaitEnd(t)
			const logged = "SELECT COUNT(*) FROM webhook_deliveries WHERE endpoint_id = ? AND status = 'failed' AND response_status = 410"
			if got := b.Number(t, logged, e.ID); got != 1 && off == "disabled" {
				t.Errorf("results in the log: got %d, want 1", got)
			}
			if got := b.Number(t, "SELECT COUNT(*) FROM webhook_deliveries WHERE error = 'internal_error'"); got != 0 {
				t.Errorf("attempts that failed inside the service: got %d, want none", got)
			}
			if got := b.Number(t, "SELECT COUNT(*) FROM events WHERE type = 'webhook_endpoint.disabled'"); got != 0 {
				t.Errorf("events of a disabled endpoint: got %d, want none", got)
			}
		})
	}
}
