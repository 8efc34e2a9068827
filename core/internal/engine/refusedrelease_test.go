package engine_test

import (
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
)

// unwanted are the approvals that take money and must be released. Each returns the service after
// the approval arrived, before a look has found it.
func unwanted() map[string]func(*testing.T) *coretest.Service {
	return map[string]func(*testing.T) *coretest.Service{
		"sale": func(t *testing.T) *coretest.Service {
			t.Helper()
			s := closings()["failed"](t)
			s.Recover(t)
			arrive(t, s, reference(t, s))
			return s
		},
		"capture": func(t *testing.T) *coretest.Service { // another took the amount
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

// TestAcquirerRefusesToLetGo: core requests the release of money that was taken under another
// reference each time, more and more rarely but without end, and every other time by a refund.
func TestAcquirerRefusesToLetGo(t *testing.T) {
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
				wantLetGo(t, s)
			})
		}
	}
}
