package core_test

import (
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/postgres"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/secret"
)

// offClock is the system's clock, wrong by a time.
type offClock struct{ by atomic.Int64 }

func (c *offClock) Now() time.Time { return clock.System().Now().Add(time.Duration(c.by.Load())) }

// TestAStepStoredByACoreThatDoesNotLeadPostgreSQL: the clocks of core and of its server were two
// days behind. Then core's clock is set right. From that moment core does not lead: it has not
// compared the clocks again, or the server's is still behind. It stores the step.
func TestAStepStoredByACoreThatDoesNotLeadPostgreSQL(t *testing.T) {
	t.Parallel()
	const behind = 48 * time.Hour
	for name, c := range map[string]struct{ server, stops bool }{
		"one machine, stopped at once":  {server: true, stops: true},
		"two machines, stopped at once": {stops: true},
		"two machines, it runs on":      {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := pgtest.Steered(t)
			url := server.URL(nil)
			if err := postgres.Migrate(t.Context(), secret.New(url)); err != nil {
				t.Fatal(err)
			}
			server.SetClock(t, -behind)
			now, d := new(offClock), coretest.OnServer(url)
			now.by.Store(int64(-behind))
			inspect := d.MustInspect(t)
			opened, err := core.Open(t.Context(), core.Config{
				Data: t.TempDir(), Clock: now, Database: d.Open, VaultKEK: testKEK(), Log: slog.New(slog.DiscardHandler),
			})
			if err != nil {
				t.Fatal(err)
			}
			closed := func() bool { return opened.Close() == nil } // again, to the same effect, at the end
			defer closed()
			stored := func(where string) func() bool {
				return func() bool {
					var n int64
					err := inspect.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM confirmed_clock WHERE "+where).Scan(&n)
					return err == nil && n == 1
				}
			}
			programtest.WaitFor(t, "the confirmed time is stored", stored("at > 0"))
			if c.server {
				server.SetClock(t, 0)
			}
			now.by.Store(0)
			if c.stops && !closed() {
				t.Fatal("core does not close")
			}
			programtest.WaitFor(t, "the step is stored", stored("step BETWEEN 172740000 AND 172860000"))
		})
	}
}

// TestTheLargestStepIsKeptPostgreSQL: the clocks of two cores step by different times while neither
// leads. The store keeps the larger step.
func TestTheLargestStepIsKeptPostgreSQL(t *testing.T) {
	t.Parallel()
	d := coretest.OnServer(pgtest.Schema(t))
	c := [2]*clock.Fake{clock.NewFake(coretest.Birth), clock.NewFake(coretest.Birth)}
	var db [2]*store.DB
	for i := range db {
		opened, err := d.Open(t.Context(), c[i])
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = opened.Close() }() // it has written all that the test reads
		db[i] = opened
	}
	if err := db[0].KeepConfirmed(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, by := range []time.Duration{48 * time.Hour, 25 * time.Hour} {
		c[i].Step(by)
		if err := db[i].KeepStep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	var step int64
	if err := d.MustInspect(t).QueryRowContext(t.Context(), "SELECT step FROM confirmed_clock").Scan(&step); err != nil {
		t.Fatal(err)
	}
	if got := time.Duration(step) * time.Millisecond; got != 48*time.Hour {
		t.Errorf("the step: got %s, want 48h", got)
	}
}

// TestALeaderKeepsTheStepOfAnotherCorePostgreSQL: the clocks of two cores are two days behind. One
// is set right, and its core is restarted. Meanwhile the other core leads and stores its own state.
// Then its clock is set right, too. A key from before is in use for its 24 hours.
func TestALeaderKeepsTheStepOfAnotherCorePostgreSQL(t *testing.T) {
	t.Parallel()
	const behind = 48 * time.Hour
	for name, leads := range map[string]bool{"the corrected core led": true, "the other core led": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			on := coretest.OnServer(pgtest.Schema(t))
			leader := openBundle(t, &bundle{on: on, rateLimit: -1})
			leader.confirms(t, "id", 1)
			a, b := leader, openBundle(t, &bundle{on: on, rateLimit: -1})
			if !leads {
				a, b = b, a
			}
			advance := func(by time.Duration) { a.clock.Advance(by); b.clock.Advance(by) }
			first := a.post(t, "/v1/transactions", create(5, ""), keyed("k"))
			a.clock.Step(behind)
			a.confirms(t, "step", behind.Milliseconds())
			a.stop(t)
			advance(2 * time.Minute)
			b.confirms(t, "at", b.clock.Now().UnixMilli())
			a.start(t)
			b.clock.Step(behind)
			a.wantKey(t, "restarted", first, true)
			advance(time.Hour)
			a.wantKey(t, "an hour later", first, true)
			advance(22 * time.Hour)
			a.wantKey(t, "before the end", first, true)
			advance(time.Hour)
			a.wantKey(t, "at the end", first, false)
		})
	}
}
