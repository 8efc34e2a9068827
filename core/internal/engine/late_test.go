package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
)

// TestApprovalAfterTheReversal: the acquirer acts only after recovery has inquired about the
// payment, reversed and closed it. It then releases the money that it holds.
func TestApprovalAfterTheReversal(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"", "k"} {
		t.Run("key "+key, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			recoverAll := recoversAll(t, s)
			s.Acquirer.Before = func(_ context.Context, c coretest.Call) error {
				if c.Verb == coretest.Authorize {
					heal(s)
					recoverAll()
				}
				return nil
			}
			if a, err := s.Pay(t.Context(), s.Request(key), 100, true); err != nil || a.Status != 504 {
				t.Fatalf("got %d, %v: %s", a.Status, err, a.Body)
			}
			s.Recover(t)
			voids := s.Acquirer.Calls(coretest.Void)
			if len(voids) != 2 || voids[1].Reference == voids[0].Reference || voids[1].Amount != 100 {
				t.Fatalf("got %+v, want the reversal and another", voids)
			}
			if authorized := s.Acquirer.Calls(coretest.Authorize); voids[1].Authorization != authorized[0].Reference {
				t.Errorf("got %+v, want it of %s", voids[1], authorized[0].Reference)
			}
			wantSettledBooks(t, s)
			if got := s.Number(t, "SELECT COUNT(*) FROM transactions WHERE amount_authorized > 0"); got != 0 {
				t.Errorf("%d payments hold money", got)
			}
			if !strings.Contains(s.Log.String(), "late approval") {
				t.Error("the log does not show the late approval")
			}
		})
	}
}

// TestApprovalThatRecoveryFoundFirst: a late approval is not reversed if recovery has found it
// first.
func TestApprovalThatRecoveryFoundFirst(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	recoverAll := recoversAll(t, s)
	s.Acquirer.After = func(_ context.Context, c coretest.Call) error {
		if c.Verb == coretest.Authorize {
			heal(s)
			recoverAll()
		}
		return nil
	}
	if a, err := s.Pay(t.Context(), s.Request("k"), 100, true); err != nil || a.Status != 504 {
		t.Fatalf("got %d, %v: %s", a.Status, err, a.Body)
	}
	if voids := s.Acquirer.Calls(coretest.Void); len(voids) != 0 {
		t.Errorf("got %+v, want none", voids)
	}
	if got := MustTransaction(t, s); got.Captured != 100 {
		t.Errorf("got %+v, want it captured", got)
	}
	if a, err := s.Pay(t.Context(), s.Request("k"), 100, true); err != nil || a.Status != 201 || !a.Replayed {
		t.Errorf("again: got %d, %v", a.Status, err)
	}
	wantSettledBooks(t, s)
}
