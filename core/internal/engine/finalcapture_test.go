package engine_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
)

// TestFinalCaptureReleasesTheRest: after a capture of 40 of 100 the acquirer holds the rest; after
// a final capture it does not. The cases are the first attempt, a lost request or response, and a
// repeated request. After a capture of the whole amount there is no rest.
func TestFinalCaptureReleasesTheRest(t *testing.T) {
	t.Parallel()
	lost := func(context.Context, coretest.Call) error { return acquirer.ErrUnknown }
	faults := map[string]func(*coretest.Service){
		"immediately":   func(*coretest.Service) {},
		"request lost":  func(s *coretest.Service) { s.Acquirer.Before = lost },
		"response lost": func(s *coretest.Service) { s.Acquirer.After = lost },
	}
	for name, fail := range faults {
		for _, c := range []struct {
			amount, want int64
			final        bool
		}{{40, 100, false}, {40, 40, true}, {0, 100, true}} {
			t.Run(fmt.Sprintf("%s, %d, %t", name, c.amount, c.final), func(t *testing.T) {
				t.Parallel()
				s := coretest.Open(t)
				if a, err := s.Pay(t.Context(), s.Request(""), 100, false); err != nil || a.Status != 201 {
					t.Fatalf("pay: got %d, %v, want 201", a.Status, err)
				}
				fail(s)
				txn := s.Number(t, "SELECT id FROM transactions")
				r := s.Request("k")
				if _, err := s.Engine.Capture(t.Context(), r, txn, c.amount, c.final, nil); err != nil {
					t.Fatal(err)
				}
				heal(s)
				s.Recover(t)
				if a, err := s.Engine.Capture(t.Context(), r, txn, c.amount, c.final, nil); err != nil || a.Status != 201 {
					t.Errorf("the retry: got %d, %v, want 201", a.Status, err)
				}
				if got := s.Acquirer.Held(id.Format(id.Transaction, txn)); got != c.want {
					t.Errorf("held or taken at the acquirer: got %d, want %d", got, c.want)
				}
				if got := len(s.Acquirer.Calls(coretest.Void)); got != 0 {
					t.Errorf("releases: got %d, want none", got)
				}
			})
		}
	}
}

// TestCapturesOnce: an acquirer that makes one capture of an authorization releases the rest of
// each. So no rest remains, whether the response arrives, is lost, is reported by an operator or is
// found late. The client did not request a final capture.
func TestCapturesOnce(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]bool{"immediately": false, "recovered": true, "resolved": true, "late": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := coretest.OpenLive(t)
			s.Accounts.CaptureOnce(coretest.LiveAccount)
			if a, err := s.Pay(t.Context(), s.Request(""), 100, false); err != nil || a.Status != 201 {
				t.Fatalf("pay: got %d, %v, want 201", a.Status, err)
			}
			if lost {
				lose(s, coretest.Capture, true, nil)
			}
			txn := MustTransaction(t, s).ID
			if _, err := s.Engine.Capture(t.Context(), s.Request("k"), txn, 40, false, nil); err != nil {
				t.Fatal(err)
			}
			heal(s)
			switch name {
			case "resolved":
				s.Clock.Advance(engine.Patience)
				mustResolve(t, s, payment.CaptureStep, engine.DecisionApproved)
			case "late":
				s.Clock.Advance(engine.Patience)
				mustResolve(t, s, payment.CaptureStep, engine.DecisionNoEffect)
				lookUntilTheEnd(t, s)
			default:
				s.Recover(t)
			}
			got := MustTransaction(t, s)
			if got.Status != payment.Captured || got.Captured != 40 || got.Capturable() != 0 {
				t.Errorf("got %s, captured %d, capturable %d, want captured, 40, 0", got.Status, got.Captured, got.Capturable())
			}
			if final := s.Number(t, "SELECT final FROM captures"); final != 1 {
				t.Errorf("the capture shows final %d, want 1", final)
			}
			if held := s.Acquirer.Held(id.Format(id.Transaction, txn)); held != 40 {
				t.Errorf("held or taken at the acquirer: got %d, want 40", held)
			}
			if a, err := s.Engine.Capture(t.Context(), s.Request("l"), txn, 10, false, nil); err != nil || a.Status != 409 {
				t.Errorf("another capture: got %d %s, %v, want 409", a.Status, a.Body, err)
			}
			if calls := s.Acquirer.Calls(coretest.Capture); len(calls) > 2 {
				t.Errorf("got %+v, want no other capture", calls)
			}
		})
	}
}
