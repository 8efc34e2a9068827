package engine_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// nearBound makes an authorized payment of 1000 to which only left more captures are allowed.
func nearBound(ctx context.Context, t *testing.T, s *coretest.Service, left int64) (int64, error) {
	t.Helper()
	txn, err := paid(ctx, s, 1000, false)
	const begun = "UPDATE transactions SET captures_begun = ? WHERE id = ?"
	s.MustExec(t, begun, payment.MaxCaptures-left, txn) //nolint:contextcheck // the test's
	return txn, err
}

// captureFor captures an amount of a transaction under a key, and wants a status.
func captureFor(t *testing.T, s *coretest.Service, key string, txn, amount int64, want int) engine.Result {
	t.Helper()
	a, err := s.Engine.Capture(t.Context(), s.Request(key), txn, amount, false, []byte("{}"))
	if err != nil || a.Status != want {
		t.Fatalf("capture of %d: got %d %s, %v, want %d", amount, a.Status, a.Body, err, want)
	}
	return a
}

// TestCapturesAreBounded: at the bound, a capture of any amount is refused because of the
// transaction's state. A declined capture counts. A capture that never reached the acquirer does
// not, so retries during an outage use up nothing.
func TestCapturesAreBounded(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	txn, err := nearBound(t.Context(), t, s, 2)
	if err != nil {
		t.Fatal(err)
	}
	s.Acquirer.Before = func(context.Context, coretest.Call) error { return acquirer.ErrUnavailable }
	for range 3 {
		if _, err := s.Engine.Capture(t.Context(), s.Request("k"), txn, 1, false, []byte("{}")); err == nil {
			t.Error("captured without an acquirer")
		}
	}
	heal(s)
	s.Acquirer.Decide = func(coretest.Call) string { return "do_not_honor" }
	captureFor(t, s, "", txn, 1, 402)
	heal(s)
	captureFor(t, s, "k", txn, 3, 201)
	for _, amount := range []int64{0, 1, 2000} {
		if a := captureFor(t, s, "", txn, amount, 409); !strings.Contains(string(a.Body), payment.NotCapturable) {
			t.Errorf("capture of %d: got %s, want %s", amount, a.Body, payment.NotCapturable)
		}
	}
	captureFor(t, s, "last", txn, 1, 409)
	if a := captureFor(t, s, "last", txn, 1, 409); !a.Replayed {
		t.Error("the refusal was not kept under the key")
	}
	got := mustTransaction(t, s, txn)
	moved := s.Acquirer.Moved(coretest.Capture)
	if got.CapturesBegun != payment.MaxCaptures || got.Captured != 3 || moved != 3 {
		t.Errorf("got %d captures of %d, and %d at the acquirer", got.CapturesBegun, got.Captured, moved)
	}
	s.Clock.Advance(24 * time.Hour)
	mustSettle(t, s, 1)
	wantSettledBooks(t, s)
}

// TestLastCapturesAtOnce: if two concurrent captures would exceed the bound by one, exactly one is
// taken.
func TestLastCapturesAtOnce(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	got := race{after: books(t, s), prepare: func(ctx context.Context, _ int) (contest, error) {
		txn, err := nearBound(ctx, t, s, 1)
		capture := capturing(s, txn, 10, false)
		return contest{[]action{capture, capture}, []int64{txn}}, err
	}}.run(t)
	const after = ": partially_captured, 10 captured, 0 refunded, 0 settled"
	wantOutcomes(t, got, []string{"201 409" + after, "409 201" + after})
	if got, want := s.Acquirer.Moved(coretest.Capture), int64(10*raceRounds); got != want {
		t.Errorf("moved: got %d, want %d", got, want)
	}
	wantSettledBooks(t, s)
}
