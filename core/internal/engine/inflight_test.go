package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// TestNoPaymentIsLostByAClockStep: the clock of a service is set back before its start, or ahead by
// more than a request lasts. The service loses none of the payments that run while recovery makes
// its passes.
func TestNoPaymentIsLostByAClockStep(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{-24 * time.Hour, -2 * time.Minute, engine.Patience, 24 * time.Hour} {
		t.Run(fmt.Sprint(by), func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			r := serving(t, s)
			s.Clock.Advance(time.Minute)
			s.Acquirer.Before = func(_ context.Context, c coretest.Call) error {
				if c.Verb == coretest.Authorize {
					s.Clock.Set(s.Clock.Now().Add(by))
					pass(t, r, 0) //nolint:contextcheck // the test's
					s.Clock.Advance(time.Second)
					pass(t, r, 0) //nolint:contextcheck // the test's
				}
				return nil
			}
			for n := range 3 {
				if a, err := s.Pay(t.Context(), s.Request(fmt.Sprint("k", n)), 100, true); err != nil || a.Status != 201 {
					t.Errorf("payment %d: got %d %s, %v", n, a.Status, a.Body, err)
				}
			}
			if inquiries := s.Acquirer.Calls(coretest.Inquire); len(inquiries) != 0 {
				t.Errorf("the acquirer was asked for %v", inquiries)
			}
			wantSettledBooks(t, s)
		})
	}
}

// TestARunningStepIsNotResolved: an operator cannot end a step on which a request of this process
// works. The clock was set ahead by more than a request lasts.
func TestARunningStepIsNotResolved(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{-24 * time.Hour, engine.Patience} {
		for _, st := range steps() {
			t.Run(st.name+" "+by.String(), func(t *testing.T) {
				t.Parallel()
				s := coretest.Open(t)
				serving(t, s)
				txn := st.MustPrepare(t, s)
				lose(s, st.verb, true, func() {
					s.Clock.Set(s.Clock.Now().Add(by))
					_, f := mustUnfinished(t, s, payment.StepKind(st.verb))
					d := engine.Resolution{Decision: engine.DecisionNoEffect, Reason: "statement of November 22, line 7"}
					if _, err := s.Engine.ResolveStep(t.Context(), operatorRequest(s), f, d); !errors.Is(err, engine.ErrStepRunning) {
						t.Errorf("got %v, want %v", err, engine.ErrStepRunning)
					}
				})
				if a, err := st.take(t.Context(), s, s.Request("k"), txn); err != nil || a.Status != 504 {
					t.Errorf("got %d %s, %v, want 504", a.Status, a.Body, err)
				}
			})
		}
	}
}

// TestOwnStepsOfALeaderAreLeftAlonePostgreSQL: a leader claims no step on which one of its requests
// works, although the clock was set ahead by a day.
func TestOwnStepsOfALeaderAreLeftAlonePostgreSQL(t *testing.T) {
	t.Parallel()
	s := coretest.OpenShared(t)
	MustHeartbeat(t, s)
	r := serving(t, s)
	s.Acquirer.Before = func(_ context.Context, c coretest.Call) error {
		if c.Verb == coretest.Authorize {
			s.Clock.Advance(24 * time.Hour)
			MustHeartbeat(t, s) //nolint:contextcheck // the test's
			pass(t, r, 0)       //nolint:contextcheck // the test's
		}
		return nil
	}
	if a, err := s.Pay(t.Context(), s.Request("k"), 100, true); err != nil || a.Status != 201 {
		t.Errorf("got %d %s, %v", a.Status, a.Body, err)
	}
	wantSettledBooks(t, s)
}
