package webhook_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// slowReceiver holds each request to it until a status is sent to respond.
type slowReceiver struct {
	*receiver
	respond chan int
	arrived chan string // paths
}

func newSlowReceiver(t *testing.T) *slowReceiver {
	t.Helper()
	r := &slowReceiver{respond: make(chan int), arrived: make(chan string, 1000)}
	r.receiver = newReceiver(t, func(w http.ResponseWriter, q *http.Request) {
		r.arrived <- q.URL.Path
		select {
		case status := <-r.respond:
			w.WriteHeader(status)
		case <-q.Context().Done():
		}
	})
	return r
}

// mustArrive returns the path of the next request.
func (r *slowReceiver) mustArrive(t *testing.T) string {
	t.Helper()
	select {
	case path := <-r.arrived:
		return path
	case <-time.After(programtest.Patience):
		t.Fatal("no further request arrived")
		return ""
	}
}

// mustEndpoints makes endpoints, each of a new merchant. The paths of their URLs are numbers.
func (b *bundle) mustEndpoints(t *testing.T, url string, endpoints int) (tenants []payment.Tenant) {
	t.Helper()
	for n := range endpoints {
		b.Tenant = payment.Tenant{Merchant: b.IDs.Next()}
		tenants = append(tenants, b.Tenant)
		b.MustEndpoint(t, fmt.Sprintf("%s/%d", url, n))
	}
	return tenants
}

// mustReplace deletes the endpoints of a tenant and makes 16 others. The paths of their URLs begin
// with the generation.
func (b *bundle) mustReplace(t *testing.T, tenant payment.Tenant, url string, generation int) {
	t.Helper()
	b.Tenant = tenant
	old, err := b.DB.Endpoints(t.Context(), tenant, payment.Page{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range old.Rows {
		if _, err := b.Engine.DeleteEndpoint(t.Context(), engine.Request{Tenant: tenant}, e.ID); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 16 {
		b.MustEndpoint(t, fmt.Sprintf("%s/%d-%d", url, generation, n))
	}
}

// holdingReceiver responds with 200 to the first request of each path and holds the others.
type holdingReceiver struct {
	*receiver
	mu    sync.Mutex
	paths map[string]int // requests so far
	held  int
}

func newHoldingReceiver(t *testing.T) *holdingReceiver {
	t.Helper()
	r := &holdingReceiver{paths: map[string]int{}}
	r.receiver = newReceiver(t, func(_ http.ResponseWriter, q *http.Request) {
		r.mu.Lock()
		r.paths[q.URL.Path]++
		hold := r.paths[q.URL.Path] > 1
		if hold {
			r.held++
		}
		r.mu.Unlock()
		if hold {
			<-q.Context().Done()
		}
	})
	return r
}

// count returns how many requests it has held so far.
func (r *holdingReceiver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held
}

// mustPayEach makes payments of each tenant.
func (b *bundle) mustPayEach(t *testing.T, tenants []payment.Tenant, payments int) {
	t.Helper()
	for _, b.Tenant = range tenants {
		for range payments {
			b.MustPay(t)
		}
	}
}

// awaitSuccesses waits until that many deliveries have succeeded.
func (b *bundle) awaitSuccesses(t *testing.T, deliveries int64) {
	t.Helper()
	programtest.WaitFor(t, fmt.Sprintf("%d deliveries have succeeded", deliveries), func() bool {
		return b.Number(t, "SELECT COUNT(*) FROM webhook_deliveries WHERE status = 'succeeded'") == deliveries
	})
}

// mustEvents writes events of a tenant of any mode.
func (b *bundle) mustEvents(t *testing.T, tenant payment.Tenant, events int) {
	t.Helper()
	for range events {
		e := payment.Event{ID: b.IDs.Next(), Tenant: tenant, Type: "transaction.captured", Object: 1, Sequence: 1, Data: []byte("{}")}
		if err := b.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.InsertEvent(&e) }); err != nil {
			t.Fatal(err)
		}
	}
}

// mustFail makes all endpoints failing ones.
func (b *bundle) mustFail(t *testing.T) {
	t.Helper()
	b.MustExec(t, "UPDATE webhook_endpoints SET failing_since = ?", coretest.Birth.UnixMilli())
}

// TestUnresponsiveEndpointsTakeTurns: failing endpoints of more merchants than may be attempted at
// once hold each request and have more deliveries. A new endpoint of another merchant is attempted at
// once. When an attempt ends, the failing endpoint that was not attempted yet is attempted next.
func TestUnresponsiveEndpointsTakeTurns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r, fresh := newSlowReceiver(t), newReceiver(t, nil)
	const most = 128
	b.mustPayEach(t, b.mustEndpoints(t, r.URL, most+1), 2)
	b.mustFail(t)
	run(t, b.deliverer(patient))
	attempted := map[string]bool{}
	for range most {
		attempted[r.mustArrive(t)] = true
	}
	b.mustPayEach(t, b.mustEndpoints(t, fresh.URL, 1), 1)
	fresh.wait(t, 1)
	r.respond <- http.StatusInternalServerError
	if got := r.mustArrive(t); len(attempted) != most || attempted[got] {
		t.Errorf("the attempt after those of %d endpoints: got one of %s, want another endpoint", len(attempted), got)
	}
}

// TestFreshEndpointsDelayNoFailingOne: new endpoints of more merchants than may be attempted at once
// hold each request. A failing endpoint of another merchant, which would take its delivery, is
// attempted.
func TestFreshEndpointsDelayNoFailingOne(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r, failing := newSlowReceiver(t), newReceiver(t, nil)
	const most = 128
	other := b.mustEndpoints(t, failing.URL, 1)
	b.mustFail(t)
	b.mustPayEach(t, b.mustEndpoints(t, r.URL, most+1), 1)
	run(t, b.deliverer(patient))
	for range most {
		r.mustArrive(t)
	}
	b.mustPayEach(t, other, 1)
	failing.wait(t, 1)
}

// TestResponsiveEndpointsDelayNoFailingOne: at endpoints that took their last delivery, all attempts
// are under way that their merchants may hold, and more are due. A failing endpoint is attempted.
func TestResponsiveEndpointsDelayNoFailingOne(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r, failing := newSlowReceiver(t), newReceiver(t, nil)
	const endpoints, each = 64, 4
	const left = 6 // a merchant with 3 attempts, all in one mode, gets the fourth if more are left
	tenants := b.mustEndpoints(t, r.URL, endpoints)
	b.mustPayEach(t, tenants, 1)
	run(t, b.deliverer(patient))
	for range endpoints {
		r.mustArrive(t)
		r.respond <- http.StatusOK
	}
	b.awaitSuccesses(t, endpoints)
	b.mustPayEach(t, tenants, each+1)
	for range endpoints*each - left {
		r.mustArrive(t)
	}
	last := b.mustEndpoints(t, failing.URL, 1)
	b.mustFail(t)
	b.mustPayEach(t, last, 1)
	failing.wait(t, 1)
}

// TestTheLongestWaitHasTheNextTurn: all attempts that may be made at once at new endpoints are under
// way, and an endpoint of another merchant waits. Then an older endpoint begins to wait, and a newer
// one of a merchant that had its turn before. When an attempt ends, the endpoint that waited for
// longest is attempted.
func TestTheLongestWaitHasTheNextTurn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r, responsive := newSlowReceiver(t), newReceiver(t, nil)
	const most = 128
	witness := b.mustEndpoints(t, responsive.URL, 1)
	older := b.mustEndpoints(t, r.URL+"/older", 1)
	longest := b.mustEndpoints(t, r.URL+"/longest", 1)
	run(t, b.deliverer(patient))
	b.mustPayEach(t, witness, 1)
	b.awaitSuccesses(t, 1)
	b.mustPayEach(t, b.mustEndpoints(t, r.URL, most), 1)
	for range most {
		r.mustArrive(t)
	}
	b.mustPayEach(t, longest, 1)
	b.mustPayEach(t, witness, 1)
	responsive.wait(t, 2) // so the endpoint that waits for longest was among the due ones of a round
	b.mustPayEach(t, older, 1)
	b.Tenant = witness[0]
	b.MustEndpoint(t, r.URL+"/newer")
	b.MustPay(t)
	r.respond <- http.StatusGone
	if got := r.mustArrive(t); got != "/longest/0" {
		t.Errorf("the next attempt: got %s, want /longest/0", got)
	}
}

// mustHold has a tenant make endpoints that take one delivery and hold all further requests, and
// replace them, again and again, until the requests that are held are so many.
func (b *bundle) mustHold(t *testing.T, tenant payment.Tenant, r *holdingReceiver, most int) {
	t.Helper()
	const endpoints, each = 16, 4
	const took = "SELECT COUNT(*) FROM webhook_deliveries JOIN webhook_endpoints e ON e.id = endpoint_id" +
		" WHERE webhook_deliveries.status = 'succeeded' AND e.merchant_id = ? AND e.live = ?"
	live := map[bool]int{true: 1}[tenant.Live]
	for generation := range 4 {
		b.mustReplace(t, tenant, r.URL, generation)
		b.mustEvents(t, tenant, 1)
		programtest.WaitFor(t, "all new endpoints have taken a delivery", func() bool {
			return b.Number(t, took, tenant.Merchant, live) == endpoints
		})
		b.mustEvents(t, tenant, each+1)
		programtest.WaitFor(t, "their further requests are held", func() bool {
			return r.count() >= min(most, endpoints*each*(generation+1))
		})
	}
}

// TestOneMerchantLeavesAttemptsToOthers: in one mode a merchant has endpoints that take one delivery
// and hold all further requests. Again and again it deletes them and makes new ones. It gets a third
// of all attempts at such endpoints. Endpoints of its other mode and of another merchant are
// attempted at once.
func TestOneMerchantLeavesAttemptsToOthers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r, other := newHoldingReceiver(t), newReceiver(t, nil)
	const third, events = 86, 20
	others := b.mustEndpoints(t, other.URL, 1)
	holds := payment.Tenant{Merchant: b.IDs.Next()}
	live := payment.Tenant{Merchant: holds.Merchant, Live: true}
	b.Tenant = live
	b.MustEndpoint(t, other.URL)
	others = append(others, live)
	run(t, b.deliverer(patient))
	for i, tenant := range others {
		b.mustEvents(t, tenant, 1)
		other.wait(t, i+1)
	}
	b.mustHold(t, holds, r, third)
	for i, tenant := range others {
		b.mustEvents(t, tenant, events)
		other.wait(t, 2+events*(i+1))
	}
	if got := r.count(); got != third {
		t.Errorf("attempts at the endpoints of one mode: got %d, want %d", got, third)
	}
}

// TestEndpointsOfAMerchantTakeTurns: a merchant has new endpoints in test and live mode that hold each
// request, and as many attempts at them as it may have. The next two attempts after one of these has
// ended are at different endpoints.
func TestEndpointsOfAMerchantTakeTurns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := newSlowReceiver(t)
	const most = 52
	merchant := payment.Tenant{Merchant: b.IDs.Next()}
	live := payment.Tenant{Merchant: merchant.Merchant, Live: true}
	b.mustReplace(t, merchant, r.URL, 0)
	b.mustReplace(t, live, r.URL, 1)
	b.mustEvents(t, merchant, 4)
	b.mustEvents(t, live, 4)
	run(t, b.deliverer(patient))
	for range most {
		r.mustArrive(t)
	}
	var next [2]string
	for i := range next {
		r.respond <- http.StatusGone
		next[i] = r.mustArrive(t)
	}
	if next[0] == next[1] {
		t.Errorf("the next attempts: got both at %s, want another endpoint", next[0])
	}
}

// TestMerchantsTakeTurns: failing endpoints of other merchants leave one attempt. A merchant whose
// failing endpoint responds at once and has many deliveries, and one with one delivery, get it in turn.
func TestMerchantsTakeTurns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	arrived := make(chan string, 100)
	r := newReceiver(t, func(w http.ResponseWriter, q *http.Request) {
		if strings.HasPrefix(q.URL.Path, "/holds") {
			<-q.Context().Done()
			return
		}
		arrived <- q.URL.Path
		w.WriteHeader(http.StatusInternalServerError)
	})
	const most, many = 128, 10
	b.mustPayEach(t, b.mustEndpoints(t, r.URL+"/holds", most-1), 1)
	b.mustPayEach(t, b.mustEndpoints(t, r.URL+"/many", 1), many)
	b.mustPayEach(t, b.mustEndpoints(t, r.URL+"/one", 1), 1)
	b.mustFail(t)
	run(t, b.deliverer(patient))
	for _, want := range []string{"/many/0", "/one/0", "/many/0"} {
		select {
		case got := <-arrived:
			if got != want {
				t.Errorf("the next attempt: got %s, want %s", got, want)
			}
		case <-time.After(programtest.Patience):
			t.Fatalf("no attempt at %s", want)
		}
	}
}
