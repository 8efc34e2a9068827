package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// MustOpenGiving opens a service whose merchant may make unlinked refunds.
func MustOpenGiving(t *testing.T) *coretest.Service {
	t.Helper()
	s := coretest.Open(t)
	if err := s.DB.Update(t.Context(), func(tx *store.Tx) error {
		on := true
		return tx.UpdateMerchant(s.Tenant.Merchant, payment.MerchantChange{Cutoff: -1, UnlinkedRefunds: &on})
	}); err != nil {
		t.Fatal(err)
	}
	return s
}

// give makes an unlinked refund of 100, to a stored payment method if one is given.
func give(ctx context.Context, s *coretest.Service, key, method string) (engine.Result, error) {
	c := engine.Credit{Amount: 100, Currency: "usd", PaymentMethod: idOf(method), Details: []byte("{}")}
	if method != "card" {
		found, err := s.Engine.Stored(ctx, s.Tenant, method)
		if err != nil {
			return engine.Result{}, err
		}
		c.Drawn, c.Card = found.Drawn, acquirer.Card{Number: found.Secrets.Number, ExpMonth: 12, ExpYear: 2030}
	}
	return s.Engine.Credit(ctx, s.Request(key), c)
}

// wantGiven checks that the only refund ended in the given state and gave the given amount, and
// that each event exists once.
func wantGiven(t *testing.T, s *coretest.Service, state string, given int64) {
	t.Helper()
	wantSettledBooks(t, s)
	if got, want := fmt.Sprint(s.Texts(t, "SELECT state FROM refunds")), "["+state+"]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := s.Acquirer.Moved(coretest.Credit); got != given {
		t.Errorf("given: got %d, want %d", got, given)
	}
	events := fmt.Sprint(s.Texts(t, "SELECT type || ' ' || sequence FROM events ORDER BY id"))
	if got, want := events, "[refund.created 1 refund."+state+" 2]"; got != want {
		t.Errorf("events: got %s, want %s", got, want)
	}
}

// TestKilledWhileGiving: the process dies at each point of an unlinked refund. The money is paid at
// most once. A refund that the acquirer does not have stays pending. It keeps its key until the
// acquirer can no longer process it.
func TestKilledWhileGiving(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		for _, key := range []string{"", "k"} {
			t.Run(fmt.Sprint(after, " ", key), func(t *testing.T) {
				t.Parallel()
				first := MustOpenGiving(t)
				var dir string
				lose(first, coretest.Credit, after, func() { dir = first.Snapshot(t) })
				if a, err := give(t.Context(), first, key, "card"); err != nil || a.Status != 504 {
					t.Fatalf("got %d %s, %v, want 504", a.Status, a.Body, err)
				}
				s := first.Revive(t, dir)
				s.Recover(t)
				if !after {
					wantPending(t, s, key)
					if voids := s.Acquirer.Calls(coretest.Void); len(voids) != 1 {
						t.Errorf("got %+v, want it reversed, so that it cannot arrive late", voids)
					}
					lookUntilTheEnd(t, s)
					wantGiven(t, s, "failed", 0)
					if a, err := give(t.Context(), s, key, "card"); err != nil || a.Status != 201 || a.Replayed {
						t.Errorf("again: got %d %s, %v", a.Status, a.Body, err)
					}
					return
				}
				wantGiven(t, s, "succeeded", 100)
				if key != "" {
					if a, err := give(t.Context(), s, key, "card"); err != nil || a.Status != 201 || !a.Replayed {
						t.Errorf("again: got %d %s, %v", a.Status, a.Body, err)
					}
				}
				wantGiven(t, s, "succeeded", 100)
			})
		}
	}
}

// wantPending checks that the only refund has a pending reversal, and that a retry under its key
// pays nothing.
func wantPending(t *testing.T, s *coretest.Service, key string) {
	t.Helper()
	if got, want := fmt.Sprint(s.Texts(t, "SELECT state FROM refunds")), "[pending]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := s.Number(t, "SELECT COUNT(*) FROM reversals WHERE kind = 'refund'"); got != 1 {
		t.Errorf("%d looks are pending, want one", got)
	}
	given := len(s.Acquirer.Calls(coretest.Credit))
	if key != "" {
		if a, err := give(t.Context(), s, key, "card"); !errors.Is(err, engine.ErrKeyInUse) {
			t.Errorf("a retry: got %d %s, %v, want the key in use", a.Status, a.Body, err)
		}
	}
	if got := len(s.Acquirer.Calls(coretest.Credit)); got != given {
		t.Error("a retry was sent to the acquirer")
	}
}

// lookUntilTheEnd works on all pending reversals until there are none.
func lookUntilTheEnd(t *testing.T, s *coretest.Service) {
	t.Helper()
	for n := 0; look(t, s); n++ {
		if n == 1000 {
			t.Fatal("there is no end to it")
		}
	}
}

func TestKilledBeforeTheReversalOfWhatWasGiven(t *testing.T) {
	t.Parallel()
	first := MustOpenGiving(t)
	var dir string
	lose(first, coretest.Credit, false, func() { dir = first.Snapshot(t) })
	if a, err := give(t.Context(), first, "k", "card"); err != nil || a.Status != 504 {
		t.Fatalf("got %d, %v", a.Status, err)
	}
	s := first.Revive(t, dir)
	for _, verb := range []coretest.Verb{coretest.Inquire, coretest.Void} {
		lose(s, verb, false, nil)
		if got := s.Recover(t); got != 1 {
			t.Fatalf("%s lost: %d stay open, want 1", verb, got)
		}
		heal(s)
	}
	s.Recover(t)
	wantPending(t, s, "k")
	lookUntilTheEnd(t, s)
	wantGiven(t, s, "failed", 0)
	if a, err := give(t.Context(), s, "k", "card"); err != nil || a.Status != 201 || a.Replayed {
		t.Errorf("again: got %d %s, %v", a.Status, a.Body, err)
	}
}

// TestGivenWhileReconciled: the request and recovery get the outcome at the same time.
func TestGivenWhileReconciled(t *testing.T) {
	t.Parallel()
	s := MustOpenGiving(t)
	s.Acquirer.After = func(_ context.Context, c coretest.Call) error {
		if c.Verb == coretest.Credit {
			heal(s)
			if open := s.Recover(t); open != 0 { //nolint:contextcheck // it is the test's
				t.Errorf("%d stay open", open)
			}
		}
		return nil
	}
	if a, err := give(t.Context(), s, "k", "card"); err != nil || a.Status != 504 {
		t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
	}
	wantGiven(t, s, "succeeded", 100)
	if a, err := give(t.Context(), s, "k", "card"); err != nil || a.Status != 201 || !a.Replayed {
		t.Errorf("again: got %d, %v", a.Status, err)
	}
}

// TestTokenOfWhatCouldNotBeGiven comes back whole.
func TestTokenOfWhatCouldNotBeGiven(t *testing.T) {
	t.Parallel()
	s := MustOpenGiving(t)
	token := MustToken(t, s, cvc)
	s.Acquirer.Before = func(context.Context, coretest.Call) error { return acquirer.ErrUnavailable }
	if _, err := give(t.Context(), s, "k", token); !errors.Is(err, engine.ErrAcquirerUnavailable) {
		t.Fatalf("got %v", err)
	}
	wantGiven(t, s, "failed", 0)
	heal(s)
	if a, err := give(t.Context(), s, "k", token); err != nil || a.Status != 201 {
		t.Fatalf("got %d, %v", a.Status, err)
	}
	if _, err := give(t.Context(), s, "l", token); !errors.Is(err, payment.ErrTokenUsed) {
		t.Errorf("got %v", err)
	}
}
