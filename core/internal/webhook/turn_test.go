package webhook_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
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
	case <-time.After(patience):
		t.Fatal("no further request arrived")
		return ""
	}
}

// mustEndpoints makes endpoints of new merchants, 16 each. The paths of their URLs are numbers.
func (b *bundle) mustEndpoints(t *testing.T, url string, endpoints int) (tenants []payment.Tenant) {
	t.Helper()
	for n := range endpoints {
		if n%16 == 0 {
			b.Tenant = payment.Tenant{Merchant: b.IDs.Next()}
			tenants = append(tenants, b.Tenant)
		}
		b.MustEndpoint(t, fmt.Sprintf("%s/%d", url, n))
	}
	return tenants
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

// mustFail makes all endpoints failing ones.
func (b *bundle) mustFail(t *testing.T) {
	t.Helper()
	b.MustExec(t, "UPDATE webhook_endpoints SET failing_since = ?", coretest.Birth.UnixMilli())
}

// TestUnresponsiveEndpointsTakeTurns: more failing endpoints than may be attempted at once hold each
// request and have more deliveries. When an attempt ends, a new endpoint of another merchant is
// attempted next, then the failing endpoint that was not attempted yet.
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
	r.respond <- http.StatusInternalServerError
	fresh.wait(t, 1)
	if got := r.mustArrive(t); len(attempted) != most || attempted[got] {
		t.Errorf("the attempt after those of %d endpoints: got one of %s, want another endpoint", len(attempted), got)
	}
}

// TestResponsiveEndpointsDelayNoFailingOne: all attempts that may be made at once at endpoints that
// took their last delivery are under way, and more are due. A failing endpoint is attempted.
func TestResponsiveEndpointsDelayNoFailingOne(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r, failing := newSlowReceiver(t), newReceiver(t, nil)
	const endpoints, each = 64, 4
	tenants := b.mustEndpoints(t, r.URL, endpoints)
	b.mustPayEach(t, tenants, 1)
	run(t, b.deliverer(patient))
	for range endpoints {
		r.mustArrive(t)
		r.respond <- http.StatusOK
	}
	until(t, "all have taken a delivery", func() bool {
		return b.Number(t, "SELECT COUNT(*) FROM webhook_deliveries WHERE status = 'succeeded'") == endpoints
	})
	b.mustPayEach(t, tenants, each+1)
	for range endpoints * each {
		r.mustArrive(t)
	}
	last := b.mustEndpoints(t, failing.URL, 1)
	b.mustFail(t)
	b.mustPayEach(t, last, 1)
	failing.wait(t, 1)
}
