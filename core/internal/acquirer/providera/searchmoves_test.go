package providera

import (
	"fmt"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
)

// settleFirst moves the first n unsettled transactions to a batch. The host is locked.
func (h *host) settleFirst(n, batch int) {
	for _, r := range h.made {
		if r.batch == 0 && n > 0 {
			r.batch, r.status = batch, "settledSuccessfully"
			n--
		}
	}
}

// TestSearchWhileOthersSettle: the rows before the request settle while the search reads the list
// page by page. The request moves to an earlier page. The search must find it in this attempt,
// also if it does not settle itself.
func TestSearchWhileOthersSettle(t *testing.T) {
	t.Parallel()
	for name, rows := range map[string]struct{ before, after, later int }{
		"among others": {5 * pageSize, 3 * pageSize, 0}, "the last one": {8 * pageSize, 0, 2 * pageSize},
	} {
		for _, settling := range []int{pageSize / 5, 3*pageSize + 1} {
			t.Run(fmt.Sprintf("%s, %d settle", name, settling), func(t *testing.T) {
				t.Parallel()
				for read := range 9 {
					h, c := startHost(t)
					h.more(rows.before, h.now.Add(-time.Minute), others)
					about := paid(t, c, false)
					want := "approved " + about.ID + " 1999"
					about.ID = ""
					h.more(rows.after, h.now.Add(time.Minute), others)
					h.more(rows.later, h.now.Add(2*lag), others)
					h.beforeRead(read, func() { h.settleFirst(settling, 1) })
					if got := searched(t, h.after(t, 72*time.Hour), about); got != want {
						t.Errorf("settled before page read %d: got %s, want %s", read+1, got, want)
					}
				}
			})
		}
	}
}

// beforeRead runs f before the next read of a page of the unsettled list but n.
func (h *host) beforeRead(n int, f func()) {
	const method = "getUnsettledTransactionList"
	if n > 0 {
		last := f
		f = func() { h.hook[method] = last }
		for range n - 1 {
			next := f
			f = func() { h.hook[method] = next }
		}
	}
	h.before(method, f)
}

// TestSearchWhileItSettles: the request itself moves to a batch at any time of the search.
func TestSearchWhileItSettles(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"getUnsettledTransactionList", "getSettledBatchList"} {
		for _, settling := range []int{4*pageSize - 1, 8 * pageSize} {
			h, c := startHost(t)
			h.more(3*pageSize, h.now.Add(-time.Minute), others)
			about, want := lostSale(t, c)
			h.more(3*pageSize, h.now.Add(time.Minute), others)
			h.before(method, func() { h.settleFirst(settling, 1) })
			if got := searched(t, h.after(t, 72*time.Hour), about); got != want {
				t.Errorf("before %s: got %s, want %s", method, got, want)
			}
		}
	}
}

// TestSearchBesideAnUnlistedBatch: the request has left the unsettled list, and the list of batches
// does not have its batch yet. The search proves nothing until the list must have it.
func TestSearchBesideAnUnlistedBatch(t *testing.T) {
	t.Parallel()
	h, c := startHost(t)
	about, want := lostSale(t, c)
	h.settle(1)
	at := clock.NewFake(h.now.Add(9*time.Hour + time.Minute))
	c = h.connect(t, at)
	h.do(func() { h.unlisted = true })
	for range 2 {
		if got := searched(t, c, about); got != "unknown" {
			t.Errorf("not listed yet: got %s, want unknown", got)
		}
		at.Advance(lag / 2)
	}
	h.do(func() { h.unlisted = false })
	if got := searched(t, c, about); got != want {
		t.Errorf("listed: got %s, want %s", got, want)
	}
}

// TestSearchOfAGrowingBatch: an attempt reads a batch that does not have all rows yet, and ends
// before its search. The next attempt ends the search once the batch is complete. It must not count
// the earlier read.
func TestSearchOfAGrowingBatch(t *testing.T) {
	t.Parallel()
	h, c := startHost(t)
	about, want := lostSale(t, c)
	h.more(2, h.now, others)
	late := h.now.Add(-90 * 24 * time.Hour) // no list of batches goes so far back
	h.do(func() {
		for i, r := range h.made {
			r.batch, r.status = max(1, i), "settledSuccessfully"
		}
		h.made[0].batch, h.made[0].submitted = 99, late
	})
	at := clock.NewFake(h.now.Add(9*time.Hour + time.Minute)) // the batches were settled a moment ago
	c = h.connect(t, at)
	if got := searched(t, c, about); got != "unknown" {
		t.Errorf("a first search: got %s, want unknown", got)
	}
	h.allow(3) // the unsettled list, the batches and one batch
	if got := searched(t, c, about); got != "unknown" {
		t.Errorf("half a search: got %s, want unknown", got)
	}
	h.do(func() { h.budget, h.made[0].batch, h.made[0].submitted = nil, 2, h.now }) // the one that was read
	at.Advance(2 * lag)
	var got string
	for range 2 {
		if got = searched(t, c, about); got == "not listed" {
			t.Fatalf("got %s of a request in a complete batch", got)
		}
	}
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestSearchOfALongList: a list is longer than the provider reads it. The search finds a request in
// the part that can be read, and proves nothing about the rest.
func TestSearchOfALongList(t *testing.T) {
	t.Parallel()
	for before, want := range map[int]string{
		2*pageSize - 1: "found", 3*pageSize - 2: "found", 3*pageSize - 1: "unknown", 3 * pageSize: "unknown",
	} {
		for _, after := range []time.Duration{time.Minute, 2 * lag} {
			h, c := startHost(t)
			h.do(func() { h.longest = 3 })
			h.more(before, h.now.Add(-time.Minute), others)
			about, found := lostSale(t, c)
			h.more(2*pageSize, h.now.Add(after), others)
			c = h.after(t, 72*time.Hour)
			for range 2 {
				got := searched(t, c, about)
				if got == found {
					got = "found"
				}
				// With later rows in its last page, the list cannot have the request after it.
				if got != want && (after != time.Minute || got != "unknown") {
					t.Errorf("after %d rows, and later ones by %s: got %s, want %s", before, after, got, want)
				}
			}
		}
	}
}

// TestSearchOfAClockAhead: the clock was ahead when the request was prepared, and is right now.
func TestSearchOfAClockAhead(t *testing.T) {
	t.Parallel()
	h, c := startHost(t)
	h.more(2*pageSize+10, h.now.Add(-time.Minute), others)
	about, want := lostSale(t, c)
	about.Tag = tagOf(h.now.Add(5 * time.Hour))
	h.more(3*pageSize, h.now.Add(time.Minute), others)
	if got := searched(t, h.after(t, time.Minute), about); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
