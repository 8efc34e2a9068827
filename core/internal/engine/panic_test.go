package engine_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
)

// TestPanicInRecovery: a step whose attempt panics ends no process and stops no other step. It is
// retried like any other.
func TestPanicInRecovery(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	lose(s, coretest.Authorize, true, nil)
	for _, amount := range []int64{100, 200} {
		if a, err := s.Pay(t.Context(), s.Request(""), amount, true); err != nil || a.Status != 504 {
			t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
		}
	}
	heal(s)
	bad := id.Format(id.Transaction, s.Number(t, "SELECT id FROM transactions WHERE amount = 100"))
	s.Acquirer.Before = func(_ context.Context, c coretest.Call) error {
		if c.Reference == bad {
			panic("4242")
		}
		return nil
	}
	if open := s.Recover(t); open != 1 {
		t.Errorf("%d stay open, want 1", open)
	}
	if got := s.Texts(t, "SELECT last_error FROM step_attempts"); len(got) != 1 || !strings.HasPrefix(got[0], "panic: string: ") {
		t.Errorf("last errors: got %q", got)
	}
	heal(s)
	s.Clock.Advance(payment.RetryAfter(payment.AuthorizeStep, 1) + time.Second)
	if open := s.Recover(t); open != 0 {
		t.Errorf("%d stay open", open)
	}
}
