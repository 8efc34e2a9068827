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
	"github.com/causeway-pay/causeway/core/internal/webhook"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// slowReceiver holds each request to it until a status is sent to respond. The requests get their
// responses in the order in which they arrived.
type slowReceiver struct {
	*receiver
	respond chan int
	arrived chan string // paths
}

func newSlowReceiver(t *testing.T) *slowReceiver {
	t.Helper()
	r := &slowReceiver{respond: make(chan int), arrived: make(chan string, 1000)}
	turns := make(chan chan struct{}, 1) // each request passes on a channel that is closed at its end
	first := make(chan struct{})
	close(first)
	turns <- first
	r.receiver = newReceiver(t, func(w http.ResponseWriter, q *http.Request) {
		earlier, end := <-turns, make(chan struct{})
		defer close(end)
		r.arrived <- q.URL.Path
		turns <- end
		select {
		case <-earlier:
		case <-q.Context().Done():
			return
		}
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
	old, err := b.DB.Endpoints(t.Context(), tenant, "", payment.Page{Limit: 100})
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

// holdingReceiver responds with 200 to the first requests of each path and holds the others.
type holdingReceiver struct {
	*receiver
	mu    sync.Mutex
	paths map[string]int // requests so far
	held  int
}

func newHoldingReceiver(t *testing.T, first int) *holdingReceiver {
	t.Helper()
	r := &holdingReceiver{paths: map[string]int{}}
	r.receiver = newReceiver(t, func(_ http.ResponseWriter, q *http.Request) {
		r.mu.Lock()
		r.paths[q.URL.Path]++
		hold := r.paths[q.URL.Path] > first
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

// count returns the number of held requests so far.
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

// bounded returns a deliverer whose lanes have few attempts.
func (b *bundle) bounded(fast, slow int) *webhook.Deliverer {
	d := b.deliverer(patient)
	d.SetLanes(fast, slow)
	return d
}

// awaitUnderWay waits until that many attempts count in the lanes.
func awaitUnderWay(t *testing.T, d *webhook.Deliverer, fast, slow int) {
	t.Helper()
	programtest.WaitFor(t, fmt.Sprintf("%d fast and %d slow attempts are under way", fast, slow), func() bool {
		gotFast, gotSlow := d.UnderWay()
		return gotFast == fast && gotSlow == slow
	})
}

// mustFail makes all endpoints failing ones.
func (b *bundle) mustFail(t *testing.T) {
	t.Helper()
	b.MustExec(t, "UPDATE webhook_endpoints SET failing_since = ?", coretest.Birth.UnixMilli())
}

// TestUnresponsiveEndpointsTakeTurns: failing endpoints of more merchants than may be attempted at
// the same time hold each request and have more deliveries. A new endpoint of another merchant is
// attempted immediately. When an attempt ends, a failing endpoint without an attempt yet is next.
func TestUnresponsiveEndpointsTakeTurns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r, fresh := newSlowReceiver(t), newReceiver(t, nil)
	const most = 8
	b.mustPayEach(t, b.mustEndpoints(t, r.URL, most+1), 2)
	b.mustFail(t)
	run(t, b.bounded(most, most))
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

// TestFastEndpointsDelayNoFailingOne: new endpoints of more merchants than may be attempted at the
// same time hold each request. A failing endpoint of another merchant, which would accept its
// delivery now, is attempted.
func TestFastEndpointsDelayNoFailingOne(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r, failing := newSlowReceiver(t), newReceiver(t, nil)
	const most = 8
	other := b.mustEndpoints(t, failing.URL, 1)
	b.mustFail(t)
	b.mustPayEach(t, b.mustEndpoints(t, r.URL, most+1), 1)
	d := b.bounded(most, most)
	run(t, d)
	awaitUnderWay(t, d, most, 0)
	b.mustPayEach(t, other, 1)
	failing.wait(t, 1)
}

// TestTheLongestWaitHasTheNextTurn: all allowed attempts at failing endpoints are in progress, and
// an endpoint of another merchant waits. Then an older endpoint begins to wait, and a newer one of
// a merchant that had its turn before. When an attempt ends, the endpoint that waited for longest
// is attempted.
func TestTheLongestWaitHasTheNextTurn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r, responsive := newSlowReceiver(t), newReceiver(t, nil)
	const most = 8
	older := b.mustEndpoints(t, r.URL+"/older", 1)
	longest := b.mustEndpoints(t, r.URL+"/longest", 1)
	holders := b.mustEndpoints(t, r.URL, most)
	b.mustFail(t)
	witness := b.mustEndpoints(t, responsive.URL, 1)
	run(t, b.bounded(most, most))
	b.mustPayEach(t, holders, 1)
	for range most {
		r.mustArrive(t)
	}
	b.mustPayEach(t, longest, 1)
	b.mustPayEach(t, witness, 1)
	responsive.wait(t, 1) // so the endpoint that waits for longest was among the due ones of a round
	b.mustPayEach(t, older, 1)
	b.Tenant = holders[0]
	newer := b.MustEndpoint(t, r.URL+"/newer")
	b.MustExec(t, "UPDATE webhook_endpoints SET failing_since = ? WHERE id = ?", coretest.Birth.UnixMilli(), newer.ID)
	b.MustPay(t)
	r.respond <- http.StatusGone
	if got := r.mustArrive(t); got != "/longest/0" {
		t.Errorf("the next attempt: got %s, want /longest/0", got)
	}
}

// TestOneMerchantLeavesAttemptsToOthers: in one mode a merchant has endpoints that respond to one
// delivery and never to later ones. The merchant deletes them and makes new ones. It gets a third
// of all attempts. Endpoints of its other mode and of another merchant are attempted immediately.
func TestOneMerchantLeavesAttemptsToOthers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r, other := newHoldingReceiver(t, 1), newReceiver(t, nil)
	const most, third, endpoints, events = 27, 9, 16, 20
	others := b.mustEndpoints(t, other.URL, 1)
	holds := payment.Tenant{Merchant: b.IDs.Next()}
	others = append(others, payment.Tenant{Merchant: holds.Merchant, Live: true})
	b.Tenant = others[1]
	b.MustEndpoint(t, other.URL)
	d := b.bounded(most, most)
	run(t, d)
	b.mustReplace(t, holds, r.URL, 0)
	b.mustEvents(t, holds, 1)
	b.awaitSuccesses(t, endpoints)
	b.mustEvents(t, holds, 2)
	awaitUnderWay(t, d, third, 0)
	programtest.WaitFor(t, "the attempts have arrived", func() bool { return r.count() >= third })
	b.mustReplace(t, holds, r.URL, 1)
	b.mustEvents(t, holds, 2)
	for i, tenant := range others {
		b.mustEvents(t, tenant, events)
		other.wait(t, events*(i+1))
	}
	if got := r.count(); got != third {
		t.Errorf("attempts at the endpoints of one mode: got %d, want %d", got, third)
	}
}

// TestModesOfAMerchantLeaveAttempts: new endpoints of a merchant in test and live mode hold each
// request. They leave attempts to an endpoint of another merchant.
func TestModesOfAMerchantLeaveAttempts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r, other := newSlowReceiver(t), newReceiver(t, nil)
	const most, one, both = 27, 9, 15
	others := b.mustEndpoints(t, other.URL, 1)
	holds := payment.Tenant{Merchant: b.IDs.Next()}
	live := payment.Tenant{Merchant: holds.Merchant, Live: true}
	d := b.bounded(most, most)
	run(t, d)
	b.mustReplace(t, holds, r.URL, 0)
	b.mustEvents(t, holds, 4)
	awaitUnderWay(t, d, one, 0)
	b.mustReplace(t, live, r.URL, 1)
	b.mustEvents(t, live, 4)
	awaitUnderWay(t, d, both, 0)
	b.mustPayEach(t, others, 1)
	other.wait(t, 1)
}

// TestEndpointsOfAMerchantTakeTurns: a merchant has new endpoints in test and live mode that hold
// each request, and as many attempts at them as it may have. The next two attempts after one of
// these has ended are at different endpoints.
func TestEndpointsOfAMerchantTakeTurns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := newSlowReceiver(t)
	const most, both = 27, 14
	merchant := payment.Tenant{Merchant: b.IDs.Next()}
	live := payment.Tenant{Merchant: merchant.Merchant, Live: true}
	b.mustReplace(t, merchant, r.URL, 0)
	b.mustReplace(t, live, r.URL, 1)
	b.mustEvents(t, merchant, 4)
	b.mustEvents(t, live, 4)
	run(t, b.bounded(most, most))
	for range both {
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

// newRefusingReceiver holds the requests to paths that begin with /holds, and responds with 500 to
// the others. It sends their paths.
func newRefusingReceiver(t *testing.T) (r *receiver, arrived <-chan string) {
	t.Helper()
	paths := make(chan string, 100)
	return newReceiver(t, func(w http.ResponseWriter, q *http.Request) {
		if strings.HasPrefix(q.URL.Path, "/holds") {
			<-q.Context().Done()
			return
		}
		paths <- q.URL.Path
		w.WriteHeader(http.StatusInternalServerError)
	}), paths
}

// wantInTurn checks the paths of the next requests.
func wantInTurn(t *testing.T, arrived <-chan string, paths ...string) {
	t.Helper()
	for _, want := range paths {
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

// TestMerchantsTakeTurns: the attempts at failing endpoints of other merchants leave one attempt
// free. A merchant whose failing endpoint responds immediately and has many deliveries, and one
// with one delivery, get it in turn.
func TestMerchantsTakeTurns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r, arrived := newRefusingReceiver(t)
	const most, many = 8, 10
	b.mustPayEach(t, b.mustEndpoints(t, r.URL+"/holds", most-1), 1)
	b.mustPayEach(t, b.mustEndpoints(t, r.URL+"/many", 1), many)
	b.mustPayEach(t, b.mustEndpoints(t, r.URL+"/one", 1), 1)
	b.mustFail(t)
	run(t, b.bounded(most, most))
	wantInTurn(t, arrived, "/many/0", "/one/0", "/many/0")
}

// TestModesTakeTurns: the attempts at failing endpoints of other merchants leave one attempt free.
// A merchant has two failing endpoints in test mode and one in live mode, which respond
// immediately. The modes get it in turn.
func TestModesTakeTurns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r, arrived := newRefusingReceiver(t)
	const most, many = 8, 10
	b.mustPayEach(t, b.mustEndpoints(t, r.URL+"/holds", most-1), 1)
	merchant := b.IDs.Next()
	for _, path := range []string{"/test/0", "/test/1", "/live/0"} {
		b.Tenant = payment.Tenant{Merchant: merchant, Live: strings.HasPrefix(path, "/live")}
		b.MustEndpoint(t, r.URL+path)
	}
	b.mustEvents(t, payment.Tenant{Merchant: merchant}, many)
	b.mustEvents(t, payment.Tenant{Merchant: merchant, Live: true}, many)
	b.mustFail(t)
	run(t, b.bounded(most, most))
	wantInTurn(t, arrived, "/test/0", "/live/0", "/test/1", "/live/0")
}
