package webhook_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// aDay is how far the clock was ahead in these tests.
const aDay = 24 * time.Hour

// TestDeliveriesOfAClockThatWasAhead: a clock that is a day ahead writes a new delivery, a retry
// and a lease. They are delivered at once after the clock was set back.
func TestDeliveriesOfAClockThatWasAhead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := newReceiver(t, status(http.StatusInternalServerError))
	b.Clock.Advance(aDay)
	e := b.MustEndpoint(t, r.URL)
	b.MustPay(t)
	stop := run(t, b.deliverer())
	programtest.WaitFor(t, "the first attempt has failed", func() bool {
		got := b.deliveries(t, e)[0]
		return got.Attempts == 1 && !got.Leased
	})
	stop()
	b.MustPay(t)
	b.mustLease(t, e) // its process is dead
	b.MustPay(t)
	b.Clock.Advance(-aDay)

	r.respond(nil)
	run(t, b.deliverer())
	programtest.WaitFor(t, "all are delivered", func() bool { return b.delivered(t, e) == 3 })
}

// TestAClockSetBackBesideADeliverer: a deliverer that runs while the clock is set back delivers the
// deliveries that the clock wrote before.
func TestAClockSetBackBesideADeliverer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := newReceiver(t, status(http.StatusInternalServerError))
	b.Clock.Advance(aDay)
	e := b.MustEndpoint(t, r.URL)
	run(t, b.deliverer())
	b.MustPay(t)
	programtest.WaitFor(t, "the first attempt has failed", func() bool {
		got := b.deliveries(t, e)[0]
		return got.Attempts == 1 && !got.Leased
	})
	r.respond(nil)
	b.Clock.Advance(-aDay)
	programtest.WaitFor(t, "it is delivered", func() bool { return b.delivered(t, e) == 1 })
}

// TestDeliveriesOfTheRightTimeWait: neither the pause of a retry nor a lease ends early when the
// deliverer looks for deliveries of a clock that was ahead.
func TestDeliveriesOfTheRightTimeWait(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := newReceiver(t, status(http.StatusInternalServerError))
	e := b.MustEndpoint(t, r.URL)
	b.MustPay(t)
	stop := run(t, b.deliverer())
	programtest.WaitFor(t, "the first attempt has failed", func() bool {
		got := b.deliveries(t, e)[0]
		return got.Attempts == 1 && !got.Leased
	})
	stop()
	b.MustPay(t)
	b.mustLease(t, e)
	b.Clock.Advance(-30 * time.Second) // as cores' clocks differ
	r.respond(nil)
	run(t, b.deliverer())
	witness := newReceiver(t, nil)
	b.MustEndpoint(t, witness.URL)
	b.MustPay(t)
	witness.wait(t, 1)
	programtest.WaitFor(t, "the new delivery has come", func() bool { return b.delivered(t, e) == 1 })
	for i, got := range b.deliveries(t, e)[:2] {
		if got.Status != payment.DeliveryPending || got.Attempts != 1 || got.Leased != (i == 1) {
			t.Errorf("delivery %d: got %+v, want it as it was", i, got)
		}
	}
}

// delivered counts the deliveries to an endpoint that have succeeded.
func (b *bundle) delivered(t *testing.T, e *payment.Endpoint) (n int) {
	t.Helper()
	for _, d := range b.deliveries(t, e) {
		if d.Status == payment.DeliverySucceeded {
			n++
		}
	}
	return n
}
