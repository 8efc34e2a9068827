package webhook_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestOneMerchantsNewEndpointsLeaveAttemptsToOthers is TestOneMerchantLeavesAttemptsToOthers of
// endpoints that hold their first request too, in test and live mode.
func TestOneMerchantsNewEndpointsLeaveAttemptsToOthers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r, other := newSlowReceiver(t), newReceiver(t, nil)
	const third, both = 43, 57
	others := b.mustEndpoints(t, other.URL, 1)
	holds := payment.Tenant{Merchant: b.IDs.Next()}
	live := payment.Tenant{Merchant: holds.Merchant, Live: true}
	run(t, b.deliverer(patient))
	b.mustReplace(t, holds, r.URL, 0)
	b.mustEvents(t, holds, 4)
	for range third {
		r.mustArrive(t)
	}
	b.mustReplace(t, holds, r.URL, 1)
	b.mustEvents(t, holds, 4)
	b.mustReplace(t, live, r.URL, 2)
	b.mustEvents(t, live, 4)
	for range both - third {
		if got := r.mustArrive(t); !strings.HasPrefix(got, "/2-") {
			t.Errorf("attempt at %s of the mode that holds a third, want one of the other mode", got)
		}
	}
	b.mustPayEach(t, others, 1)
	other.wait(t, 1)
	if got := both + len(r.arrived); got != both {
		t.Errorf("attempts at the endpoints of one merchant: got %d, want %d", got, both)
	}
}

// TestModesTakeTurns: failing endpoints of other merchants leave one attempt. A merchant has two
// failing endpoints in test mode and one in live mode, which respond at once. The modes get it in
// turn.
func TestModesTakeTurns(t *testing.T) {
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
	merchant := b.IDs.Next()
	for _, path := range []string{"/test/0", "/test/1", "/live/0"} {
		b.Tenant = payment.Tenant{Merchant: merchant, Live: strings.HasPrefix(path, "/live")}
		b.MustEndpoint(t, r.URL+path)
	}
	b.mustEvents(t, payment.Tenant{Merchant: merchant}, many)
	b.mustEvents(t, payment.Tenant{Merchant: merchant, Live: true}, many)
	b.mustFail(t)
	run(t, b.deliverer(patient))
	for _, want := range []string{"/test/0", "/live/0", "/test/1", "/live/0"} {
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
