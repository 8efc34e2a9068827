package engine_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/shared/id"
)

// TestReportsBehindUnreadable: reports that always fail delay no later one. A round begins its
// requests where the last one has failed, and the round after it begins again.
func TestReportsBehindUnreadable(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	unreadable := map[string]bool{}
	for range 3 {
		unreadable[id.Format(id.Transaction, mustPay(t, s, true))] = true
	}
	later := mustPay(t, s, true)
	var sizes []int
	s.Acquirer.Settle = func(_ context.Context, of []acquirer.Sent) ([]acquirer.Settlement, error) {
		sizes = append(sizes, len(of))
		out := make([]acquirer.Settlement, len(of))
		for i, sent := range of {
			if out[i] = (acquirer.Settlement{State: acquirer.Settled}); unreadable[sent.Reference] {
				if out[i] = (acquirer.Settlement{Reason: "HTTP 500"}); i == 2 {
					return out, errForGood
				}
			}
		}
		return out, nil
	}
	s.Clock.Advance(settlementDay)
	r := s.Engine.NewReports()
	round := func() {
		t.Helper()
		if err := r.Pass(t.Context()); err != nil {
			t.Error(err)
		}
		r.Wait()
		s.Clock.Advance(15 * time.Minute)
	}
	round()
	round()
	if got := mustTransaction(t, s, later).Settled; got != 100 {
		t.Errorf("settled: got %d, want 100", got)
	}
	round()
	if want := []int{4, 1, 3}; !slices.Equal(sizes, want) {
		t.Errorf("requests of %v captures, want %v", sizes, want)
	}
	s.Clock.Advance(4 * 24 * time.Hour)
	round()
	round()
	wantExceptions(t, s, "after four days",
		"unreported: HTTP 500", "unreported: HTTP 500", "unreported: HTTP 500")
}

// TestReportsBehindAPage: a page without any report delays no later page.
func TestReportsBehindAPage(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	mustPay(t, s, true)
	manyCaptures(t, s, 450)
	var sizes []int
	s.Acquirer.Settle = func(_ context.Context, of []acquirer.Sent) ([]acquirer.Settlement, error) {
		sizes = append(sizes, len(of))
		return nil, errForGood
	}
	s.Clock.Advance(settlementDay)
	r := s.Engine.NewReports()
	for range 4 {
		if err := r.Pass(t.Context()); err != nil {
			t.Error(err)
		}
		r.Wait()
		s.Clock.Advance(15 * time.Minute)
	}
	if want := []int{200, 200, 51, 200}; !slices.Equal(sizes, want) {
		t.Errorf("requests of %v captures, want %v", sizes, want)
	}
}

// manyCaptures adds copies of the only capture.
func manyCaptures(t *testing.T, s *coretest.Service, n int) {
	t.Helper()
	s.MustExec(t, "UPDATE captures SET captured_at = created_at")
	s.MustExec(t, `INSERT INTO captures (id, transaction_id, merchant_id, live, state, amount, currency, final,
			created_at, updated_at, captured_at, account)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		SELECT id + i, transaction_id, merchant_id, live, state, amount, currency, final,
			created_at, updated_at, captured_at, account FROM captures, n`, n)
}
