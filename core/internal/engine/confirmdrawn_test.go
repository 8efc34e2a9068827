package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// confirmBy confirms a transaction by a stored payment method.
func confirmBy(ctx context.Context, s *coretest.Service, key string, txn int64, method string) (engine.Result, error) {
	found, err := s.Engine.Stored(ctx, s.Tenant, method)
	if err != nil {
		return engine.Result{}, err
	}
	t, err := s.DB.Transaction(ctx, s.Tenant, txn)
	if err != nil {
		return engine.Result{}, err
	}
	return s.Engine.Confirm(ctx, s.Request(key), t, engine.Payment{
		PaymentMethod: idOf(method), Drawn: found.Drawn, Details: []byte("{}"),
		Source: acquirer.Source{Card: acquirer.Card{Number: found.Secrets.Number, CVC: found.Secrets.CVC, ExpMonth: 12, ExpYear: 2030}},
	})
}

// TestTokenOfADeadConfirmation: the acquirer has no confirmation of a process that died. The
// transaction has failed, and its token stays used.
func TestTokenOfADeadConfirmation(t *testing.T) {
	t.Parallel()
	for _, code := range []string{cvc, ""} {
		first := coretest.Open(t)
		token := MustToken(t, first, code)
		txn := MustWait(t, first)
		var dir string
		lose(first, coretest.Authorize, false, func() { dir = first.Snapshot(t) })
		if a, err := confirmBy(t.Context(), first, "k", txn, token); err != nil || a.Status != 504 {
			t.Fatalf("got %d, %v, want 504", a.Status, err)
		}
		s := first.Revive(t, dir)
		if got := s.Recover(t); got != 0 {
			t.Fatalf("%d stay open", got)
		}
		wantNoEffect(t, s)
		if _, err := payBy(t.Context(), s, "", token); !errors.Is(err, payment.ErrTokenUsed) {
			t.Errorf("code %t: got %v, want %v", code != "", err, payment.ErrTokenUsed)
		}
	}
}

// TestLateResponseToAnOldConfirmation: the process was paused until recovery had found its decline,
// and another confirmation has succeeded. The old response does not become the new outcome. If it
// is an approval, its money is released.
func TestLateResponseToAnOldConfirmation(t *testing.T) {
	t.Parallel()
	for _, approved := range []bool{false, true} {
		s := coretest.Open(t)
		txn := MustWait(t, s)
		declineConfirmations(s)
		recoverAll, paused := recoversAll(t, s), true
		s.Acquirer.After = func(ctx context.Context, c coretest.Call) error {
			if c.Verb != coretest.Authorize || !paused {
				return nil
			}
			paused = false
			recoverAll() // finds the decline
			old, err := s.DB.Transaction(ctx, s.Tenant, txn)
			if err != nil || old.Status != payment.RequiresConfirmation || old.Attempt != 2 {
				t.Errorf("declined: got %+v, %v", old, err)
			}
			s.Acquirer.Decide = nil
			if a, err := s.Confirm(ctx, s.Request("new"), txn); err != nil || a.Status != 200 {
				t.Errorf("the new one: got %d, %v, want 200", a.Status, err)
			}
			if approved {
				s.Acquirer.Report = func(coretest.Call, acquirer.Response) acquirer.Response {
					return acquirer.Response{Approved: true, Amount: 100, Code: "LATE", ResponseCode: "00"}
				}
			}
			return nil
		}
		if a, err := s.Confirm(t.Context(), s.Request("old"), txn); err != nil || a.Status != 504 {
			t.Errorf("the old one: got %d, %v, want 504", a.Status, err)
		}
		s.Acquirer.Report = nil
		if got := MustTransaction(t, s); got.Status != payment.Captured || got.Captured != 100 || got.Version != 2 || got.Result.Code == "LATE" {
			t.Errorf("got %s captured %d version %d by %s", got.Status, got.Captured, got.Version, got.Result.Code)
		}
		if got := s.Number(t, "SELECT COUNT(*) FROM reversals"); got == 1 != approved {
			t.Errorf("approved %t: got %d pending reversals", approved, got)
		}
		wantAllReleased(t, s)
		if a, err := s.Confirm(t.Context(), s.Request("old"), txn); err != nil || a.Status != 402 || !a.Replayed {
			t.Errorf("the old one again: got %d replayed %t, %v, want the stored decline", a.Status, a.Replayed, err)
		}
	}
}
