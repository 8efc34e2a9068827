package engine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
)

// MustGiveSlowly makes an unlinked refund whose request is in the acquirer's queue: it is neither
// processed nor known. It returns the request.
func MustGiveSlowly(t *testing.T, s *coretest.Service) coretest.Call {
	t.Helper()
	var sent coretest.Call
	s.Acquirer.Before = func(_ context.Context, c coretest.Call) error {
		if c.Verb == coretest.Credit {
			sent = c
			return acquirer.ErrUnknown
		}
		return nil
	}
	if a, err := give(t.Context(), s, "k", "card"); err != nil || a.Status != 504 {
		t.Fatalf("got %d %s, %v, want 504", a.Status, a.Body, err)
	}
	heal(s)
	s.Recover(t)
	return sent
}

// process makes the acquirer process a queued unlinked refund.
func process(t *testing.T, s *coretest.Service, c coretest.Call) {
	t.Helper()
	if a, err := s.Acquirer.Credit(t.Context(), acquirer.Credit{Reference: c.Reference, Amount: c.Amount, Currency: "usd"}); err != nil || !a.Approved {
		t.Fatalf("got %+v, %v", a, err)
	}
}

// wantGivenOnce checks that a refund was paid once, and that retries under its key return its
// response for a day.
func wantGivenOnce(t *testing.T, s *coretest.Service) {
	t.Helper()
	wantGiven(t, s, "succeeded", 100)
	for _, later := range []time.Duration{0, time.Minute, 22 * time.Hour} {
		s.Clock.Advance(later)
		if a, err := give(t.Context(), s, "k", "card"); err != nil || a.Status != 201 || !a.Replayed {
			t.Errorf("a retry %s later: got %d %s replayed %t, %v", later, a.Status, a.Body, a.Replayed, err)
		}
	}
	wantGiven(t, s, "succeeded", 100)
	if got := s.Number(t, "SELECT COUNT(*) FROM reversals"); got != 0 {
		t.Error("it is still looked for")
	}
}

// TestSlowUnlinkedRefund: the acquirer processes the request after core's drop request, and after a
// number of looks.
func TestSlowUnlinkedRefund(t *testing.T) {
	t.Parallel()
	for _, after := range []int{0, 1, 2, 13, 32} {
		t.Run(fmt.Sprint(after), func(t *testing.T) {
			t.Parallel()
			s := MustOpenGiving(t)
			sent := MustGiveSlowly(t, s)
			for range after {
				look(t, s)
				wantPending(t, s, "k")
			}
			process(t, s, sent)
			wantPending(t, s, "k")
			lookUntilTheEnd(t, s)
			wantGivenOnce(t, s)
		})
	}
}

// TestStalledUnlinkedRefund: the core stalls between the intent and the call. Recovery finds
// nothing and has the request dropped. Then the core sends it, and the acquirer processes it. Its
// response does not end the refund, because the acquirer may still drop it. The look decides.
func TestStalledUnlinkedRefund(t *testing.T) {
	t.Parallel()
	for _, lost := range []bool{false, true} {
		t.Run(fmt.Sprint("response lost ", lost), func(t *testing.T) {
			t.Parallel()
			s := MustOpenGiving(t)
			first := true
			s.Acquirer.Before = func(_ context.Context, c coretest.Call) error {
				if c.Verb == coretest.Credit && first {
					first = false
					s.Recover(t) //nolint:contextcheck // it is the test's
				}
				return nil
			}
			if lost {
				s.Acquirer.After = func(_ context.Context, c coretest.Call) error {
					if c.Verb == coretest.Credit {
						return acquirer.ErrUnknown
					}
					return nil
				}
			}
			alerts := observed(s)
			if a, err := give(t.Context(), s, "k", "card"); err != nil || a.Status != 504 {
				t.Errorf("got %d %s, %v, want 504", a.Status, a.Body, err)
			}
			heal(s)
			wantPending(t, s, "k")
			lookUntilTheEnd(t, s)
			wantGivenOnce(t, s)
			alerts.want(t, "refund late_recorded")
		})
	}
}

// TestUnavailableAfterAReclaim: the first attempt of an unlinked refund certainly had no effect,
// but recovery has it. It stays pending.
func TestUnavailableAfterAReclaim(t *testing.T) {
	t.Parallel()
	s := MustOpenGiving(t)
	s.Acquirer.Before = func(_ context.Context, c coretest.Call) error {
		if c.Verb != coretest.Credit {
			return nil
		}
		s.Recover(t) //nolint:contextcheck // it is the test's
		return acquirer.ErrUnavailable
	}
	if a, err := give(t.Context(), s, "k", "card"); err != nil || a.Status != 504 {
		t.Errorf("got %d %s, %v, want 504", a.Status, a.Body, err)
	}
	heal(s)
	wantPending(t, s, "k")
	lookUntilTheEnd(t, s)
	wantGiven(t, s, "failed", 0)
}

// TestClockJumpsDuringTheLook: a clock that jumps a day ends no look early, and holds none up.
func TestClockJumpsDuringTheLook(t *testing.T) {
	t.Parallel()
	for _, jump := range []time.Duration{24 * time.Hour, -24 * time.Hour} {
		t.Run(jump.String(), func(t *testing.T) {
			t.Parallel()
			s := MustOpenGiving(t)
			sent := MustGiveSlowly(t, s)
			look(t, s)
			s.Clock.Advance(jump)
			s.Recover(t)
			s.Clock.Advance(10 * time.Minute)
			s.Recover(t)
			wantPending(t, s, "k")
			process(t, s, sent)
			s.Clock.Advance(2 * time.Hour)
			s.Recover(t)
			wantGiven(t, s, "succeeded", 100)
		})
	}
}

// TestDeclinedAfterTheLookBegan: core requests that the acquirer drop a refund, and the acquirer
// declines the refund. The refund has failed.
func TestDeclinedAfterTheLookBegan(t *testing.T) {
	t.Parallel()
	s := MustOpenGiving(t)
	sent := MustGiveSlowly(t, s)
	s.Acquirer.Decide = func(coretest.Call) string { return "generic_decline" }
	if a, err := s.Acquirer.Credit(t.Context(), acquirer.Credit{Reference: sent.Reference, Amount: 100, Currency: "usd"}); err != nil || a.Approved {
		t.Fatalf("got %+v, %v", a, err)
	}
	heal(s)
	lookUntilTheEnd(t, s)
	wantGiven(t, s, "failed", 0)
	if a, err := give(t.Context(), s, "k", "card"); err != nil || a.Status != 402 || !a.Replayed {
		t.Errorf("a retry: got %d %s, %v, want the decline", a.Status, a.Body, err)
	}
}
