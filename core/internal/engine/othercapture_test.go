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
	"github.com/causeway-pay/causeway/shared/programtest"
)

// anyCapture is an acquirer whose captures have no identity: an inquiry about a capture finds any
// capture of the payment. It ignores a capture that its Follow shows.
type anyCapture struct{ *coretest.Acquirer }

// Inquire implements acquirer.Acquirer.
func (b anyCapture) Inquire(ctx context.Context, about acquirer.Sent) (acquirer.Response, error) {
	switch {
	case about.Kind != acquirer.Capture:
		return b.Acquirer.Inquire(ctx, about)
	case len(about.Follow.Captures) > 0:
		return acquirer.Response{DeclineCode: "processing_error", ResponseCode: "12"}, nil
	case b.Moved(coretest.Capture) == about.Amount:
		return acquirer.Response{Approved: true, ResponseCode: "00", Amount: about.Amount}, nil
	}
	return acquirer.Response{}, acquirer.ErrNotFound
}

// TestLookDuringAnotherCapture: an operator has ended a lost capture, and the merchant captures the
// same amount again. A look for the first capture finds the second one while that is in progress.
// It waits for the end of the second capture, and voids nothing.
func TestLookDuringAnotherCapture(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	s.Engine.Test = anyCapture{s.Acquirer}
	if a, err := s.Pay(t.Context(), s.Request(""), 100, false); err != nil || a.Status != 201 {
		t.Fatalf("pay: got %d %s, %v", a.Status, a.Body, err)
	}
	txn := MustTransaction(t, s).ID
	lose(s, coretest.Capture, false, nil)
	if a, err := s.Engine.Capture(t.Context(), s.Request("k"), txn, 100, false, nil); err != nil || a.Status != 504 {
		t.Fatalf("first capture: got %d %s, %v", a.Status, a.Body, err)
	}
	s.Clock.Advance(engine.Patience)
	mustResolve(t, s, payment.CaptureStep, engine.DecisionNoEffect)
	heal(s)
	look(t, s) // the drop: there is nothing to drop
	rec := s.Engine.NewRecovery()
	if err := rec.CatchUp(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	during := func() {
		s.Clock.Advance(10 * time.Second) // the next look is due
		if _, err := rec.Pass(t.Context()); err != nil {
			t.Error(err)
		}
		programtest.WaitFor(t, "the look has failed", func() bool {
			return s.Number(t, "SELECT COUNT(*) FROM step_attempts WHERE running = 0 AND last_error LIKE '%another step%'") == 1
		})
	}
	s.Acquirer.After = func(_ context.Context, c coretest.Call) error {
		if c.Verb == coretest.Capture {
			during()
		}
		return nil
	}
	if a, err := s.Engine.Capture(t.Context(), s.Request("l"), txn, 100, false, nil); err != nil || a.Status != 201 {
		t.Errorf("second capture: got %d %s, %v", a.Status, a.Body, err)
	}
	lookUntilTheEnd(t, s)
	for _, c := range s.Acquirer.Calls(coretest.Void) {
		if !strings.HasPrefix(c.Reference, "reverse_") { // that is the drop
			t.Errorf("the acquirer got %+v", c)
		}
	}
	if got := MustTransaction(t, s); got.Status != payment.Captured || got.Captured != 100 {
		t.Errorf("got %s, %d captured", got.Status, got.Captured)
	}
}
