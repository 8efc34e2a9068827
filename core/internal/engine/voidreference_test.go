package engine_test

import (
	"context"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
)

// TestVoidsOfOneNumber: two voids with the same number must release both payments. Two cores can
// draw the same number. Under one reference, the acquirer would replay the first result.
func TestVoidsOfOneNumber(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	for range 2 {
		if a, err := s.Pay(t.Context(), s.Request(""), 100, false); err != nil || a.Status != 201 {
			t.Fatalf("pay: got %d, %v, want 201", a.Status, err)
		}
	}
	s.Acquirer.Before = func(context.Context, coretest.Call) error { return acquirer.ErrUnknown }
	for _, query := range []string{"SELECT MIN(id) FROM transactions", "SELECT MAX(id) FROM transactions"} {
		if _, err := s.Engine.Void(t.Context(), s.Request(""), s.Number(t, query), nil); err != nil {
			t.Fatal(err)
		}
	}
	s.Database.MustExec(t, "UPDATE transactions SET operation_id = 7")
	heal(s)
	s.Recover(t)
	if got := s.Number(t, "SELECT COUNT(*) FROM transactions WHERE status = 'voided'"); got != 2 {
		t.Errorf("voided payments: got %d, want 2", got)
	}
	if got := s.Acquirer.HeldInAll(); got != 0 {
		t.Errorf("held at the acquirer: got %d, want 0", got)
	}
}
