package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// TestRecoveryShowsDetails: a finished step shows the merchant's details, although the pages of
// unfinished steps do not have them. No page reads them: one merchant's details of many steps would
// fill the memory in each pass.
func TestRecoveryShowsDetails(t *testing.T) {
	t.Parallel()
	const details = `{"metadata":{"order":"kept"}}`
	for _, st := range steps() {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			r := serving(t, s)
			st.mustLoseOutcome(t, s, true)
			for _, table := range []string{"transactions", "captures", "refunds"} {
				s.MustExec(t, "UPDATE "+table+" SET details = ?", details)
			}
			s.Clock.Advance(200 * time.Millisecond)
			wantNoDetails(t, s)
			pass(t, r, 1)
			st.wantDone(t, s)
			if got := st.wantResponse(t, s, st.success, true); !strings.Contains(string(got), `"order":"kept"`) {
				t.Errorf("response: got %s, want the details in it", got)
			}
		})
	}
}

// wantNoDetails checks that no page of unfinished steps has details.
func wantNoDetails(t *testing.T, s *coretest.Service) {
	t.Helper()
	const before = 1 << 62
	all := store.StepPage{Limit: 100}
	transactions, err := s.DB.OpenTransactions(t.Context(), before, all)
	captures, errCaptures := s.DB.OpenCaptures(t.Context(), before, all)
	refunds, errRefunds := s.DB.OpenRefunds(t.Context(), before, all)
	if err != nil || errCaptures != nil || errRefunds != nil {
		t.Fatal(err, errCaptures, errRefunds)
	}
	if len(transactions)+len(captures)+len(refunds) != 1 {
		t.Errorf("got %d transactions, %d captures, %d refunds, want one step", len(transactions), len(captures), len(refunds))
	}
	for _, o := range transactions {
		if len(o.Row.Details) > 0 {
			t.Errorf("a transaction: got %s, want no details", o.Row.Details)
		}
	}
	for _, c := range captures {
		if len(c.Row.Details) > 0 {
			t.Errorf("a capture: got %s, want no details", c.Row.Details)
		}
	}
	for _, f := range refunds {
		if len(f.Row.Details) > 0 {
			t.Errorf("a refund: got %s, want no details", f.Row.Details)
		}
	}
}
