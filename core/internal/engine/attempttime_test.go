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
	"github.com/causeway-pay/causeway/shared/clock"
)

// slow returns a hook that advances the clock to the deadline of each call to the acquirer. Of
// calls with the same deadline, the first one uses all the time.
func slow(s *coretest.Service) func(context.Context) {
	var used time.Time
	return func(ctx context.Context) {
		deadline, _ := ctx.Deadline()
		if deadline.Equal(used) {
			return
		}
		used = deadline
		s.Clock.Advance(deadline.Sub(clock.System().Now()))
	}
}

// TestNoClaimDuringASlowReleasePostgreSQL tests that recovery of another core does not claim a
// payment too early. Its request has used all its time for the authorization and the release of an
// unwanted part.
func TestNoClaimDuringASlowReleasePostgreSQL(t *testing.T) {
	t.Parallel()
	first := coretest.OpenShared(t)
	second := first.Beside(t)
	MustHeartbeat(t, second, first)
	if !second.Cluster.Leads() {
		t.Fatal("the second core does not lead")
	}
	r := serving(t, second)
	approving(first, 60)
	last := slow(first)
	releases := 0
	first.Acquirer.Before = func(ctx context.Context, c coretest.Call) error {
		last(ctx)
		if c.Verb == coretest.Void {
			if releases++; releases == 1 {
				MustHeartbeat(t, second, first) //nolint:contextcheck // the test's
				pass(t, r, 0)                   //nolint:contextcheck // the test's
			}
		}
		return nil
	}
	a, err := first.Pay(t.Context(), first.Request("k"), 100, true)
	if err != nil || a.Status != 402 {
		t.Errorf("got %d %s, %v, want 402", a.Status, a.Body, err)
	}
	if got := len(first.Acquirer.Calls(coretest.Inquire)); releases != 1 || got != 0 {
		t.Errorf("got %d releases and %d inquiries, want 1 and none", releases, got)
	}
	wantPartReversed(t, first, 60)
}

// TestASlowReversalIsNotResolved tests that an operator cannot resolve a pending reversal while
// recovery's attempt at it has no result. The attempt has used all its time for the inquiry and the
// release.
func TestASlowReversalIsNotResolved(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	r := serving(t, s)
	lose(s, coretest.Authorize, false, nil)
	if a, err := s.Pay(t.Context(), s.Request("k"), 100, true); err != nil || a.Status != 504 {
		t.Fatalf("got %d %s, %v, want 504", a.Status, a.Body, err)
	}
	heal(s)
	s.Clock.Advance(time.Second)
	pass(t, r, 1) // the payment has failed, and its reversal is pending
	last := slow(s)
	releases := 0
	s.Acquirer.Before = func(ctx context.Context, c coretest.Call) error {
		last(ctx)
		if c.Verb != coretest.Void {
			return nil
		}
		releases++
		_, f := mustUnfinished(t, s, payment.ReversalStep) //nolint:contextcheck // the test's
		d := engine.Resolution{Decision: engine.DecisionReleased, Reason: "statement of November 22, line 7"}
		_, err := s.Engine.ResolveStep(t.Context(), operatorRequest(s), f, d) //nolint:contextcheck // the test's
		if !errors.Is(err, engine.ErrStepRunning) {
			t.Errorf("got %v, want %v", err, engine.ErrStepRunning)
		}
		return acquirer.ErrUnknown
	}
	pass(t, r, 1)
	if releases != 1 {
		t.Errorf("got %d releases, want 1", releases)
	}
}
