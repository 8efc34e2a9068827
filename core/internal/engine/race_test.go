package engine_test

import (
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// mustAtOnce takes steps on a transaction at once, and returns their HTTP statuses in order.
func mustAtOnce(t *testing.T, steps ...func() (engine.Answer, error)) []int {
	t.Helper()
	got := make([]int, len(steps))
	var wg sync.WaitGroup
	for i, step := range steps {
		wg.Go(func() {
			a, err := step()
			if err != nil {
				t.Error(err)
			}
			got[i] = a.Status
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return got
}

// count is how many of the statuses are the wanted one. All others must be of the refusal.
func count(t *testing.T, got []int, want, refusal int) int {
	t.Helper()
	n := 0
	for _, status := range got {
		switch status {
		case want:
			n++
		case refusal:
		default:
			t.Fatalf("got %v, want %d and %d", got, want, refusal)
		}
	}
	return n
}

// TestRefundsAtOnce: of many refunds of 60 %, one fits.
func TestRefundsAtOnce(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	for range raceRounds {
		txn := mustPay(t, s, 100, true)
		refund := func() (engine.Answer, error) {
			return s.Engine.Refund(t.Context(), s.Request(""), txn, 60, []byte("{}"))
		}
		answers := mustAtOnce(t, refund, refund, refund, refund)
		if got := mustTransaction(t, s, txn); count(t, answers, 201, 400) != 1 || got.Refunded != 60 || got.RefundPending != 0 {
			t.Fatalf("got %v, refunded %d, pending %d", answers, got.Refunded, got.RefundPending)
		}
	}
	if got, want := s.Acquirer.Moved(coretest.Refund), int64(60*raceRounds); got != want {
		t.Errorf("moved: got %d, want %d", got, want)
	}
	wantSettledBooks(t, s)
}

// TestCaptureAgainstVoid: a void that goes through is the end, whether the capture came before it or was refused.
func TestCaptureAgainstVoid(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	for range raceRounds {
		txn := mustPay(t, s, 100, false)
		answers := mustAtOnce(t,
			func() (engine.Answer, error) {
				return s.Engine.Capture(t.Context(), s.Request(""), txn, 100, true, nil)
			},
			func() (engine.Answer, error) { return s.Engine.Void(t.Context(), s.Request(""), txn) },
		)
		captured, voided := count(t, answers[:1], 201, 409) == 1, count(t, answers[1:], 200, 409) == 1
		got := mustTransaction(t, s, txn)
		want, money, version := payment.Voided, int64(0), int64(2)
		if !voided {
			want, money = payment.Captured, 100
		}
		if captured && voided {
			version = 3
		}
		if !captured && !voided || got.Status != want || got.Captured != money || got.Version != version {
			t.Fatalf("got %v, %s captured %d version %d", answers, got.Status, got.Captured, got.Version)
		}
	}
	wantSettledBooks(t, s)
}

// TestConfirmsAtOnce: of two confirmations, one takes place.
func TestConfirmsAtOnce(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	for range raceRounds {
		if a, err := s.Prepare(t.Context(), s.Request(""), 100, true); err != nil || a.Status != 201 {
			t.Fatalf("got %d, %v", a.Status, err)
		}
		txn := s.Number(t, "SELECT MAX(id) FROM transactions")
		confirm := func() (engine.Answer, error) { return s.Confirm(t.Context(), s.Request(""), txn) }
		answers := mustAtOnce(t, confirm, confirm)
		got := mustTransaction(t, s, txn)
		if count(t, answers, 200, 409) != 1 || got.Status != payment.Captured || got.Captured != 100 || got.Version != 1 {
			t.Fatalf("got %v, %s captured %d version %d", answers, got.Status, got.Captured, got.Version)
		}
	}
	if got, want := s.Acquirer.Moved(coretest.Authorize), int64(100*raceRounds); got != want {
		t.Errorf("moved: got %d, want %d", got, want)
	}
	wantSettledBooks(t, s)
}
