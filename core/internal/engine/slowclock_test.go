package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/id"
)

// TestAClockThatIsBehindPostgreSQL: a core waits for the acquirer for as long as an attempt may
// last. Its clock is as far behind as allowed, and the leader's clock as far ahead. The leader
// still leaves the payment alone.
func TestAClockThatIsBehindPostgreSQL(t *testing.T) {
	t.Parallel()
	const leaderAhead, attempt = 5 * time.Second, 20 * time.Second
	first := coretest.OpenShared(t)
	behind := *first
	behind.Clock = clock.NewFake(coretest.Birth.Add(-engine.RequestTolerance))
	behind.IDs = id.NewGenerator(behind.Clock)
	second := behind.Beside(t)
	MustHeartbeat(t, first, second)
	first.Clock.Advance(leaderAhead)
	first.Acquirer.Before = func(ctx context.Context, c coretest.Call) error {
		if c.Verb != coretest.Authorize {
			return nil
		}
		first.Clock.Advance(attempt)
		return first.Engine.NewRecovery().CatchUp(ctx, time.Minute)
	}
	a, err := second.Pay(t.Context(), second.Request("k"), 100, true)
	if err != nil || a.Status != 201 {
		t.Errorf("the payment: got %d %s, %v, want 201", a.Status, a.Body, err)
	}
	heal(first)
	if got := first.Number(t, "SELECT COUNT(*) FROM transactions WHERE status = 'captured'"); got != 1 {
		t.Errorf("captured payments: got %d, want 1", got)
	}
	if got := first.Number(t, "SELECT COUNT(*) FROM reversals"); got != 0 {
		t.Errorf("pending reversals: got %d, want none", got)
	}
}
