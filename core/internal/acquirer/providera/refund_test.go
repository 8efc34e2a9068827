package providera

import (
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/shared/clock"
)

// repeated sends a refund that meets a fate. It repeats the refund immediately, and twice after its
// time, so that the lists must have it. It returns the connector and the last outcome.
func (h *host) repeated(t *testing.T, r acquirer.Follow, f fate, pause time.Duration) (*Connector, string) {
	t.Helper()
	at := clock.NewFake(h.now.Add(time.Minute))
	c := h.connect(t, at)
	h.do(func() { h.fate = func(transaction) fate { return f } })
	if a, err := c.Refund(t.Context(), r); acquirer.Outcome(a, err) != "unknown" {
		t.Fatalf("got %+v, %v, want an unknown outcome", a, err)
	}
	h.do(func() { h.fate = nil })
	r.Again = true
	for _, next := range []time.Duration{lag, pause} {
		a, err := c.Refund(t.Context(), r)
		if got := acquirer.Outcome(a, err); got != "unknown" {
			t.Fatalf("%s before the next repetition: got %s, want unknown", next, got)
		}
		at.Advance(next)
	}
	a, err := c.Refund(t.Context(), r)
	return c, acquirer.Outcome(a, err)
}

// TestRefundNeverSent: the connection breaks before the provider gets a refund. Once the lists must
// have a refund of the whole payment, it certainly has no effect, and the next one gives the money
// back. That of a part can be in the lists late, and a second one could be made: it remains
// unknown.
func TestRefundNeverSent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		amount  int64
		settled bool
		pause   time.Duration
		want    string
	}{
		"the whole":            {1999, true, lag, "not_found"},
		"the whole, too early": {1999, true, lag - time.Second, "unknown"},
		"a part":               {1998, true, lag, "unknown"},
		"not settled":          {1999, false, lag, "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, first := startHost(t)
			r := step(paid(t, first, true), false)
			r.Amount = c.amount
			if c.settled {
				h.settle(1)
			}
			h.do(func() { h.made[0].submitted = h.now.Add(-24 * time.Hour) }) // its batch is complete
			later, got := h.repeated(t, r, lost, c.pause)
			if got != c.want || h.sent[typeRefund] != 1 {
				t.Fatalf("got %s, sent %d, want %s", got, h.sent[typeRefund], c.want)
			}
			if c.want != "not_found" {
				return
			}
			next := r
			next.Reference, next.Again = "re_01jd8m3k2q4r6", false
			if a, err := later.Refund(t.Context(), next); err != nil || !a.Approved {
				t.Errorf("the next one: got %+v, %v", a, err)
			}
			// Another core was about to send the first one for all that time.
			r.Again = false
			if a, err := first.Refund(t.Context(), r); err != nil || a.Approved {
				t.Errorf("the first one after all: got %+v, %v, want a decline", a, err)
			}
		})
	}
}

// TestRefundOfAnotherProcess: another process repeats the refund. The clock was perhaps wrong at
// the request, so it proves nothing.
func TestRefundOfAnotherProcess(t *testing.T) {
	t.Parallel()
	h, first := startHost(t)
	r := step(paid(t, first, true), true)
	r.Amount = 1999
	h.settle(1)
	h.do(func() { h.made[0].submitted = h.now.Add(-24 * time.Hour) })
	at := clock.NewFake(h.now.Add(time.Minute))
	c := h.connect(t, at)
	for range 4 {
		if a, err := c.Refund(t.Context(), r); acquirer.Outcome(a, err) != "unknown" {
			t.Errorf("got %+v, %v, want an unknown outcome", a, err)
		}
		at.Advance(lag)
	}
}

// TestRefundMadeOnce: the first refund of a whole payment arrives after the lists have seemed to
// prove that it was never sent. The provider declines the second one.
func TestRefundMadeOnce(t *testing.T) {
	t.Parallel()
	h, c := startHost(t)
	r := step(paid(t, c, true), false)
	r.Amount = 1999
	h.settle(1)
	h.do(func() { h.made[0].submitted = h.now.Add(-24 * time.Hour) })
	h.do(func() { h.hidden = true })
	later, got := h.repeated(t, r, unheard, lag)
	if got != "not_found" {
		t.Fatalf("hidden: got %s", got)
	}
	r.Reference = "re_01jd8m3k2q4r6"
	if a, err := later.Refund(t.Context(), r); err != nil || a.Approved {
		t.Errorf("the second one: got %+v, %v, want a decline", a, err)
	}
}
