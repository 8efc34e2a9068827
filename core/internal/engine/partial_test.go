package engine_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// approving makes the acquirer approve only the given amount of every authorization.
func approving(s *coretest.Service, amount int64) {
	s.Acquirer.Grant = func(coretest.Call) int64 { return amount }
}

// wantPartReversed checks that the only payment was declined for insufficient funds, and that its
// approved part was reversed once. Each event of it must exist once.
func wantPartReversed(t *testing.T, s *coretest.Service, held int64) {
	t.Helper()
	wantSettledBooks(t, s)
	got := MustTransaction(t, s)
	status, event := payment.Declined, "[transaction.declined]"
	if got.Attempt > 0 { // its confirmation was declined, and another one can follow
		status, event = payment.RequiresConfirmation, "[transaction.confirmation_declined]"
	}
	if got.Status != status || got.Authorized != 0 || got.Captured != 0 || got.Result.DeclineCode != "insufficient_funds" {
		t.Errorf("got %s of %d, captured %d, %q", got.Status, got.Authorized, got.Captured, got.Result.DeclineCode)
	}
	if !got.Result.ExpiresAt.IsZero() || s.Number(t, "SELECT COUNT(*) FROM captures") != 0 {
		t.Errorf("got %+v, want nothing that expires or is captured", got.Result)
	}
	if got := s.Acquirer.Moved(coretest.Void); got != held {
		t.Errorf("reversed: got %d, want %d", got, held)
	}
	if got := fmt.Sprint(s.Texts(t, "SELECT type FROM events")); got != event {
		t.Errorf("events: got %s, want %s", got, event)
	}
}

func TestUnrequestedPartialApproval(t *testing.T) {
	t.Parallel()
	for _, capture := range []bool{false, true} {
		for _, held := range []int64{1, 99} {
			s := coretest.Open(t)
			approving(s, held)
			a, err := s.Pay(t.Context(), s.Request("k"), 100, capture)
			if err != nil || a.Status != 402 {
				t.Fatalf("got %d %s, %v, want 402", a.Status, a.Body, err)
			}
			wantPartReversed(t, s, held)
			voids := s.Acquirer.Calls(coretest.Void)
			if paid := s.Acquirer.Calls(coretest.Authorize); len(voids) != 1 || voids[0].Authorization != paid[0].Reference {
				t.Errorf("got %+v, want one reversal of %s", voids, paid[0].Reference)
			}
			again, err := s.Pay(t.Context(), s.Request("k"), 100, capture)
			if err != nil || !again.Replayed || string(again.Body) != string(a.Body) {
				t.Errorf("again: got %s, %v, want %s", again.Body, err, a.Body)
			}
			wantPartReversed(t, s, held)
		}
	}
}

// TestFullApprovalIsNoPartialApproval checks approvals at and just below the full amount, and the
// request that the acquirer gets.
func TestFullApprovalIsNoPartialApproval(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		amount, approved int64
		partial          bool
		status           payment.Status
	}{
		{100, 100, false, payment.Captured},
		{100, 100, true, payment.Captured},
		{100, 99, true, payment.Captured},
		{100, 1, true, payment.Captured},
		{1, 1, false, payment.Captured},
	} {
		s := coretest.Open(t)
		w := watch(t, s)
		approving(s, c.approved)
		pay := s.Pay
		if c.partial {
			pay = s.PayPart
		}
		a, err := pay(t.Context(), s.Request(""), c.amount, true)
		if err != nil || a.Status != 201 {
			t.Fatalf("%+v: got %d %s, %v", c, a.Status, a.Body, err)
		}
		got := MustTransaction(t, s)
		if got.Status != c.status || got.Authorized != c.approved || got.Captured != c.approved || got.Refundable() != c.approved || got.Partial != c.partial {
			t.Errorf("%+v: got %+v", c, got)
		}
		if len(w.partial) != 1 || w.partial[0] != c.partial {
			t.Errorf("%+v: the acquirer got %v", c, w.partial)
		}
		if voids := s.Acquirer.Calls(coretest.Void); len(voids) != 0 {
			t.Errorf("%+v: reversed %+v", c, voids)
		}
		wantSettledBooks(t, s)
	}
}

// TestKilledWithAPartialApproval: the process dies at each point. The money is released once, and
// the payment is declined once.
func TestKilledWithAPartialApproval(t *testing.T) {
	t.Parallel()
	for _, at := range []struct {
		name  string
		verb  coretest.Verb
		after bool
	}{
		{"the approval was lost", coretest.Authorize, true},
		{"before the reversal", coretest.Void, false},
		{"after the reversal", coretest.Void, true},
	} {
		for _, key := range []string{"", "k"} {
			t.Run(at.name+" "+key, func(t *testing.T) {
				t.Parallel()
				first := coretest.Open(t)
				approving(first, 40)
				var dir string
				lose(first, at.verb, at.after, func() { dir = first.Snapshot(t) })
				if a, err := first.Pay(t.Context(), first.Request(key), 100, true); err != nil || a.Status != 504 {
					t.Fatalf("got %d %s, %v, want 504", a.Status, a.Body, err)
				}
				s := first.Revive(t, dir)
				if got := s.Recover(t); got != 0 {
					t.Fatalf("%d stay open", got)
				}
				wantPartReversed(t, s, 40)
				if key == "" {
					return
				}
				if a, err := s.Pay(t.Context(), s.Request(key), 100, true); err != nil || a.Status != 402 || !a.Replayed {
					t.Errorf("again: got %d %s, %v", a.Status, a.Body, err)
				}
				wantPartReversed(t, s, 40)
			})
		}
	}
}

// TestPartialApprovalThatStays: while the acquirer holds the part, the payment is not shown as
// declined.
func TestPartialApprovalThatStays(t *testing.T) {
	t.Parallel()
	for name, stubborn := range map[string]func(*coretest.Service){
		"away": func(s *coretest.Service) {
			s.Acquirer.Before = func(_ context.Context, c coretest.Call) error {
				if c.Verb == coretest.Void {
					return acquirer.ErrUnavailable
				}
				return nil
			}
		},
		"lost": func(s *coretest.Service) { lose(s, coretest.Void, false, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			approving(s, 40)
			stubborn(s)
			if a, err := s.Pay(t.Context(), s.Request("k"), 100, false); err != nil || a.Status != 504 {
				t.Fatalf("got %d %s, %v, want 504", a.Status, a.Body, err)
			}
			for range 2 {
				if got := s.Recover(t); got != 1 {
					t.Fatalf("%d stay open, want 1", got)
				}
				if got := MustTransaction(t, s); got.Status != payment.Unknown || got.Version != 0 {
					t.Errorf("got %s version %d", got.Status, got.Version)
				}
			}
			heal(s)
			if got := s.Recover(t); got != 0 {
				t.Fatalf("%d stay open", got)
			}
			wantPartReversed(t, s, 40)
		})
	}
}

// TestPartialApprovalAfterTheReversal: the payment was reversed and closed before the acquirer
// approved a part of it.
func TestPartialApprovalAfterTheReversal(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	approving(s, 40)
	s.Acquirer.Before = func(_ context.Context, c coretest.Call) error {
		if c.Verb != coretest.Authorize {
			return nil
		}
		s.Acquirer.Before = nil
		if open := s.Recover(t); open != 0 { //nolint:contextcheck // it is the test's
			t.Errorf("%d stay open", open)
		}
		return nil
	}
	if a, err := s.Pay(t.Context(), s.Request(""), 100, true); err != nil || a.Status != 504 {
		t.Fatalf("got %d, %v: %s", a.Status, err, a.Body)
	}
	voids := s.Acquirer.Calls(coretest.Void)
	if len(voids) != 2 || voids[1].Reference == voids[0].Reference || voids[1].Amount != 40 {
		t.Fatalf("got %+v, want the reversal and another of 40", voids)
	}
	if got := MustTransaction(t, s); got.Status != payment.Failed {
		t.Errorf("got %s, want failed", got.Status)
	}
	wantSettledBooks(t, s)
}

// TestPartialApprovalByTwo: the request and recovery get the outcome at the same time.
func TestPartialApprovalByTwo(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	approving(s, 40)
	s.Acquirer.After = func(_ context.Context, c coretest.Call) error {
		if c.Verb != coretest.Authorize {
			return nil
		}
		s.Acquirer.After = nil
		if open := s.Recover(t); open != 0 { //nolint:contextcheck // it is the test's
			t.Errorf("%d stay open", open)
		}
		return nil
	}
	if a, err := s.Pay(t.Context(), s.Request("k"), 100, true); err != nil || a.Status != 504 {
		t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
	}
	wantPartReversed(t, s, 40)
	if a, err := s.Pay(t.Context(), s.Request("k"), 100, true); err != nil || a.Status != 402 || !a.Replayed {
		t.Errorf("again: got %d %s, %v", a.Status, a.Body, err)
	}
}

// TestPartialConfirmation: the setting in the create request applies to the confirmation.
func TestPartialConfirmation(t *testing.T) {
	t.Parallel()
	for _, partial := range []bool{false, true} {
		s := coretest.Open(t)
		approving(s, 40)
		a, err := s.Engine.Prepare(t.Context(), s.Request(""), engine.Payment{Amount: 100, Currency: "usd", AutoCapture: true, Partial: partial, Details: []byte("{}")})
		if err != nil || a.Status != 201 {
			t.Fatalf("got %d, %v", a.Status, err)
		}
		a, err = s.Confirm(t.Context(), s.Request(""), s.Number(t, "SELECT id FROM transactions"))
		if err != nil {
			t.Fatal(err)
		}
		if !partial {
			if a.Status != 402 {
				t.Errorf("got %d %s, want 402", a.Status, a.Body)
			}
			wantPartReversed(t, s, 40)
			continue
		}
		if got := MustTransaction(t, s); a.Status != 200 || got.Captured != 40 || !got.Partial {
			t.Errorf("got %d, %+v", a.Status, got)
		}
	}
}
