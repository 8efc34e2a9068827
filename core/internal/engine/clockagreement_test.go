package engine_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/clock"
)

// TestAClockThatIsOffPostgreSQL: a core whose clock differs from the server's by more than a few
// seconds loses its leadership, and gains none. It claims nothing from a core that seems dead until
// its clock is right.
func TestAClockThatIsOffPostgreSQL(t *testing.T) {
	t.Parallel()
	first := coretest.OpenShared(t)
	second := first.Beside(t)
	now := clock.NewFake(clock.System().Now())
	first.Cluster.Clock = now
	set := func(off time.Duration) {
		t.Helper()
		now.Set(clock.System().Now().Add(off))
		MustHeartbeat(t, first)
	}
	set(0)
	if !first.Cluster.Leads() {
		t.Fatal("the first core leads")
	}
	for _, off := range []time.Duration{3 * time.Minute, -3 * time.Minute, 10 * time.Second, -10 * time.Second} {
		set(off)
		if first.Cluster.Leads() || first.Cluster.Agrees() {
			t.Errorf("off by %s: it leads", off)
		}
		if got := first.Cluster.Offset() - off; got.Abs() > 5*time.Second {
			t.Errorf("off by %s: reported %s", off, first.Cluster.Offset())
		}
		MustHeartbeat(t, second)
		if !second.Cluster.Leads() {
			t.Errorf("off by %s: no other core has the leadership", off)
		}
		if err := second.DB.Leave(t.Context(), second.Cluster.ID); err != nil {
			t.Fatal(err)
		}
		set(off) // and no core has the leadership
		if first.Cluster.Leads() {
			t.Errorf("off by %s: it has taken the leadership", off)
		}
		set(0)
		if !first.Cluster.Leads() || !first.Cluster.Agrees() {
			t.Errorf("after it was off by %s: it does not lead", off)
		}
	}
	if got := strings.Count(first.Log.String(), "cluster: the clock differs from the database server's"); got != 4 {
		t.Errorf("logged %d times, want 4", got)
	}
}

// TestAClockThatJumpsBetweenHeartbeatsPostgreSQL: a core whose clock jumps gives up leadership
// immediately, not at its next heartbeat. Agrees then returns false.
func TestAClockThatJumpsBetweenHeartbeatsPostgreSQL(t *testing.T) {
	t.Parallel()
	s := coretest.OpenShared(t)
	now := clock.NewFake(clock.System().Now())
	s.Cluster.Clock = now
	MustHeartbeat(t, s)
	for _, by := range []time.Duration{25 * time.Hour, -25 * time.Hour} {
		now.Set(clock.System().Now().Add(by))
		if s.Cluster.Leads() || s.Cluster.Agrees() {
			t.Errorf("off by %s: it leads: %t, it agrees: %t", by, s.Cluster.Leads(), s.Cluster.Agrees())
		}
		if got := s.Cluster.Offset() - by; got.Abs() > time.Minute {
			t.Errorf("off by %s: got %s", by, s.Cluster.Offset())
		}
		now.Set(clock.System().Now())
		if MustHeartbeat(t, s); !s.Cluster.Leads() || !s.Cluster.Agrees() {
			t.Errorf("after it was off by %s: it leads: %t, it agrees: %t", by, s.Cluster.Leads(), s.Cluster.Agrees())
		}
	}
}

// TestLeadershipOutlivesNoClockPostgreSQL: a dead leader keeps its leadership no longer than
// leadershipTerm, even if the server's clock was a day ahead when the leadership began.
func TestLeadershipOutlivesNoClockPostgreSQL(t *testing.T) {
	t.Parallel()
	first := coretest.OpenShared(t)
	second := first.Beside(t)
	if MustHeartbeat(t, first, second); second.Cluster.Leads() {
		t.Fatal("both lead")
	}
	if _, err := first.Inspect.ExecContext(t.Context(), "UPDATE lead SET until = until + 24 * 3600 * 1000"); err != nil {
		t.Fatal(err)
	}
	if MustHeartbeat(t, second); !second.Cluster.Leads() {
		t.Error("the dead leader keeps its leadership until the server's clock has caught up")
	}
}

// TestNoClaimByAClockThatJumpedPostgreSQL: a request that is under way when the clock jumps claims
// no idempotency key. If the clock is a day ahead, the key of the first payment has expired. If it
// is a day behind, a new key would expire immediately.
func TestNoClaimByAClockThatJumpedPostgreSQL(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(testing.TB) *coretest.Service{"grouped": coretest.OpenShared, "alone": coretest.OpenAlone} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			s.Cluster.Clock = s.Clock
			s.DB.ClaimBy(s.Cluster.Trusts)
			pay := func(off time.Duration, key string) (engine.Result, error) {
				s.Clock.Set(clock.System().Now().Add(off))
				return s.Pay(t.Context(), s.Request(key), 100, true)
			}
			s.Clock.Set(clock.System().Now())
			MustHeartbeat(t, s)
			if a, err := pay(0, "first"); err != nil || a.Status != 201 {
				t.Fatalf("got %d, %v", a.Status, err)
			}
			for _, off := range []time.Duration{25 * time.Hour, -25 * time.Hour} {
				for _, key := range []string{"first", "new"} {
					if a, err := pay(off, key); !errors.Is(err, store.ErrUnavailable) {
						t.Errorf("off by %s, key %s: got %d, %v", off, key, a.Status, err)
					}
				}
			}
			if a, err := pay(0, "new"); err != nil || a.Status != 201 || a.Replayed {
				t.Errorf("once the clock is right: got %d, replayed %t, %v", a.Status, a.Replayed, err)
			}
			if got := len(s.Acquirer.Calls(coretest.Authorize)); got != 2 {
				t.Errorf("%d authorizations at the acquirer, want 2", got)
			}
		})
	}
}

// TestOwnStepsOfAClockThatIsOffPostgreSQL: a core whose clock differs from the server's does not
// recover its own steps. An acquirer's connector decides by the clock that a step cannot arrive.
func TestOwnStepsOfAClockThatIsOffPostgreSQL(t *testing.T) {
	t.Parallel()
	s := coretest.OpenShared(t)
	now := clock.NewFake(clock.System().Now())
	s.Cluster.Clock = now
	MustHeartbeat(t, s)
	lose(s, coretest.Authorize, false, nil)
	if a, err := s.Pay(t.Context(), s.Request("k"), 100, true); err != nil || a.Status != 504 {
		t.Fatalf("got %d %s, %v, want 504", a.Status, a.Body, err)
	}
	heal(s)
	now.Step(25 * time.Hour)
	if got := s.Recover(t); got != 1 {
		t.Errorf("a day ahead: %d steps are open, want 1", got)
	}
	now.Step(-25 * time.Hour)
	if got := s.Recover(t); got != 0 {
		t.Errorf("corrected: %d steps are open, want none", got)
	}
}
