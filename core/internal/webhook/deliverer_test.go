package webhook_test

import (
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/webhook"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/programtest"
)

func TestDelivers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	run(t, b.deliverer())
	r := newReceiver(t, status(http.StatusNoContent))
	b.MustPay(t) // before the endpoint
	e := b.MustEndpoint(t, r.URL+"/hook?x=1")
	b.MustPay(t)
	m := r.wait(t, 1)[0]
	event, err := id.Parse(id.Event, m.id)
	if err != nil || m.contentType != "application/json" || m.timestamp != strconv.FormatInt(coretest.Birth.Unix(), 10) {
		t.Errorf("got %+v, %v", m, err)
	}
	if n := b.Number(t, "SELECT COUNT(*) FROM events WHERE id = ?", event); n != 1 || !strings.Contains(m.body, `"id":"`+m.id+`"`) {
		t.Errorf("the message is not the event: %+v", m)
	}
	programtest.WaitFor(t, "the log says so", func() bool { return b.deliveries(t, e)[0].Status == payment.DeliverySucceeded })
	d := b.deliveries(t, e)
	if len(d) != 1 || d[0].Event != event || d[0].Attempts != 1 || d[0].Leased || d[0].Last.Status != 204 || d[0].Last.Error != "" {
		t.Errorf("log: got %+v", d[0])
	}
}

func TestTypesAndTenants(t *testing.T) {
	t.Parallel()
	b := setup(t)
	one := b.MustEndpoint(t, "https://one.example", "refund.created", "transaction.captured")
	other := b.MustEndpoint(t, "https://two.example", "refund.created")
	all := b.MustEndpoint(t, "https://three.example")
	b.MustPay(t)
	b.Tenant.Live = true
	foreign := b.MustEndpoint(t, "https://four.example")
	b.Tenant.Live = false
	b.MustPay(t)
	for e, want := range map[*payment.Endpoint]int{one: 2, other: 0, all: 2, foreign: 0} {
		if got := len(b.deliveries(t, e)); got != want {
			t.Errorf("%s: got %d deliveries, want %d", e.URL, got, want)
		}
	}
}

func TestRetriesAreTheSameMessage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	run(t, b.deliverer())
	r := newReceiver(t, status(http.StatusInternalServerError))
	e := b.MustEndpoint(t, r.URL)
	b.MustPay(t)
	steps := webhook.Schedule()
	for n := range len(steps) + 1 {
		r.wait(t, n+1)
		programtest.WaitFor(t, "the attempt is in the log", func() bool { return !b.deliveries(t, e)[0].Leased })
		d := b.deliveries(t, e)[0]
		if d.Attempts != int64(n+1) || d.Last.Error != webhook.ErrorStatus || d.Last.Status != 500 || !d.Last.At.Equal(b.Clock.Now()) {
			t.Fatalf("attempt %d: got %+v", n+1, d)
		}
		if n == len(steps) {
			if d.Status != payment.DeliveryFailed {
				t.Errorf("after the last attempt: got %s, want failed", d.Status)
			}
			break
		}
		wait := d.DueAt.Sub(b.Clock.Now())
		if least, most := steps[n]*9/10, steps[n]*11/10; wait < least-time.Millisecond || wait > most || d.Status != payment.DeliveryPending {
			t.Errorf("after attempt %d: %s, next in %s, want %s give or take a tenth", n+1, d.Status, wait, steps[n])
		}
		b.Clock.Advance(wait)
	}
	got := r.messages()
	for i, m := range got {
		if m.id != got[0].id || m.body != got[0].body {
			t.Errorf("attempt %d differs from the first: %+v", i+1, m)
		}
		if i > 0 && (m.timestamp <= got[i-1].timestamp || m.signature == got[i-1].signature) {
			t.Errorf("attempt %d is not signed again", i+1)
		}
	}
	if took := b.Clock.Now().Sub(coretest.Birth); took < 60*time.Hour || took > 80*time.Hour {
		t.Errorf("failed after %s, want about three days", took)
	}
}

func TestARecoveredEndpointIsNotFailing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	run(t, b.deliverer())
	r := newReceiver(t, status(http.StatusServiceUnavailable))
	e := b.MustEndpoint(t, r.URL)
	b.MustPay(t)
	programtest.WaitFor(t, "it fails", func() bool { return !b.endpoint(t, e).FailingSince.IsZero() })
	r.respond(nil)
	b.Clock.Advance(time.Minute)
	programtest.WaitFor(t, "it recovers", func() bool { return b.endpoint(t, e).FailingSince.IsZero() })
	if d := b.deliveries(t, e)[0]; d.Status != payment.DeliverySucceeded || d.Attempts != 2 {
		t.Errorf("got %+v", d)
	}
}

func TestGoneDisables(t *testing.T) {
	t.Parallel()
	b := setup(t)
	run(t, b.deliverer())
	gone, witness := newReceiver(t, status(http.StatusGone)), newReceiver(t, nil)
	e := b.MustEndpoint(t, gone.URL, "transaction.captured")
	b.MustEndpoint(t, witness.URL, "webhook_endpoint.disabled")
	b.MustPay(t)
	m := witness.wait(t, 1)[0]
	got := b.endpoint(t, e)
	if got.Status != payment.EndpointDisabled || got.Reason != payment.ReasonGone || b.deliveries(t, e)[0].Status != payment.DeliveryFailed {
		t.Errorf("got %+v, %+v", got, b.deliveries(t, e)[0])
	}
	for _, want := range []string{`"type":"webhook_endpoint.disabled"`, `"disabled_reason":"gone"`, id.Format(id.WebhookEndpoint, e.ID), `"sequence":2`} {
		if !strings.Contains(m.body, want) {
			t.Errorf("%s is not in %s", want, m.body)
		}
	}
	b.MustPay(t)
	if n := len(b.deliveries(t, e)); n != 1 {
		t.Errorf("deliveries to a disabled endpoint: got %d, want 1", n)
	}
}

func TestDaysOfFailureDisable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	run(t, b.deliverer())
	r := newReceiver(t, status(http.StatusBadGateway))
	e := b.MustEndpoint(t, r.URL)
	b.MustPay(t)
	programtest.WaitFor(t, "the first attempt is over", func() bool { return !b.endpoint(t, e).FailingSince.IsZero() })
	b.Clock.Advance(5*24*time.Hour - time.Second)
	programtest.WaitFor(t, "the second is", func() bool { return b.deliveries(t, e)[0].Attempts == 2 && !b.deliveries(t, e)[0].Leased })
	if got := b.endpoint(t, e); got.Status != payment.EndpointEnabled {
		t.Errorf("a second before the five days: %s", got.Status)
	}
	b.Clock.Advance(time.Second)
	b.MustPay(t)
	programtest.WaitFor(t, "it is disabled", func() bool { return b.endpoint(t, e).Status == payment.EndpointDisabled })
	if got := b.endpoint(t, e).Reason; got != payment.ReasonFailing {
		t.Errorf("reason: got %s", got)
	}
}

// TestAClockThatIsSetAheadDisablesNoEndpoint: the days of failure of an endpoint, and the three
// days of a delivery, are measured by the confirmed time.
func TestAClockThatIsSetAheadDisablesNoEndpoint(t *testing.T) {
	t.Parallel()
	b := setup(t)
	run(t, b.deliverer())
	r := newReceiver(t, status(http.StatusBadGateway))
	e := b.MustEndpoint(t, r.URL)
	b.MustPay(t)
	programtest.WaitFor(t, "the first attempt is over", func() bool { return !b.endpoint(t, e).FailingSince.IsZero() })
	b.Clock.Step(6 * 24 * time.Hour)
	programtest.WaitFor(t, "the second is", func() bool { return b.deliveries(t, e)[0].Attempts == 2 && !b.deliveries(t, e)[0].Leased })
	if got := b.deliveries(t, e)[0]; got.Status != payment.DeliveryPending || !got.DueAt.After(b.Clock.Now()) {
		t.Errorf("the delivery: got %s, due %s, want it pending after %s", got.Status, got.DueAt, b.Clock.Now())
	}
	if got := b.endpoint(t, e); got.Status != payment.EndpointEnabled {
		t.Errorf("the endpoint: got %s, want %s", got.Status, payment.EndpointEnabled)
	}
	b.Clock.Advance(time.Hour) // by now the clock is accepted
	programtest.WaitFor(t, "it is disabled", func() bool { return b.endpoint(t, e).Status == payment.EndpointDisabled })
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	run(t, b.deliverer())
	target := newReceiver(t, nil)
	r := newReceiver(t, func(w http.ResponseWriter, q *http.Request) {
		http.Redirect(w, q, target.URL, http.StatusTemporaryRedirect)
	})
	e := b.MustEndpoint(t, r.URL)
	b.MustPay(t)
	programtest.WaitFor(t, "the attempt is over", func() bool { return !b.deliveries(t, e)[0].Last.At.IsZero() })
	if d := b.deliveries(t, e)[0]; d.Last.Error != webhook.ErrorRedirect || d.Last.Status != 307 || len(target.messages()) != 0 {
		t.Errorf("got %+v, and %d messages behind it", d, len(target.messages()))
	}
}

// patient allows attempts to take longer than the test.
func patient(c *webhook.Config) { c.Timeout = 10 * programtest.Patience }

func TestADeadEndpointDelaysNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	hang := make(chan struct{})
	dead := newReceiver(t, func(_ http.ResponseWriter, q *http.Request) {
		select {
		case <-hang:
		case <-q.Context().Done():
		}
	})
	defer close(hang)
	live := newReceiver(t, nil)
	for range 15 { // as many as a tenant may have, with the live one
		b.MustEndpoint(t, dead.URL)
	}
	alive := b.MustEndpoint(t, live.URL)
	run(t, b.deliverer(patient))
	const payments = 60
	for range payments {
		b.MustPay(t)
	}
	live.wait(t, payments)
	for e, busy := range busyByEndpoint(t, b) {
		if busy > 4 && e != alive.ID {
			t.Errorf("endpoint %d has %d attempts under way", e, busy)
		}
	}
}

// busyByEndpoint counts the attempts under way.
func busyByEndpoint(t *testing.T, b *bundle) map[int64]int {
	t.Helper()
	all, err := b.DB.Endpoints(t.Context(), b.Tenant, "", payment.Page{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	out := map[int64]int{}
	for _, e := range all.Rows {
		for _, d := range b.deliveries(t, e) {
			if d.Leased {
				out[e.ID]++
			}
		}
	}
	return out
}

func TestAFailingEndpointGetsOneAttemptAtATime(t *testing.T) {
	t.Parallel()
	b := setup(t)
	run(t, b.deliverer())
	r := newReceiver(t, status(http.StatusInternalServerError))
	e := b.MustEndpoint(t, r.URL)
	b.MustPay(t)
	programtest.WaitFor(t, "it fails", func() bool { return !b.endpoint(t, e).FailingSince.IsZero() })
	var now, most atomic.Int64
	r.respond(func(w http.ResponseWriter, _ *http.Request) {
		most.Store(max(most.Load(), now.Add(1)))
		defer now.Add(-1)
		w.WriteHeader(http.StatusInternalServerError)
	})
	for range 20 {
		b.MustPay(t)
	}
	r.wait(t, 21)
	if got := most.Load(); got != 1 {
		t.Errorf("attempts at the same time: got %d, want 1", got)
	}
}
