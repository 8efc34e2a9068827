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

// losingInquirer is an acquirer whose inquiries undo an unlinked refund, or do not find it.
type losingInquirer struct {
	*coretest.Acquirer
	undoes bool
	asked  int
}

func (l *losingInquirer) Inquire(context.Context, acquirer.Sent) (acquirer.Response, error) {
	l.asked++
	if !l.undoes {
		return acquirer.Response{}, acquirer.ErrNotFound
	}
	return acquirer.Response{Approved: true, Released: true, ResponseCode: "00"}, nil
}

// TestApprovalBeforeASuccessfulAttempt: recovery's attempts at an unlinked refund or at its pending
// reversal succeed, and the refund stays open. They may have undone it. So an operator cannot
// approve it by records from before the last one.
func TestApprovalBeforeASuccessfulAttempt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		undoes bool
		passes int // after the first
	}{
		"the refund's attempt undid it": {undoes: true},
		"a drop request":                {passes: 8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := MustOpenGiving(t)
			a := &losingInquirer{Acquirer: s.Acquirer, undoes: c.undoes}
			s.Engine.Test = a
			lose(s, coretest.Credit, false, nil)
			if got, err := give(t.Context(), s, "k", "card"); err != nil || got.Status != 504 {
				t.Fatalf("got %d %s, %v, want 504", got.Status, got.Body, err)
			}
			heal(s)
			s.Clock.Advance(2 * engine.Patience)
			read := s.Clock.Now()
			s.Clock.Advance(2 * engine.Patience)
			for range 1 + c.passes {
				s.Clock.Advance(10 * time.Minute)
				r := s.Engine.NewRecovery()
				if _, err := r.Pass(t.Context()); err != nil {
					t.Fatal(err)
				}
				r.Wait()
			}
			s.Clock.Advance(2 * engine.Patience)
			_, f := mustUnfinished(t, s, payment.RefundStep)
			d := engine.Resolution{Decision: engine.DecisionApproved, Reason: "statement of November 22, line 7", AsOf: read}
			got, err := s.Engine.ResolveStep(t.Context(), operatorRequest(s), f, d)
			if !errors.Is(err, engine.ErrOutdated) || a.asked == 0 {
				t.Errorf("after %d inquiries: got %d %s, %v, want %v", a.asked, got.Status, got.Body, err, engine.ErrOutdated)
			}
			d.AsOf = s.Clock.Now()
			mustDecide(t, s, f, d)
		})
	}
}
