package webhook_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/webhook"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// aDay is how far the clock was ahead in these tests.
const aDay = 24 * time.Hour

// TestDeliveriesOfAClockThatWasAhead: a clock that is a day ahead writes a new delivery, a retry
// and a lease. They are delivered immediately after the clock was set back.
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

// TestAClockSetBackDuringDelivery: a deliverer that runs while the clock is set back delivers the
// deliveries that the clock wrote before.
func TestAClockSetBackDuringDelivery(t *testing.T) {
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

// TestDeliveriesOfTheRightTimeWait: the search for deliveries of a clock that was ahead ends
// neither a retry's pause nor a lease early.
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

// TestASlowSearchHastensNothing: while the search for deliveries of a clock that was ahead is at an
// endpoint, one attempt there fails and another one begins. The retry waits, and the lease stays.
func TestASlowSearchHastensNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	e := b.MustEndpoint(t, newReceiver(t, status(http.StatusInternalServerError)).URL)
	b.MustPay(t)
	began := b.Clock.Now()
	b.Clock.Advance(time.Hour)
	d := b.deliverer()
	stop := run(t, d)
	programtest.WaitFor(t, "the first attempt has failed", func() bool {
		got := b.deliveries(t, e)[0]
		return got.Attempts == 1 && !got.Leased
	})
	stop()
	b.MustPay(t)
	b.mustLease(t, e)
	before := b.deliveries(t, e)
	if !d.Hasten(t.Context(), began) {
		t.Error("the look failed")
	}
	for i, got := range b.deliveries(t, e) {
		if *got != *before[i] {
			t.Errorf("delivery %d: got %+v, want %+v", i, got, before[i])
		}
	}
}

// TestHasteDelaysNoDelivery: while the search for deliveries of a clock that was ahead runs without
// end, new deliveries are attempted.
func TestHasteDelaysNoDelivery(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := newReceiver(t, nil)
	b.MustEndpoint(t, r.URL)
	end := make(chan struct{})
	stop := run(t, b.deliverer(func(c *webhook.Config) { c.Leads = func() bool { <-end; return true } }))
	b.MustPay(t)
	r.wait(t, 1)
	close(end)
	stop()
}

// TestOnlyTheLeaderHastens: a clock that was ahead wrote a delivery. A core that does not lead, or
// has a wrong clock, does not change it.
func TestOnlyTheLeaderHastens(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(c *webhook.Config, no func() bool){
		"it does not lead":   func(c *webhook.Config, no func() bool) { c.Leads = no },
		"its clock is wrong": func(c *webhook.Config, no func() bool) { c.Agrees = no },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.Clock.Advance(aDay)
			e := b.MustEndpoint(t, "https://shop.example")
			b.MustPay(t)
			b.Clock.Advance(-aDay)
			asked := make(chan struct{}, 1000)
			no := func() bool {
				select {
				case asked <- struct{}{}:
				default:
				}
				return false
			}
			run(t, b.deliverer(func(c *webhook.Config) { set(c, no) }))
			for range 20 {
				<-asked
			}
			if got := b.deliveries(t, e)[0]; got.DueAt.Sub(b.Clock.Now()) != aDay {
				t.Errorf("due: got %s, want it a day after %s", got.DueAt, b.Clock.Now())
			}
		})
	}
}

// TestHasteReadsAllPages: more deliveries than a page wait for their retries, and a later one was
// written by a clock that was ahead. Only that one is made due.
func TestHasteReadsAllPages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r, witness := newReceiver(t, nil), newReceiver(t, nil)
	const retries, hour = 10_001, 3_600_000
	e := b.MustEndpoint(t, r.URL)
	b.mustFill(t, e, retries)
	b.MustExec(t, "UPDATE webhook_deliveries SET due_at = due_at + ?", hour)
	b.Clock.Advance(aDay)
	b.mustEvents(t, b.Tenant, 1)
	b.Clock.Advance(-aDay)
	ahead := b.Number(t, "SELECT MAX(id) FROM webhook_deliveries")
	b.mustEndpoints(t, witness.URL, 1)
	run(t, b.deliverer())
	r.wait(t, 1)
	b.mustEvents(t, b.Tenant, 1)
	witness.wait(t, 1)
	b.awaitSuccesses(t, 2)
	if got := b.Number(t, "SELECT COUNT(*) FROM webhook_deliveries WHERE id = ? AND status = 'succeeded'", ahead); got != 1 {
		t.Errorf("the delivery of the clock that was ahead: got %d successes, want 1", got)
	}
	if got := len(r.messages()); got != 1 {
		t.Errorf("messages: got %d, want none of a retry", got)
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

// mustAhead writes a delivery that a clock wrote while it was a day ahead.
func (b *bundle) mustAhead(t *testing.T, e *payment.Endpoint, event int64) {
	t.Helper()
	at := b.Clock.Now().Add(aDay).UnixMilli()
	b.MustExec(t, "INSERT INTO webhook_deliveries (id, endpoint_id, event_id, due_at, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)",
		b.IDs.Next(), e.ID, event, at, at, at)
}

// TestHasteComesOnceAMinute: deliveries of a clock that was ahead are looked for at the start, and
// again a minute later.
func TestHasteComesOnceAMinute(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.mustEvents(t, b.Tenant, 1)
	event := b.Number(t, "SELECT MAX(id) FROM events")
	r := newReceiver(t, nil)
	e := b.MustEndpoint(t, r.URL)
	b.mustAhead(t, e, event)
	var purges atomic.Int64
	run(t, b.deliverer(func(c *webhook.Config) { c.Leads = func() bool { purges.Add(1); return true } }))
	programtest.WaitFor(t, "it is delivered at the start", func() bool { return b.delivered(t, e) == 1 })
	b.mustAhead(t, e, event)
	b.Clock.Advance(time.Minute - time.Millisecond)
	before := purges.Load()
	programtest.WaitFor(t, "some purges have run", func() bool { return purges.Load() > before+3 })
	if got := b.delivered(t, e); got != 1 {
		t.Errorf("delivered before the minute has passed: got %d, want 1", got)
	}
	b.Clock.Advance(time.Millisecond)
	programtest.WaitFor(t, "it is delivered after a minute", func() bool { return b.delivered(t, e) == 2 })
}

// TestHasteLocksInOrder: deliveries of a clock that was ahead are not due in the order of their
// ids. They are read in the order of their ids, like the results of attempts, so the two commands
// cannot deadlock. A retry of the right clock is not found.
func TestHasteLocksInOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	row := func(due time.Duration) deliveryRow { return deliveryRow{status: "pending", due: due, written: aDay} }
	_, all := b.mustHave(t, row(3*aDay), row(2*aDay), row(aDay), deliveryRow{status: "pending", due: aDay})
	want := all[:3]
	var got []int64
	err := b.DB.EachDeliveryAhead(t.Context(), b.Clock.Now(), func(found []int64) error { got = append(got, found...); return nil })
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

// TestHasteEndsWithTheProcessPostgreSQL: the process ends while it looks for deliveries of a clock
// that was ahead. It reads no further queue.
func TestHasteEndsWithTheProcessPostgreSQL(t *testing.T) {
	t.Parallel()
	b := setupServer(t)
	for range 3 {
		b.mustHave(t, deliveryRow{status: "pending", due: aDay, written: aDay})
	}
	ctx, end := context.WithCancel(t.Context())
	pages := 0
	err := b.DB.EachDeliveryAhead(ctx, b.Clock.Now(), func([]int64) error { pages++; end(); return nil })
	if !errors.Is(err, context.Canceled) || pages != 1 {
		t.Errorf("got %d pages, %v, want 1 and %v", pages, err, context.Canceled)
	}
}

// TestAFailedSearchIsRepeatedImmediately: the store fails while deliveries of a clock that was
// ahead are looked for. They are delivered once it succeeds, without the pause of a minute.
func TestAFailedSearchIsRepeatedImmediately(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.mustEvents(t, b.Tenant, 1)
	r := newReceiver(t, nil)
	e := b.MustEndpoint(t, r.URL)
	b.mustAhead(t, e, b.Number(t, "SELECT MAX(id) FROM events"))
	b.MustExec(t, "ALTER TABLE webhook_deliveries RENAME TO hidden")
	run(t, b.deliverer())
	programtest.WaitFor(t, "a look has failed", func() bool { return strings.Contains(b.Log.String(), "were not made due") })
	b.MustExec(t, "ALTER TABLE hidden RENAME TO webhook_deliveries")
	programtest.WaitFor(t, "it is delivered", func() bool { return b.delivered(t, e) == 1 })
}
