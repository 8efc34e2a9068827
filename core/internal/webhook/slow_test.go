package webhook_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/webhook"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestLateRequestsLeaveTheFastLane: new endpoints of merchants use all allowed attempts and hold
// each request, and another merchant's endpoint waits. It is attempted after a second, although
// none of the requests has ended.
func TestLateRequestsLeaveTheFastLane(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r, live := newSlowReceiver(t), newReceiver(t, nil)
	const most = 8
	b.mustPayEach(t, b.mustEndpoints(t, r.URL, most), 1)
	d := b.bounded(most, most)
	run(t, d)
	for range most {
		r.mustArrive(t)
	}
	b.mustPayEach(t, b.mustEndpoints(t, live.URL, 1), 1)
	b.Clock.Advance(time.Second)
	live.wait(t, 1)
	awaitUnderWay(t, d, 0, 0)
}

// TestLateRequestsCountForTheirTenant: the new endpoints of a merchant hold all requests that they
// may get, and after a second the fast lane is empty. The merchant gets some more, up to half of
// the lane.
func TestLateRequestsCountForTheirTenant(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r, live := newSlowReceiver(t), newReceiver(t, nil)
	const most, third, half = 27, 9, 14
	others := b.mustEndpoints(t, live.URL, 1)
	holds := payment.Tenant{Merchant: b.IDs.Next()}
	d := b.bounded(most, 1)
	run(t, d)
	b.mustReplace(t, holds, r.URL, 0)
	b.mustEvents(t, holds, 1)
	for range third {
		r.mustArrive(t)
	}
	for paid := range half { // after each second it gets some more
		b.Clock.Advance(time.Second)
		b.mustPayEach(t, others, 1)
		live.wait(t, paid+1)
	}
	awaitUnderWay(t, d, 0, 0)
	if got := third + len(r.arrived); got != half {
		t.Errorf("attempts at the endpoints of one merchant: got %d, want %d", got, half)
	}
}

// slowMerchants makes 16 endpoints in each mode of two merchants. All have deliveries.
func (b *bundle) slowMerchants(t *testing.T, url string, deliveries int) {
	t.Helper()
	for range 2 {
		merchant := b.IDs.Next()
		for _, live := range []bool{false, true} {
			tenant := payment.Tenant{Merchant: merchant, Live: live}
			b.mustReplace(t, tenant, url, 0)
			b.mustEvents(t, tenant, deliveries)
		}
	}
}

// TestSlowEndpointsOfTwoMerchants: the 64 endpoints of two merchants accept each delivery after 10
// seconds. A fast and a failing endpoint of another merchant are attempted immediately, before and
// after the others have turned out to be slow.
func TestSlowEndpointsOfTwoMerchants(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r, other, failing := newSlowReceiver(t), newReceiver(t, nil), newReceiver(t, status(http.StatusBadGateway))
	const endpoints, each, events = 64, 4, 5
	others := b.mustEndpoints(t, failing.URL, 1)
	b.mustFail(t)
	b.Tenant = others[0]
	b.MustEndpoint(t, other.URL)
	sent := 0
	attempted := func() {
		t.Helper()
		b.mustEvents(t, others[0], events)
		sent += events
		other.wait(t, sent)
		failing.wait(t, sent)
	}
	b.slowMerchants(t, r.URL, 2*each)
	d := b.deliverer(patient)
	run(t, d)
	for range endpoints * each {
		r.mustArrive(t)
	}
	attempted()
	b.Clock.Advance(time.Second)
	awaitUnderWay(t, d, 0, 0)
	attempted()
	b.Clock.Advance(9 * time.Second)
	for range endpoints * each {
		r.respond <- http.StatusOK
	}
	const least, most = 171, 206 // if the four tenants take turns, or follow one after the other
	programtest.WaitFor(t, "the slow endpoints have their attempts", func() bool {
		fast, slow := d.UnderWay()
		return fast == 0 && slow >= least
	})
	attempted()
	programtest.WaitFor(t, "the results of the fast attempts are written", func() bool {
		fast, _ := d.UnderWay()
		return fast == 0
	})
	if _, slow := d.UnderWay(); slow > most {
		t.Errorf("slow attempts under way: got %d, want at most %d", slow, most)
	}
}

// TestASlowSuccessIsSlow: an endpoint accepts deliveries after nine seconds. Its next attempts are
// in the slow lane, a few at the same time. After a quick success it is in the fast lane again.
func TestASlowSuccessIsSlow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := newSlowReceiver(t)
	const window = 4
	tenants := b.mustEndpoints(t, r.URL, 1)
	b.mustPayEach(t, tenants, 3*window)
	d := b.deliverer(patient)
	run(t, d)
	for range window {
		r.mustArrive(t)
	}
	awaitUnderWay(t, d, window, 0)
	b.Clock.Advance(9 * time.Second)
	for range window {
		r.respond <- http.StatusOK
	}
	awaitUnderWay(t, d, 0, window)
	for range window {
		r.mustArrive(t)
	}
	r.respond <- http.StatusOK
	awaitUnderWay(t, d, 2, window-1) // its window has grown by one
}

// TestALateRequestMakesItsEndpointSlow: a new endpoint holds two requests for longer than a second.
// Its next attempts are in the slow lane, although neither request has ended.
func TestALateRequestMakesItsEndpointSlow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := newSlowReceiver(t)
	tenants := b.mustEndpoints(t, r.URL, 1)
	b.mustEvents(t, tenants[0], 2)
	d := b.deliverer(patient)
	run(t, d)
	r.mustArrive(t)
	r.mustArrive(t)
	b.Clock.Advance(time.Second)
	awaitUnderWay(t, d, 0, 0)
	b.mustEvents(t, tenants[0], 3)
	awaitUnderWay(t, d, 0, 2) // its window is four
}

// TestWindows: each quick success allows an endpoint one more concurrent attempt. A slow success or
// a failure reduces the number.
func TestWindows(t *testing.T) {
	t.Parallel()
	d := setup(t).deliverer()
	e := &payment.Endpoint{ID: 1}
	for _, step := range []struct {
		times   int
		took    time.Duration
		failure string
		want    int
	}{
		{times: 1, want: 5},
		{times: 40, took: time.Second - time.Millisecond, want: 45},
		{times: 1, took: time.Second, want: 4},
		{times: 200, want: 100},
		{times: 1, failure: webhook.ErrorStatus, want: 1},
		{times: 1, want: 2},
		{times: 1, took: time.Minute, want: 4},
		{times: 1, took: time.Minute, failure: webhook.ErrorTimeout, want: 1},
	} {
		got := 0
		for range step.times {
			got = d.Learn(e, step.took, step.failure)
		}
		if got != step.want {
			t.Errorf("%+v: got %d", step, got)
		}
	}
	e.FailingSince = coretest.Birth
	if got := d.Learn(e, 0, ""); got != 1 {
		t.Errorf("an endpoint that fails at another core: got %d, want 1", got)
	}
}

// TestAFastEndpointGetsManyAttempts: an endpoint that has responded quickly to many requests gets
// 100 at the same time. These are 1,000 events a second if each takes 100 ms.
func TestAFastEndpointGetsManyAttempts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const window, quick = 100, 96
	r, witness := newHoldingReceiver(t, quick), newReceiver(t, nil)
	others := b.mustEndpoints(t, witness.URL, 1)
	b.mustEvents(t, b.mustEndpoints(t, r.URL, 1)[0], quick+window+10)
	d := b.deliverer(patient)
	run(t, d)
	awaitUnderWay(t, d, window, 0)
	b.mustEvents(t, others[0], 10)
	witness.wait(t, 10)
	programtest.WaitFor(t, "the requests of a whole window", func() bool { return r.count() >= window })
	if got := r.count(); got != window {
		t.Errorf("attempts at the same time: got %d, want %d", got, window)
	}
}

// TestAFailureEndsTheFastLane: an endpoint that gets many attempts at the same time responds with
// an error to one of them. It gets no further attempt while more than one is in progress.
func TestAFailureEndsTheFastLane(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r, witness := newSlowReceiver(t), newReceiver(t, nil)
	const window = 4
	others := b.mustEndpoints(t, witness.URL, 1)
	b.mustEvents(t, b.mustEndpoints(t, r.URL, 1)[0], 3*window)
	d := b.deliverer(patient)
	run(t, d)
	for range window {
		r.mustArrive(t)
	}
	for left := window - 1; left > 0; left-- {
		r.respond <- http.StatusInternalServerError
		awaitUnderWay(t, d, left, 0)
		b.mustEvents(t, others[0], 1)
		witness.wait(t, window-left)
	}
	if got := len(r.arrived); got != 0 {
		t.Errorf("attempts at the failing endpoint: got %d during the one under way, want none", got)
	}
}

// only returns the only endpoint of the tenant.
func (b *bundle) only(t *testing.T) *payment.Endpoint {
	t.Helper()
	all, err := b.DB.Endpoints(t.Context(), b.Tenant, "", payment.Page{Limit: 2})
	if err != nil || len(all.Rows) != 1 {
		t.Fatalf("got %d endpoints, %v", len(all.Rows), err)
	}
	return all.Rows[0]
}

// mustFill writes pending deliveries of one event to an endpoint. All but one are older than all
// others.
func (b *bundle) mustFill(t *testing.T, e *payment.Endpoint, deliveries int64) {
	t.Helper()
	b.mustEvents(t, e.Tenant, 1)
	event, now := b.Number(t, "SELECT MAX(id) FROM events"), b.Clock.Now().UnixMilli()
	before := b.Number(t, "SELECT MIN(id) FROM webhook_deliveries") - deliveries
	b.MustExec(t, fmt.Sprintf(`INSERT INTO webhook_deliveries (id, endpoint_id, event_id, due_at, created_at, updated_at)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		SELECT %d + i, %d, %d, %d, %d, %d FROM n`, deliveries-1, before, e.ID, event, now, now, now))
}

// TestALongQueueDelaysNoOther: a merchant has a long queue of deliveries to an endpoint that holds
// each request. An endpoint of another merchant gets its deliveries.
func TestALongQueueDelaysNoOther(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r, other := newSlowReceiver(t), newReceiver(t, nil)
	const window, pending, events = 4, 20_000, 20
	b.mustEndpoints(t, r.URL, 1)
	b.mustFill(t, b.only(t), pending)
	others := b.mustEndpoints(t, other.URL, 1)
	run(t, b.deliverer(patient))
	for range window {
		r.mustArrive(t)
	}
	b.mustEvents(t, others[0], events)
	other.wait(t, events)
	if got := len(r.arrived); got != 0 {
		t.Errorf("attempts at the long queue: got %d more than %d", got, window)
	}
}

// TestEndpointsShareAttempts: a merchant may have two attempts at the same time. Two of its
// endpoints have several deliveries each, and each gets one attempt.
func TestEndpointsShareAttempts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := newSlowReceiver(t)
	const most, events = 6, 4
	tenant := b.mustEndpoints(t, r.URL+"/one", 1)[0]
	b.MustEndpoint(t, r.URL+"/other")
	b.mustEvents(t, tenant, events)
	d := b.bounded(most, most)
	run(t, d)
	first, second := r.mustArrive(t), r.mustArrive(t)
	if first == second {
		t.Errorf("the two attempts: got both at %s, want one at each endpoint", first)
	}
}

// TestALateRequestReturnsItsShare: a merchant may have one attempt at a time, and its first request
// is late. After its end the merchant gets further attempts.
func TestALateRequestReturnsItsShare(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := newSlowReceiver(t)
	const most, events = 2, 3
	tenant := b.mustEndpoints(t, r.URL, 1)[0]
	d := b.bounded(most, most)
	run(t, d)
	for n := range events {
		b.mustEvents(t, tenant, 1)
		r.mustArrive(t)
		if n == 0 {
			b.Clock.Advance(time.Second)
			awaitUnderWay(t, d, 0, 0)
		}
		r.respond <- http.StatusOK
		b.awaitSuccesses(t, int64(n+1))
	}
}
