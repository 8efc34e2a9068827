package providera

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/shared/clock"
)

// others are transactions of other requests.
var others = record{kind: typeSale, invoice: "another", status: "capturedPendingSettlement"}

// lostSale makes a sale and returns it as a request with a lost response.
func lostSale(t *testing.T, c *Connector) (about acquirer.Sent, want string) {
	t.Helper()
	about = paid(t, c, true)
	want = "approved " + about.ID + " 1999"
	about.ID = ""
	return about, want
}

// searched returns the outcome of an inquiry in short.
func searched(t *testing.T, c *Connector, about acquirer.Sent) string {
	t.Helper()
	a, err := c.Inquire(t.Context(), about)
	if errors.Is(err, acquirer.ErrNotListed) && errors.Is(err, acquirer.ErrUnknown) {
		return "not listed"
	}
	return inShort(a, err)
}

// after returns another connector to the host at a later time, as if the process had ended.
func (h *host) after(t *testing.T, d time.Duration) *Connector {
	t.Helper()
	return h.connect(t, clock.NewFake(h.now.Add(d)))
}

// TestSearch: a request is found on any page and in any batch around the time at which it was
// prepared.
func TestSearch(t *testing.T) {
	t.Parallel()
	h, c := startHost(t)
	about, want := lostSale(t, c)
	check := func(c *Connector, what, want string) {
		t.Helper()
		if got := searched(t, c, about); got != want {
			t.Errorf("%s: got %s, want %s", what, got, want)
		}
	}
	h.more(2*pageSize, h.now.Add(-time.Minute), others)
	check(h.after(t, 0), "the third page", want)
	// The merchant's refund of it, made elsewhere, has its invoice number.
	h.more(1, h.now, record{kind: typeRefund, invoice: about.Reference, status: "voided", authorized: "19.99"})
	check(h.after(t, 0), "besides a refund", want)
	h.settle(1)
	check(h.after(t, 72*time.Hour), "a settled batch", want)
	h.more(2*pageSize, h.now.Add(24*time.Hour), others)
	h.settle(2)
	check(h.after(t, 72*time.Hour), "the first of two batches", want)
	h.more(pageSize, h.now.Add(-30*time.Minute), others)
	check(h.after(t, 72*time.Hour), "besides an older page", want)
	about.Tag = ""
	check(h.after(t, 72*time.Hour), "no tag", "unknown")
	about.Tag = tagOf(h.now.Add(48 * time.Hour))
	check(h.after(t, 72*time.Hour), "a later tag", "unknown")
	about.Tag = tagOf(h.now)
	h.more(2, h.now, record{
		kind: typeSale, invoice: about.Reference, status: "capturedPendingSettlement", authorized: "19.99", taken: "19.99",
	})
	h.settle(1)
	twice := h.after(t, 72*time.Hour)
	check(twice, "three of them", "unknown")
	check(twice, "three of them, again", "unknown")
}

// TestSearchReadsFew: a search skips the rows of other times.
func TestSearchReadsFew(t *testing.T) {
	t.Parallel()
	h, c := startHost(t)
	about, want := lostSale(t, c)
	h.more(40*pageSize, h.now.Add(-48*time.Hour), others)
	h.more(40*pageSize, h.now.Add(2*time.Hour), others)
	if got := searched(t, c, about); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := h.reads["getUnsettledTransactionList"]; got > 13 {
		t.Errorf("read %d of 81 pages, want at most 13", got)
	}
}

// TestSearchGoesOn: a search that needs several attempts ends. Each attempt goes on where the last
// one has ended.
func TestSearchGoesOn(t *testing.T) {
	t.Parallel()
	h, c := startHost(t)
	about, want := lostSale(t, c)
	// Three great batches, the last one with the sale, and a great list without it.
	for n := range 30 {
		h.more(pageSize, h.now.Add(time.Duration(n-30)*time.Second), others)
		h.do(func() {
			for _, r := range h.made[len(h.made)-pageSize:] {
				r.batch = n / 6 % 4 // 0 for none
			}
		})
	}
	h.do(func() { h.made[0].batch, h.made[0].status = 3, "settledSuccessfully" })
	c = h.after(t, 72*time.Hour)
	var got []string
	for range 8 {
		h.allow(9)
		if got = append(got, searched(t, c, about)); got[len(got)-1] != "unknown" {
			break
		}
	}
	if len(got) < 4 || got[len(got)-1] != want {
		t.Errorf("got %q, want %s after some attempts", got, want)
	}
	// The end of the last attempt came before its other requests: the next one has the result at once.
	h.allow(2)
	if got := searched(t, c, about); got != want {
		t.Errorf("once more: got %s, want %s", got, want)
	}
	// A process that ends between two pages only repeats the search.
	h.allow(9)
	if got := searched(t, h.after(t, 72*time.Hour), about); got != "unknown" {
		t.Errorf("a process that ends: got %s, want unknown", got)
	}
	h.do(func() { h.budget = nil })
	if got := searched(t, h.after(t, 72*time.Hour), about); got != want {
		t.Errorf("the next process: got %s, want %s", got, want)
	}
}

// TestSearchOfNothing: the lists prove that they do not have a request only once it cannot appear
// for another reason. A batch that is complete is read once, and all other lists again.
func TestSearchOfNothing(t *testing.T) {
	t.Parallel()
	h, _ := startHost(t)
	about := acquirer.Sent{
		Kind: acquirer.Sale, Reference: reference, Tag: tagOf(h.now), Amount: 1999, Currency: "usd",
	}
	at := clock.NewFake(h.now)
	c := h.connect(t, at)
	h.more(1, h.now, others)
	h.settle(1)
	h.more(1, h.now, others)
	for _, step := range []struct {
		after                        time.Duration
		want                         string
		unsettled, batches, settling int // reads so far
	}{
		{0, "unknown", 1, 1, 0},
		{lag, "unknown", 2, 2, 0},
		{time.Second, "unknown", 3, 3, 0}, // the first search after the request
		{lag - time.Second, "unknown", 4, 4, 0},
		{time.Second, "not listed", 5, 5, 0},
		{7 * time.Hour, "unknown", 6, 6, 1}, // the batch was settled a moment ago
		{time.Hour, "not listed", 7, 7, 2},  // it could still get rows
		{time.Hour, "not listed", 8, 8, 2},
		{-30 * time.Hour, "unknown", 9, 8, 2}, // a clock that jumps proves nothing
		{30 * time.Hour, "not listed", 10, 9, 2},
		{40 * 24 * time.Hour, "not listed", 11, 10, 2},
	} {
		at.Advance(step.after)
		got := searched(t, c, about)
		reads := fmt.Sprint(
			h.reads["getUnsettledTransactionList"], h.reads["getSettledBatchList"], h.reads["getTransactionList"])
		if want := fmt.Sprint(step.unsettled, step.batches, step.settling); got != step.want || reads != want {
			t.Errorf("after %s: got %s and reads %s, want %s and %s", step.after, got, reads, step.want, want)
		}
	}
	h.more(1, h.now, record{
		kind: typeSale, invoice: reference, status: "capturedPendingSettlement", authorized: "19.99", taken: "19.99",
	})
	if got := searched(t, c, about); !strings.HasPrefix(got, "approved") {
		t.Errorf("listed late: got %s, want approved", got)
	}
}

// TestSearchBesideABrokenList: a list that fails does not keep the search from a transaction that
// appears in another one.
func TestSearchBesideABrokenList(t *testing.T) {
	t.Parallel()
	h, c := startHost(t)
	about, want := lostSale(t, c)
	c = h.after(t, 48*time.Hour)
	h.do(func() { h.broken, h.hidden = "getSettledBatchList", true })
	for range 2 {
		if got := searched(t, c, about); got != "unknown" {
			t.Errorf("got %s, want unknown", got)
		}
	}
	h.do(func() { h.hidden = false })
	if got := searched(t, c, about); got != want {
		t.Errorf("listed: got %s, want %s", got, want)
	}
}

// TestSearchOfAnotherOrder: a list in the other order proves nothing.
func TestSearchOfAnotherOrder(t *testing.T) {
	t.Parallel()
	h, c := startHost(t)
	about, _ := lostSale(t, c)
	h.more(1, h.now.Add(time.Second), others)
	h.do(func() { h.latestFirst = true })
	if got := searched(t, h.after(t, 48*time.Hour), about); got != "unknown" {
		t.Errorf("got %s, want unknown", got)
	}
}

// TestSearchesAtOnce: attempts at once have a search each, and the searches are bounded.
func TestSearchesAtOnce(t *testing.T) {
	t.Parallel()
	h, c := startHost(t)
	about, want := lostSale(t, c)
	h.more(3*pageSize, h.now.Add(-time.Minute), others)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got := searched(t, c, about); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
	all.Wait()
	for n := range mostSearches + 9 {
		c.keep(c.resume(acquirer.Sent{Reference: fmt.Sprint(n)}, h.now))
	}
	if got := len(c.searches); got != mostSearches {
		t.Errorf("%d searches are kept, want %d", got, mostSearches)
	}
}

// TestRefundOfAClockBehind: the clock was behind when a refund was prepared. The refund that was
// made does not count as never sent.
func TestRefundOfAClockBehind(t *testing.T) {
	t.Parallel()
	h, c := startHost(t)
	r := step(paid(t, c, true), false)
	r.Amount = 1999
	h.settle(1)
	h.do(func() { h.made[0].submitted = h.now.Add(-24 * time.Hour) })
	r.Tag = tagOf(h.now.Add(-2 * time.Hour))
	h.more(pageSize, h.now.Add(-time.Minute), others)
	if a, err := c.Refund(t.Context(), r); err != nil || !a.Approved {
		t.Fatalf("got %+v, %v", a, err)
	}
	at := clock.NewFake(h.now.Add(time.Minute))
	c = h.connect(t, at)
	r.Again = true
	for range 3 {
		if a, err := c.Refund(t.Context(), r); errors.Is(err, acquirer.ErrNotFound) {
			t.Errorf("got %+v, %v", a, err)
		}
		at.Advance(lag)
	}
}

// TestRefundOfAWrongClock: a refund is made and its response is lost. The clock is wrong then, and
// perhaps set right during the search. The account has more rows than a search reads. The refund
// never counts as never sent.
func TestRefundOfAWrongClock(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		off       time.Duration
		corrected bool // ten minutes later
	}{
		"two hours behind":                     {-2 * time.Hour, false},
		"two hours behind, then right":         {-2 * time.Hour, true},
		"two hours ahead":                      {2 * time.Hour, false},
		"two hours ahead, then right":          {2 * time.Hour, true},
		"a day behind, then right":             {-24 * time.Hour, true},
		"less than the lag behind, then right": {-59 * time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, first := startHost(t)
			r := step(paid(t, first, true), false)
			r.Amount = 1999
			h.settle(1)
			h.do(func() { h.made[0].submitted = h.now.Add(-24 * time.Hour) })
			h.more(2*pageSize, h.now.Add(-3*time.Hour), others)
			h.more(2*pageSize, h.now.Add(-30*time.Minute), others)
			ours, right := clock.NewFake(h.now.Add(c.off)), clock.NewFake(h.now)
			con := h.connect(t, ours)
			h.do(func() { h.date, h.fate = right.Now, func(transaction) fate { return unheard } })
			var err error
			if r.Tag, err = con.Prepare(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := con.Refund(t.Context(), r); !errors.Is(err, acquirer.ErrUnknown) {
				t.Fatalf("got %v, want an unknown outcome", err)
			}
			h.do(func() { h.fate = nil })
			h.more(3*pageSize, h.now.Add(time.Minute), others)
			r.Again = true
			for n := range 40 {
				ours.Advance(5 * time.Minute)
				right.Advance(5 * time.Minute)
				if n == 1 && c.corrected {
					ours.Advance(-c.off)
				}
				if _, err := con.Refund(t.Context(), r); errors.Is(err, acquirer.ErrNotFound) {
					t.Fatalf("%s after the refund: %v", right.Now().Sub(h.now), err)
				}
			}
		})
	}
}
