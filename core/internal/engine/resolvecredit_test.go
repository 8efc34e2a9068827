package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// undoer is an acquirer whose inquiries can undo a request.
type undoer struct {
	*coretest.Acquirer
	inquiry error
	asked   int
}

func (u *undoer) Inquire(context.Context, acquirer.Sent) (acquirer.Response, error) {
	u.asked++
	return acquirer.Response{}, u.inquiry
}

// TestApprovalBeforeItsReversal: an unlinked refund waits with a pending reversal, whose attempt
// may have undone it. It is not approved by records from before that attempt.
func TestApprovalBeforeItsReversal(t *testing.T) {
	t.Parallel()
	s := MustOpenGiving(t)
	u := &undoer{Acquirer: s.Acquirer, inquiry: acquirer.ErrNotFound}
	s.Engine.Test = u
	lose(s, coretest.Credit, false, nil)
	if a, err := give(t.Context(), s, "k", "card"); err != nil || a.Status != 504 {
		t.Fatalf("got %d %s, %v, want 504", a.Status, a.Body, err)
	}
	s.Recover(t)
	heal(s)
	s.Clock.Advance(2 * engine.Patience)
	read, before := s.Clock.Now(), u.asked
	u.inquiry = acquirer.ErrUnknown
	for range 5 {
		s.Clock.Advance(30 * time.Minute)
		s.Recover(t)
	}
	s.Clock.Advance(2 * engine.Patience)
	_, f := mustUnfinished(t, s, payment.RefundStep)
	d := engine.Resolution{Decision: engine.DecisionApproved, Reason: "statement of November 22, line 7", AsOf: read}
	if _, err := s.Engine.ResolveStep(t.Context(), operatorRequest(s), f, d); u.asked == before || !errors.Is(err, engine.ErrOutdated) {
		t.Errorf("after %d attempts: got %v, want %v", u.asked-before, err, engine.ErrOutdated)
	}
}
