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

// TestTokenOfADeadConfirmation: the acquirer never got the confirmation, so the transaction waits.
// Its token is free again only if it had no security code: that code was in the memory of the
// process that died.
func TestTokenOfADeadConfirmation(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code string
		want error
	}{{cvc, payment.ErrTokenUsed}, {"", nil}} {
		first := coretest.Open(t)
		token := MustToken(t, first, c.code)
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
		if got := MustTransaction(t, s).Status; got != payment.RequiresConfirmation {
			t.Errorf("got %s, want it to wait", got)
		}
		if _, err := confirmBy(t.Context(), s, "k", txn, token); !errors.Is(err, c.want) {
			t.Errorf("code %t: got %v, want %v", c.code != "", err, c.want)
		}
		if got, want := s.Acquirer.Moved(coretest.Authorize) == 100, c.want == nil; got != want {
			t.Errorf("code %t: moved %t, want %t", c.code != "", got, want)
		}
		if a, err := s.Confirm(t.Context(), s.Request("l"), txn); err != nil || (a.Status == 200) == (c.want == nil) {
			t.Errorf("by another card: got %d, %v", a.Status, err)
		}
	}
}

// TestLateResponseToAnOldConfirmation: the process was paused until recovery had withdrawn its
// confirmation, and another confirmation is in progress. The old response must not become the new
// outcome.
func TestLateResponseToAnOldConfirmation(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	txn := MustWait(t, s)
	second := false
	recoverAll := recoversAll(t, s)
	s.Acquirer.Before = func(ctx context.Context, c coretest.Call) error {
		if c.Verb != coretest.Authorize || second {
			return nil
		}
		second = true
		recoverAll() // finds nothing at the acquirer, and reverses
		old, err := s.DB.Transaction(ctx, s.Tenant, txn)
		if err != nil || old.Status != payment.RequiresConfirmation || old.Attempt != 2 {
			t.Errorf("withdrawn: got %+v, %v", old, err)
		}
		s.Acquirer.Decide = func(coretest.Call) string { return "generic_decline" }
		if a, err := s.Confirm(ctx, s.Request("new"), txn); err != nil || a.Status != 402 {
			t.Errorf("the new one: got %d, %v, want 402", a.Status, err)
		}
		s.Acquirer.Decide = nil
		return nil
	}
	if a, err := s.Confirm(t.Context(), s.Request("old"), txn); err != nil || a.Status != 504 {
		t.Errorf("the old one: got %d, %v, want 504", a.Status, err)
	}
	if got := MustTransaction(t, s); got.Status != payment.Declined || got.Captured != 0 || got.Version != 1 {
		t.Errorf("got %s captured %d version %d, want declined", got.Status, got.Captured, got.Version)
	}
}
