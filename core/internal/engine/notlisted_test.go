package engine_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// notListed makes each inquiry a whole search that finds nothing, and counts them.
func notListed(s *coretest.Service) (inquiries *int) {
	inquiries = new(int)
	s.Acquirer.Before = func(_ context.Context, c coretest.Call) error {
		switch c.Verb {
		case coretest.Inquire:
			*inquiries++
			return acquirer.ErrNotListed
		case coretest.Void, coretest.Refund:
			return acquirer.ErrUnknown
		default:
			return nil
		}
	}
	return inquiries
}

// resolvedSale makes a sale with a lost response that an operator resolves as declined.
func resolvedSale(t *testing.T, s *coretest.Service) {
	t.Helper()
	lose(s, coretest.Authorize, false, nil)
	if a, err := s.Pay(t.Context(), s.Request("k"), 100, true); err != nil || a.Status != 504 {
		t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
	}
	heal(s)
	s.Clock.Advance(engine.Patience)
	mustResolve(t, s, payment.AuthorizeStep, engine.DecisionDeclined)
}

// TestLookEndsAtAnAcquirerWithLists: the lists of the acquirer never show a request that an
// operator has resolved. After LateWindow recovery searches no more, and one alert calls an
// operator. Recovery has sent nothing.
func TestLookEndsAtAnAcquirerWithLists(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	resolvedSale(t, s)
	alerts := observed(s)
	inquiries := notListed(s)
	waitForAnOperator(t, s)
	if *inquiries != 33 {
		t.Errorf("inquired %d times, want 33", *inquiries)
	}
	alerts.want(t, "authorize undecided")
	shown, f := mustUnfinished(t, s, payment.ReversalStep)
	if !shown.DueAt.Equal(payment.Never()) || !strings.Contains(shown.LastError, "not in the lists") {
		t.Errorf("an operator sees %+v", shown)
	}
	d := engine.Resolution{Decision: engine.DecisionReleased, Reason: "statement of November 22, line 7"}
	if a, err := s.Engine.ResolveStep(t.Context(), operatorRequest(s), f, d); err != nil || a.Status != http.StatusOK {
		t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
	}
	if got := s.Number(t, "SELECT COUNT(*) FROM reversals"); got != 0 {
		t.Errorf("%d looks are pending, want none", got)
	}
	if voids := s.Acquirer.Calls(coretest.Void); len(voids) != 0 {
		t.Errorf("got %+v, want no request", voids)
	}
}

// TestListedLate: the lists show the payment that an operator has resolved after many searches that
// found nothing. It is released.
func TestListedLate(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	alerts := observed(s)
	resolvedSale(t, s)
	notListed(s)
	for range 32 {
		look(t, s)
	}
	heal(s)
	s.Acquirer.Arrive(s.Acquirer.Payments()[0])
	lookUntilTheEnd(t, s)
	wantAllReleased(t, s)
	alerts.want(t, "authorize late_reversed")
}

// TestNotListedIsNoEnd: a search that finds nothing does not end an open payment, or the release of
// money that the acquirer holds.
func TestNotListedIsNoEnd(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	lose(s, coretest.Authorize, false, nil)
	if a, err := s.Pay(t.Context(), s.Request(""), 100, true); err != nil || a.Status != 504 {
		t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
	}
	notListed(s)
	for range 60 {
		s.Clock.Advance(payment.LateWindow)
		s.Recover(t)
	}
	if got := MustTransaction(t, s).Status; got != payment.Unknown {
		t.Errorf("the open payment is %s, want unknown", got)
	}
	heal(s)
	mustResolve(t, s, payment.AuthorizeStep, engine.DecisionDeclined)
	s.Acquirer.Arrive(s.Acquirer.Payments()[0])
	lose(s, coretest.Void, false, nil)
	look(t, s)
	notListed(s)
	for range 60 {
		s.Clock.Advance(payment.LateWindow)
		s.Recover(t)
	}
	if got := s.Number(t, "SELECT COALESCE(SUM(held), 0) FROM reversals"); got != 100 {
		t.Errorf("the release of %d is pending, want 100", got)
	}
	due := time.UnixMilli(s.Number(t, "SELECT due_at FROM reversals"))
	if due.After(s.Clock.Now().Add(payment.LongestPause)) {
		t.Errorf("it is due at %s, want it repeated", due)
	}
	heal(s)
	wantAllReleased(t, s)
}
