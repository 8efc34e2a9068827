package providera

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/shared/clock"
)

// sold makes sales of 19.99 and returns them as the engine has them.
func sold(t *testing.T, c *Connector, n int) []acquirer.Sent {
	t.Helper()
	var out []acquirer.Sent
	for range n {
		r := pay(visa(), func(r *acquirer.Authorize) {
			r.Reference, r.Tag, r.Capture = newReference("txn"), tagOf(c.clock.Now()), true
		})
		a, err := c.Authorize(t.Context(), r)
		if err != nil || !a.Approved {
			t.Fatalf("payment: %+v, %v", a, err)
		}
		out = append(out, acquirer.Sent{
			Kind: acquirer.Sale, Reference: r.Reference, Tag: r.Tag, ID: a.ID, Amount: r.Amount, Currency: r.Currency,
		})
	}
	return out
}

// at returns a connector to the host at a time after its start.
func (h *host) at(t *testing.T, later time.Duration) *Connector {
	t.Helper()
	return h.connect(t, clock.NewFake(h.now.Add(later)))
}

// wantSettled checks the reports of requests, each as its state and reason.
func wantSettled(t *testing.T, c *Connector, of []acquirer.Sent, want ...string) {
	t.Helper()
	reports, err := c.Settled(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range reports {
		got = append(got, fmt.Sprintf("%s: %s", s.State, s.Reason))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestSettledInBatches: a sale and a capture have the status that the list of their batch shows. No
// other request is needed for them, also if the list has several pages.
func TestSettledInBatches(t *testing.T) {
	t.Parallel()
	h, c := startHost(t)
	of := sold(t, c, 3)
	authorized := paid(t, c, false)
	r := step(authorized, false)
	if a, err := c.Capture(t.Context(), r); err != nil || !a.Approved {
		t.Fatalf("capture: %+v, %v", a, err)
	}
	of = append(of, acquirer.Sent{
		Kind: acquirer.Capture, Reference: r.Reference, Tag: of[0].Tag, ID: authorized.ID, Amount: r.Amount,
		Currency: "usd",
	})
	next := h.at(t, 24*time.Hour)
	const waits = ": in no settled batch"
	wantSettled(t, next, of, waits, waits, waits, waits)
	h.settle(7)
	h.do(func() {
		h.made[1].status, h.made[2].taken = "settlementError", "19.98"
		for n := range 2 * pageSize { // earlier payments of the batch
			h.made = append(h.made, &record{
				id: strconv.Itoa(70000000000 + n), status: "settledSuccessfully", taken: "1.00", batch: 7,
				submitted: h.now.Add(-time.Second),
			})
		}
		clear(h.reads)
	})
	wantSettled(t, next, of,
		"settled: settledSuccessfully", "failed: settlementError", "failed: another amount", "settled: settledSuccessfully")
	if want := map[string]int{"getSettledBatchList": 1, "getTransactionList": 3}; !maps.Equal(h.reads, want) {
		t.Errorf("reads %v, want %v", h.reads, want)
	}
}

// TestSettledStatuses: each status of the provider makes a report. A status that is not in the
// table, or that a person must decide about, can still settle.
func TestSettledStatuses(t *testing.T) {
	t.Parallel()
	h, c := startHost(t)
	of := sold(t, c, 1)
	h.settle(7)
	next := h.at(t, 24*time.Hour)
	settles := []string{"settledSuccessfully", "chargeback", "chargebackReversal"}
	fails := []string{
		"settlementError", "returnedItem", "voided", "expired", "declined", "failedReview", "communicationError",
		"generalError",
	}
	for status := range states {
		want := ": " + status
		if slices.Contains(settles, status) {
			want = "settled" + want
		}
		if slices.Contains(fails, status) {
			want = "failed" + want
		}
		h.do(func() { h.made[0].status = status })
		wantSettled(t, next, of, want)
	}
	h.do(func() { h.made[0].status = "4111111111111111" })
	wantSettled(t, next, of, ": another status")
}

// TestSettledAlone: a transaction that is in no batch for days is read alone. So is one that is
// older than a week, or whose number or time is not known.
func TestSettledAlone(t *testing.T) {
	t.Parallel()
	h, c := startHost(t)
	of := sold(t, c, 3)
	of[1].ID, of[2].Tag = "", ""
	h.do(func() { h.made[0].status = "voided" })
	for days, reads := range map[int]map[string]int{
		// the sale without a number has two lists and its details
		3: {"getSettledBatchList": 1, "getUnsettledTransactionList": 1, "getTransactionDetails": 3},
		8: {"getUnsettledTransactionList": 1, "getTransactionDetails": 3},
	} {
		h.do(func() { clear(h.reads) })
		wantSettled(t, h.at(t, time.Duration(days)*24*time.Hour), of,
			"failed: voided", ": capturedPendingSettlement", ": capturedPendingSettlement")
		if !maps.Equal(h.reads, reads) {
			t.Errorf("%d days: reads %v, want %v", days, h.reads, reads)
		}
	}
	h.do(func() { h.made[1].id = "0" }) // one that cannot be read delays no other
	h.settle(9)
	wantSettled(t, h.at(t, 8*24*time.Hour), of,
		"failed: voided", ": cannot be read", "settled: settledSuccessfully")
}

// TestSettledRefused: without the account's lists there are no reports. After three failures in a
// row the connector sends no more requests.
func TestSettledRefused(t *testing.T) {
	t.Parallel()
	h, c := startHost(t)
	of := sold(t, c, 5)
	h.do(func() { h.off = true })
	for days, reads := range map[int]map[string]int{
		1: {"getSettledBatchList": 1}, 9: {"getTransactionDetails": mostFailures},
	} {
		h.do(func() { clear(h.reads) })
		got, err := h.at(t, time.Duration(days)*24*time.Hour).Settled(t.Context(), of)
		if !errors.Is(err, acquirer.ErrUnknown) || len(got) != len(of) {
			t.Errorf("%d days: got %v, %v", days, got, err)
		}
		if !maps.Equal(h.reads, reads) {
			t.Errorf("%d days: reads %v, want %v", days, h.reads, reads)
		}
	}
}

// reports settles a sale and a capture of a running standalone, and reads their reports from the
// lists of its batches.
func (s *standalone) reports(t *testing.T, c *Connector) {
	t.Helper()
	sale, part := s.made(t, c, visa(), true), s.made(t, c, visa(), false)
	if a, err := c.Capture(t.Context(), followOf(part, "cap", 500, "1111")); err != nil || !a.Approved {
		t.Fatalf("capture: got %+v, %v", a, err)
	}
	part.Kind, part.Amount = acquirer.Capture, 500
	sale.Tag, part.Tag = tagOf(c.clock.Now()), tagOf(c.clock.Now())
	of := []acquirer.Sent{sale, part}
	wantSettled(t, c, of, ": in no settled batch", ": in no settled batch")
	s.settle(t, sale.ID)
	wantSettled(t, c, of, "settled: settledSuccessfully", ": in no settled batch")
	s.settle(t, part.ID)
	other := sale
	other.Amount++
	wantSettled(t, c, []acquirer.Sent{other, part}, "failed: another amount", "settled: settledSuccessfully")
}

// TestSettledBehindUnreadable: old transactions that the account does not show are reports. They
// are no failures, so the reports of later ones are still read.
func TestSettledBehindUnreadable(t *testing.T) {
	t.Parallel()
	h, c := startHost(t)
	of := sold(t, c, 8)
	h.do(func() { h.made[0].id, h.made[1].id, h.made[2].id = "1", "2", "3" }) // of another account
	for i := range 3 {
		of[3+i].Kind, of[3+i].ID = acquirer.Capture, "" // which no list has
	}
	h.settle(7)
	reports, err := h.at(t, 9*24*time.Hour).Settled(t.Context(), of)
	if err != nil {
		t.Errorf("got %v, want no failure: the host has responded to each request", err)
	}
	for i, r := range reports {
		want := acquirer.Settlement{Reason: unreadable}
		if i >= 6 {
			want = acquirer.Settlement{State: acquirer.Settled, Reason: "settledSuccessfully"}
		}
		if r != want {
			t.Errorf("report %d: got %+v, want %+v", i, r, want)
		}
	}
}

// TestSettledBesideAnUnreadableList: a list that always fails delays no report of another one. A
// transaction that may be in that list is read alone after some days.
func TestSettledBesideAnUnreadableList(t *testing.T) {
	t.Parallel()
	h, c := startHost(t)
	of := sold(t, c, 2)
	h.do(func() { h.unread, h.made[1].batch, h.made[1].status = "7", 8, "settledSuccessfully" })
	h.settle(7)
	const settled = "settled: settledSuccessfully"
	wantSettled(t, h.at(t, 2*24*time.Hour), of, ": cannot be read", settled)
	wantSettled(t, h.at(t, 4*24*time.Hour), of, settled, settled)
	h.do(func() {
		for n := range mostBatches {
			h.made = append(h.made, &record{status: "settledSuccessfully", batch: 9 + n, submitted: h.now})
		}
	})
	wantSettled(t, h.at(t, 2*24*time.Hour), of, ": cannot be read", ": cannot be read")
	wantSettled(t, h.at(t, 4*24*time.Hour), of, settled, settled)
}
