package engine_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// MustWait makes a payment of 100 that waits to be confirmed, and returns its number.
func MustWait(t *testing.T, s *coretest.Service) int64 {
	t.Helper()
	if a, err := s.Prepare(t.Context(), s.Request(""), 100, true); err != nil || a.Status != 201 {
		t.Fatalf("prepare: %d %s, %v", a.Status, a.Body, err)
	}
	if calls := s.Acquirer.Calls(coretest.Authorize); len(calls) != 0 {
		t.Fatalf("the acquirer was asked: %v", calls)
	}
	return s.Number(t, "SELECT id FROM transactions")
}

// declineConfirmations makes the acquirer decline new payments.
func declineConfirmations(s *coretest.Service) {
	s.Acquirer.Decide = func(c coretest.Call) string {
		if c.Verb == coretest.Authorize {
			return "generic_decline"
		}
		return ""
	}
}

// wantConfirmed checks that the payment was taken once, and that a retry under its key gets the
// stored response.
func wantConfirmed(t *testing.T, s *coretest.Service, key string) {
	t.Helper()
	got := MustTransaction(t, s)
	if got.Status != payment.Captured || got.Captured != 100 || got.Version != 1 || got.PaymentMethod != "pm_card_visa" {
		t.Errorf("got %s captured %d version %d by %q", got.Status, got.Captured, got.Version, got.PaymentMethod)
	}
	if moved := s.Acquirer.Moved(coretest.Authorize); moved != 100 {
		t.Errorf("moved: got %d, want 100", moved)
	}
	wantSettledBooks(t, s)
	if key == "" {
		return
	}
	a, err := s.Confirm(t.Context(), s.Request(key), got.ID)
	b, errB := s.Confirm(t.Context(), s.Request(key), got.ID)
	if err != nil || errB != nil || a.Status != 200 || !a.Replayed || !bytes.Equal(a.Body, b.Body) {
		t.Errorf("the same again: got %d replayed %t, %v", a.Status, a.Replayed, err)
	}
}

// wantNoEffect checks that the payment moved nothing and has failed, and that its key is free. No
// other confirmation can follow, because the lost one is only reversed, and could arrive late.
func wantNoEffect(t *testing.T, s *coretest.Service) {
	t.Helper()
	got := MustTransaction(t, s)
	if got.Status != payment.Failed || got.Version != 1 || got.Result.FailureCode != "not_processed" || got.Claim != 0 {
		t.Errorf("got %+v, want it failed", got)
	}
	if got := s.Number(t, "SELECT COUNT(*) FROM idempotency_keys"); got != 0 {
		t.Error("the key is still taken")
	}
	if len(s.Acquirer.Calls(coretest.Void)) != 1 {
		t.Error("the confirmation was not reversed, so it could arrive late")
	}
	if a, err := s.Confirm(t.Context(), s.Request("k"), got.ID); err != nil || a.Status != 409 || a.Replayed {
		t.Errorf("again: got %d replayed %t, %v, want 409", a.Status, a.Replayed, err)
	}
	if got := s.Acquirer.Moved(coretest.Authorize); got != 0 {
		t.Errorf("moved: got %d", got)
	}
	wantSettledBooks(t, s)
}

func TestConfirmWhileTheAcquirerIsAway(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	txn := MustWait(t, s)
	s.Acquirer.Before = func(context.Context, coretest.Call) error { return acquirer.ErrUnavailable }
	for range 2 {
		if a, err := s.Confirm(t.Context(), s.Request("k"), txn); !errors.Is(err, engine.ErrAcquirerUnavailable) {
			t.Fatalf("got %d, %v, want %v", a.Status, err, engine.ErrAcquirerUnavailable)
		}
		got := MustTransaction(t, s)
		if got.Status != payment.RequiresConfirmation || got.PaymentMethod != "" || string(got.Details) != "{}" || got.Version != 0 || got.Claim != 0 {
			t.Errorf("got %+v, want it to wait as before", got)
		}
		if got := s.Number(t, "SELECT COUNT(*) FROM idempotency_keys"); got != 0 {
			t.Error("the key is still taken")
		}
	}
	heal(s)
	if a, err := s.Confirm(t.Context(), s.Request("k"), txn); err != nil || a.Status != 200 {
		t.Fatalf("got %d, %v", a.Status, err)
	}
	wantConfirmed(t, s, "k")
}

func TestConfirmLostResponse(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		t.Run(map[bool]string{false: "before the effect", true: "after the effect"}[after], func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			txn := MustWait(t, s)
			lose(s, coretest.Authorize, after, nil)
			if a, err := s.Confirm(t.Context(), s.Request("k"), txn); err != nil || a.Status != 504 {
				t.Fatalf("got %d, %v, want 504", a.Status, err)
			}
			if got := MustTransaction(t, s).Status; got != payment.Unknown {
				t.Errorf("status: got %s, want unknown", got)
			}
			if a, err := s.Confirm(t.Context(), s.Request("other"), txn); err != nil || a.Status != 409 {
				t.Errorf("another meanwhile: got %d, %v, want 409", a.Status, err)
			}
			if a, err := s.Engine.Void(t.Context(), s.Request(""), txn, nil); err != nil || a.Status != 409 {
				t.Errorf("void meanwhile: got %d, %v, want 409", a.Status, err)
			}
			heal(s)
			if open := s.Recover(t); open != 0 {
				t.Fatalf("%d stay open", open)
			}
			if after {
				wantConfirmed(t, s, "k")
				return
			}
			wantNoEffect(t, s)
		})
	}
}

func TestConfirmKilled(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		for _, key := range []string{"", "k"} {
			t.Run(map[bool]string{false: "before the effect ", true: "after the effect "}[after]+key, func(t *testing.T) {
				t.Parallel()
				first := coretest.Open(t)
				txn := MustWait(t, first)
				var dir string
				lose(first, coretest.Authorize, after, func() { dir = first.Snapshot(t) })
				if a, err := first.Confirm(t.Context(), first.Request(key), txn); err != nil || a.Status != 504 {
					t.Fatalf("got %d, %v, want 504", a.Status, err)
				}
				s := first.Revive(t, dir)
				if got := MustTransaction(t, s).Status; got != payment.Processing {
					t.Fatalf("left behind: got %s, want processing", got)
				}
				if open := s.Recover(t); open != 0 {
					t.Fatalf("%d stay open", open)
				}
				if after {
					wantConfirmed(t, s, key)
					return
				}
				wantNoEffect(t, s)
			})
		}
	}
}

// TestWaitingIsLeftAlone: neither recovery nor a restart changes a payment that waits for its
// payer.
func TestWaitingIsLeftAlone(t *testing.T) {
	t.Parallel()
	first := coretest.Open(t)
	txn := MustWait(t, first)
	s := first.Revive(t, first.Snapshot(t))
	if open := s.Recover(t); open != 0 {
		t.Errorf("%d are open", open)
	}
	if got := MustTransaction(t, s); got.Status != payment.RequiresConfirmation || got.Version != 0 {
		t.Errorf("got %s version %d, want it to wait", got.Status, got.Version)
	}
	if a, err := s.Confirm(t.Context(), s.Request("k"), txn); err != nil || a.Status != 200 {
		t.Fatalf("got %d, %v", a.Status, err)
	}
	wantConfirmed(t, s, "k")
}

// TestARefusedConfirmationOfALostClientCounts: a payer that hangs up before the response comes does
// not avoid the count.
func TestARefusedConfirmationOfALostClientCounts(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	txn := MustWait(t, s)
	waiting, err := s.DB.Transaction(t.Context(), s.Tenant, txn)
	if err != nil {
		t.Fatal(err)
	}
	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	refusal := &payment.Refusal{Code: "token_used"}
	for _, replayed := range []bool{false, true} {
		a, err := s.Engine.RefuseConfirmation(gone, s.Request("k"), waiting, refusal)
		if err != nil || a.Status != 400 || a.Replayed != replayed {
			t.Errorf("got %+v, %v, want 400, replayed %t", a, err, replayed)
		}
	}
	if got := s.Number(t, "SELECT refused_confirmations FROM transactions"); got != 1 {
		t.Errorf("counted %d, want 1", got)
	}
}
