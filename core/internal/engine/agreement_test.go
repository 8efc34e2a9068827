package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/clock"
)

// TestAClockThatIsOffPostgreSQL: a core whose clock is off the server's by more than a few seconds gives the lead up, gets none, and takes nothing over from
// a core that it thinks dead, until its clock is right.
func TestAClockThatIsOffPostgreSQL(t *testing.T) {
	t.Parallel()
	first := coretest.OpenShared(t)
	second := first.Beside(t)
	now := clock.NewFake(clock.System().Now())
	first.Peers.Clock = now
	set := func(off time.Duration) {
		t.Helper()
		now.Set(clock.System().Now().Add(off))
		MustBeat(t, first)
	}
	set(0)
	if !first.Peers.Leads() {
		t.Fatal("the first core leads")
	}
	for _, off := range []time.Duration{3 * time.Minute, -3 * time.Minute, 10 * time.Second, -10 * time.Second} {
		set(off)
		if first.Peers.Leads() || first.Peers.Agrees() {
			t.Errorf("off by %s: it leads", off)
		}
		if got := first.Peers.Offset() - off; got.Abs() > 5*time.Second {
			t.Errorf("off by %s: told %s", off, first.Peers.Offset())
		}
		MustBeat(t, second)
		if !second.Peers.Leads() {
			t.Errorf("off by %s: it has not handed the lead on", off)
		}
		leave := func(tx *store.Tx) error { return tx.Leave(second.Peers.ID) }
		if err := second.DB.Update(t.Context(), leave); err != nil {
			t.Fatal(err)
		}
		set(off) // and the lead is free
		if first.Peers.Leads() {
			t.Errorf("off by %s: it has taken the lead", off)
		}
		set(0)
		if !first.Peers.Leads() || !first.Peers.Agrees() {
			t.Errorf("after it was off by %s: it does not lead", off)
		}
	}
	if got := strings.Count(first.Log.String(), "peers: the clock is off"); got != 4 {
		t.Errorf("told of it %d times, want 4", got)
	}
}
