package engine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// unwanted returns the cases of an approval that must be released. Each returns the service after
// the approval, before a look has found it.
func unwanted() map[string]func(*testing.T) *coretest.Service {
	return map[string]func(*testing.T) *coretest.Service{
		"sale": func(t *testing.T) *coretest.Service {
			t.Helper()
			s := closings()["failed"](t)
			s.Recover(t)
			arrive(t, s, reference(t, s))
			return s
		},
		"capture": func(t *testing.T) *coretest.Service { // another capture took the amount
			t.Helper()
			s := coretest.Open(t)
			if a, err := s.Pay(t.Context(), s.Request(""), 100, false); err != nil || a.Status != 201 {
				t.Fatalf("got %d, %v", a.Status, err)
			}
			txn := MustTransaction(t, s).ID
			lose(s, coretest.Capture, true, nil)
			if a, err := s.Engine.Capture(t.Context(), s.Request("k"), txn, 100, false, nil); err != nil || a.Status != 504 {
				t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
			}
			heal(s)
			reportsDecline(s, coretest.Capture)
			s.Recover(t)
			heal(s)
			if a, err := s.Engine.Capture(t.Context(), s.Request("l"), txn, 60, true, nil); err != nil || a.Status != 201 {
				t.Fatalf("the other: got %d %s, %v", a.Status, a.Body, err)
			}
			return s
		},
	}
}

// TestAcquirerRefusesToRelease: the acquirer refuses every release of money that it took. Core
// repeats the request without end, each time with another reference and after a longer pause. Every
// other request is a refund.
func TestAcquirerRefusesToRelease(t *testing.T) {
	t.Parallel()
	for name, prepare := range unwanted() {
		for _, yields := range []coretest.Verb{coretest.Void, coretest.Refund} {
			t.Run(name+" "+string(yields), func(t *testing.T) {
				t.Parallel()
				s := prepare(t)
				dropped, released := len(s.Acquirer.Calls(coretest.Void)), s.Acquirer.Moved(yields)
				s.Acquirer.Decide = func(coretest.Call) string { return "processing_error" }
				look(t, s)
				for _, pause := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60, 60} {
					due := s.Number(t, "SELECT due_at FROM reversals")
					if got := time.UnixMilli(due).Sub(s.Clock.Now()); got != pause*time.Minute {
						t.Errorf("pause: got %s, want %d min", got, pause)
					}
					look(t, s)
				}
				if got := s.Acquirer.Moved(yields) - released; got != 0 {
					t.Errorf("released: got %d, want nothing", got)
				}
				names := map[string]bool{}
				voids, refunds := s.Acquirer.Calls(coretest.Void)[dropped:], s.Acquirer.Calls(coretest.Refund)
				for _, c := range append(voids, refunds...) {
					names[c.Reference] = true
				}
				if len(names) != 10 || len(refunds) != 5 {
					t.Errorf("got %d names, %d refunds, want 10 and 5", len(names), len(refunds))
				}
				s.Acquirer.Decide = func(c coretest.Call) string {
					if c.Verb == yields {
						return ""
					}
					return "processing_error"
				}
				look(t, s)
				look(t, s)
				if got := s.Acquirer.Moved(yields) - released; got != 100 {
					t.Errorf("released: got %d, want 100", got)
				}
				if got := s.Number(t, "SELECT COUNT(*) FROM reversals"); got != 0 {
					t.Error("there is no end to it")
				}
				heal(s)
				wantAllReleased(t, s)
			})
		}
	}
}

// refusesVoids makes the acquirer refuse every void.
func refusesVoids(s *coretest.Service) {
	s.Acquirer.Decide = func(c coretest.Call) string {
		if c.Verb == coretest.Void {
			return "processing_error"
		}
		return ""
	}
}

// wantPartPending checks that the only payment was declined with the release of its part of 40
// pending. Then the acquirer releases it under another reference than the refused one.
func wantPartPending(t *testing.T, s *coretest.Service) {
	t.Helper()
	wantSettledBooks(t, s)
	if got := MustTransaction(t, s); got.Status != payment.Declined || got.Result.DeclineCode != "insufficient_funds" {
		t.Errorf("got %s, %q, want declined", got.Status, got.Result.DeclineCode)
	}
	if got := s.Number(t, "SELECT SUM(held) FROM reversals"); got != 40 {
		t.Errorf("pending: got %d, want 40", got)
	}
	if got := s.Acquirer.HeldInAll(); got != 40 {
		t.Errorf("held: got %d, want 40", got)
	}
	heal(s)
	lookUntilTheEnd(t, s)
	if got := s.Acquirer.HeldInAll(); got != 0 {
		t.Errorf("held in the end: got %d, want nothing", got)
	}
	if a, err := s.Pay(t.Context(), s.Request("k"), 100, true); err != nil || a.Status != 402 || !a.Replayed {
		t.Errorf("a retry: got %d %s, %v, want the decline", a.Status, a.Body, err)
	}
}

// TestRefusedReleaseOfAPart: the acquirer approves 40 of 100, and refuses to release them. The
// cases are: the request gets these responses, one response is lost, or the process dies at one of
// them.
func TestRefusedReleaseOfAPart(t *testing.T) {
	t.Parallel()
	for _, at := range []struct {
		name string
		lost coretest.Verb // the response that is lost, "" for none
		dies bool
	}{
		{name: "arrives"},
		{name: "the approval is lost", lost: coretest.Authorize},
		{name: "the refusal is lost", lost: coretest.Void},
		{name: "dies after the approval", lost: coretest.Authorize, dies: true},
		{name: "dies after the refusal", lost: coretest.Void, dies: true},
	} {
		t.Run(at.name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			approving(s, 40)
			refusesVoids(s)
			dir, want := "", 402
			if at.lost != "" {
				want = 504
				lose(s, at.lost, true, func() {
					if at.dies {
						dir = s.Snapshot(t)
					}
				})
			}
			if a, err := s.Pay(t.Context(), s.Request("k"), 100, true); err != nil || a.Status != want {
				t.Fatalf("got %d %s, %v, want %d", a.Status, a.Body, err, want)
			}
			if at.dies {
				s = s.Revive(t, dir)
			}
			heal(s)
			refusesVoids(s)
			if open := s.Recover(t); open != 0 {
				t.Errorf("%d stay open", open)
			}
			wantPartPending(t, s)
		})
	}
}

// TestRefusedReleaseOfAPartByTwo: recovery and the request find the part, and both get the refusal.
// The payment was declined because of this part, so its approval is no contradiction, even if the
// pending reversal has ended.
func TestRefusedReleaseOfAPartByTwo(t *testing.T) {
	t.Parallel()
	for _, ended := range []bool{false, true} {
		t.Run(fmt.Sprint("reversal ended ", ended), func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			alerts := observed(s)
			approving(s, 40)
			refusesVoids(s)
			s.Acquirer.After = func(_ context.Context, c coretest.Call) error {
				if c.Verb != coretest.Authorize {
					return nil
				}
				s.Acquirer.After = nil
				s.Recover(t) //nolint:contextcheck // it is the test's
				if ended {
					s.Acquirer.Decide = nil
					lookUntilTheEnd(t, s) //nolint:contextcheck // the test's
				}
				return nil
			}
			if a, err := s.Pay(t.Context(), s.Request("k"), 100, true); err != nil || a.Status != 504 {
				t.Errorf("got %d %s, %v, want 504", a.Status, a.Body, err)
			}
			if got := s.Number(t, "SELECT COUNT(*) FROM reversals"); got != 1 {
				t.Errorf("reversals: got %d, want 1", got)
			}
			if !ended {
				wantPartPending(t, s)
			}
			lookUntilTheEnd(t, s)
			if got := s.Acquirer.HeldInAll(); got != 0 {
				t.Errorf("held: got %d, want nothing", got)
			}
			wantSettledBooks(t, s)
			alerts.want(t)
		})
	}
}

// TestRefusedReleaseOfAPartOfADeclinedPayment: the payment was closed without a reversal, as by an
// acquirer that contradicts itself. Then the part that the acquirer still holds gets a reversal.
func TestRefusedReleaseOfAPartOfADeclinedPayment(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	alerts := observed(s)
	approving(s, 40)
	refusesVoids(s)
	s.Acquirer.After = func(_ context.Context, c coretest.Call) error {
		if c.Verb == coretest.Authorize {
			s.MustExec(t, "UPDATE transactions SET status = 'declined', claim = 0, version = 1") //nolint:contextcheck // the test's
			s.MustExec(t, "DELETE FROM idempotency_keys")                                        //nolint:contextcheck // the test's
		}
		return nil
	}
	if a, err := s.Pay(t.Context(), s.Request("k"), 100, true); err != nil || a.Status != 504 {
		t.Errorf("got %d %s, %v, want 504", a.Status, a.Body, err)
	}
	heal(s)
	lookUntilTheEnd(t, s)
	if got := s.Acquirer.HeldInAll(); got != 0 {
		t.Errorf("held: got %d, want nothing", got)
	}
	alerts.want(t, "authorize late_reversed")
}
