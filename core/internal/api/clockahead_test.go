package api_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestRestartByAClockThatIsAhead: a service that starts by a clock a day ahead makes no second
// payment under a used key. An hour later it accepts the clock, and the key has expired.
func TestRestartByAClockThatIsAhead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.post(t, "/v1/transactions", create(5, ""), keyed("k"))
	made := MustDecode[v1.Transaction](t, first, 201)
	programtest.WaitFor(t, "the confirmed time is stored", func() bool { return b.number(t, "SELECT COUNT(*) FROM confirmed_clock") == 1 })
	b.stop(t)
	b.clock.Step(25 * time.Hour)
	b.start(t)
	wantReplay(t, b.post(t, "/v1/transactions", create(5, ""), keyed("k")), first)
	b.clock.Advance(time.Hour)
	if got := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", create(5, ""), keyed("k")), 201); got.ID == made.ID {
		t.Error("a key that expired 25 hours ago was replayed")
	}
}

// wantDate compares the Date of v1's responses.
func (b *bundle) wantDate(t *testing.T, name string, want time.Time) {
	t.Helper()
	date, err := http.ParseTime(b.get(t, "/v1/api_keys/current").header.Get("Date"))
	if err != nil || date.Sub(want).Abs() > time.Minute {
		t.Errorf("%s: got %s (%v), want %s", name, date, err, want)
	}
}

// confirms waits until a column of the guard's stored state has a value.
func (b *bundle) confirms(t *testing.T, column string, want int64) {
	t.Helper()
	programtest.WaitFor(t, fmt.Sprintf("%s is %d", column, want), func() bool {
		return b.number(t, "SELECT COUNT(*) FROM confirmed_clock WHERE "+column+" = ?", want) == 1
	})
}

// wantKey sends the payment of a key again, and reports whether the key is still in use.
func (b *bundle) wantKey(t *testing.T, name string, first response, want bool) {
	t.Helper()
	again := b.post(t, "/v1/transactions", create(5, ""), keyed("k"))
	if used := string(again.body) == string(first.body); used != want || again.status != http.StatusCreated {
		t.Errorf("%s: got %d, the first payment %t, want it %t", name, again.status, used, want)
	}
}

// TestDateOfAClockThatIsAhead: Date does not follow a clock that is set ahead until the step is
// accepted. The age of a payment that a client measures by Date does not grow by the step.
func TestDateOfAClockThatIsAhead(t *testing.T) {
	t.Parallel()
	b := openBundle(t, &bundle{file: true, rateLimit: -1})
	at := b.clock.Now()
	b.clock.Step(10 * time.Minute)
	b.wantDate(t, "ahead", at)
	b.clock.Advance(30 * time.Minute)
	b.wantDate(t, "half an hour later", at.Add(30*time.Minute))
	b.confirms(t, "step", (10 * time.Minute).Milliseconds())
	b.stop(t)
	b.start(t)
	b.wantDate(t, "after a restart", at.Add(30*time.Minute))
	b.clock.Advance(time.Hour)
	b.wantDate(t, "accepted", b.clock.Now())
}

// TestDateAfterADowntime: as soon as core runs again, Date and the time of each new payment follow
// the clock.
func TestDateAfterADowntime(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.confirms(t, "id", 1)
	b.stop(t)
	b.clock.Advance(3 * time.Hour)
	b.start(t)
	for _, by := range []time.Duration{0, 59 * time.Minute, time.Minute, time.Hour} {
		b.clock.Advance(by)
		b.wantDate(t, "after 3 hours", b.clock.Now())
	}
}

// TestDateOfTwoCoresPostgreSQL: after a downtime, two cores that start 50 minutes apart show one
// Date. Only the time of the server counts, so Date also follows a step of the server's clock
// immediately.
func TestDateOfTwoCoresPostgreSQL(t *testing.T) {
	t.Parallel()
	a := openBundle(t, &bundle{on: coretest.OnServer(pgtest.Schema(t)), rateLimit: -1})
	a.confirms(t, "id", 1)
	a.stop(t)
	a.clock.Advance(3 * time.Hour)
	a.start(t)
	a.clock.Advance(50 * time.Minute)
	b := *a
	b.dir = t.TempDir()
	b.start(t)
	defer b.stop(t)
	for _, by := range []time.Duration{0, 20 * time.Minute, time.Hour} {
		a.clock.Advance(by)
		a.wantDate(t, "the first core", a.clock.Now())
		b.wantDate(t, "the second core", a.clock.Now())
	}
	a.clock.Step(time.Hour)
	a.wantDate(t, "the first core, set ahead", a.clock.Now())
	b.wantDate(t, "the second core, set ahead", a.clock.Now())
}

// TestAKeyOutlivesACorrectionAndARestart: the clock was behind when a payment was made, and is set
// right while core runs. Whenever core is restarted, the key stays in use for 24 hours of core's
// running time, and no longer.
func TestAKeyOutlivesACorrectionAndARestart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		behind, ran, down time.Duration // ran: from the correction to the restart
		boot              bool          // the clock stood still while core was down, before the payment
	}{
		"the first start, restarted once accepted": {behind: 25 * time.Hour, ran: time.Hour},
		"the first start, restarted hours later":   {behind: 25 * time.Hour, ran: 5 * time.Hour},
		"a boot, restarted after 5 minutes":        {behind: 48 * time.Hour, ran: 5 * time.Minute, boot: true},
		"a boot, restarted after 3 hours":          {behind: 48 * time.Hour, ran: 3 * time.Hour, boot: true},
		"a boot, restarted immediately":            {behind: 48 * time.Hour, boot: true},
		"down for 50 minutes":                      {behind: 48 * time.Hour, ran: 5 * time.Minute, down: 50 * time.Minute},
		"down for 2 hours":                         {behind: 48 * time.Hour, ran: 5 * time.Minute, down: 2 * time.Hour},
		"down for 2 hours, accepted":               {behind: 48 * time.Hour, ran: 2 * time.Hour, down: 2 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.confirms(t, "id", 1)
			if c.boot {
				b.stop(t)
				b.start(t)
			}
			first := b.post(t, "/v1/transactions", create(5, ""), keyed("k"))
			b.clock.Step(c.behind)
			b.confirms(t, "step", c.behind.Milliseconds())
			b.clock.Advance(c.ran)
			if c.ran >= time.Hour {
				b.confirms(t, "lag", c.behind.Milliseconds())
			}
			b.stop(t)
			b.clock.Advance(c.down)
			b.start(t)
			b.wantKey(t, "restarted", first, true)
			b.clock.Advance(time.Hour)
			b.wantKey(t, "an hour later", first, true)
			b.clock.Advance(24*time.Hour - time.Minute - c.ran - c.down - time.Hour)
			b.wantKey(t, "before the end", first, true)
			b.clock.Advance(time.Minute)
			b.wantKey(t, "at the end", first, false)
		})
	}
}

// TestAStopStoresAStep: the clock steps, and core is stopped before it stores the state of its
// guard again. After the start it still counts the step.
func TestAStopStoresAStep(t *testing.T) {
	t.Parallel()
	b := openBundle(t, &bundle{file: true, rateLimit: -1})
	b.confirms(t, "id", 1)
	b.clock.Step(48 * time.Hour)
	b.stop(t)
	b.start(t)
	b.wantDate(t, "restarted", b.clock.Now().Add(-48*time.Hour))
}

// TestAStopStoresAStepPostgreSQL: a core that stops stores a step, even if it has given up
// leadership before. A key of before the step is still in use when the step is accepted.
func TestAStopStoresAStepPostgreSQL(t *testing.T) {
	t.Parallel()
	b := openBundle(t, &bundle{on: coretest.OnServer(pgtest.Schema(t)), rateLimit: -1})
	b.confirms(t, "id", 1)
	first := b.post(t, "/v1/transactions", create(5, ""), keyed("k"))
	b.clock.Step(48 * time.Hour)
	b.stop(t)
	b.start(t)
	b.wantKey(t, "restarted", first, true)
	b.clock.Advance(time.Hour)
	b.wantKey(t, "an hour later", first, true)
}

// TestATimeAheadIsForgottenAcrossRestarts: the clock was ten years ahead until core accepted it. A
// week after it was set right core forgets that time, also if it is restarted within each week.
func TestATimeAheadIsForgottenAcrossRestarts(t *testing.T) {
	t.Parallel()
	const ahead = 10 * 365 * 24 * time.Hour
	b := setup(t)
	b.confirms(t, "id", 1)
	b.clock.Step(ahead)
	b.confirms(t, "step", ahead.Milliseconds())
	b.clock.Advance(time.Hour)
	b.confirms(t, "lag", ahead.Milliseconds())
	b.clock.Step(-ahead)
	programtest.WaitFor(t, "the time ahead is to end", func() bool { return b.number(t, "SELECT low_until FROM confirmed_clock") > 0 })
	b.clock.Advance(4 * 24 * time.Hour)
	b.confirms(t, "at", b.clock.Now().Add(ahead).UnixMilli())
	b.stop(t)
	b.start(t)
	b.clock.Advance(4 * 24 * time.Hour)
	b.confirms(t, "at", b.clock.Now().UnixMilli())
}

// TestAStepAfterATimeAheadOutlivesARestart: within a week the clock is 25 hours ahead for a second
// time, and core is restarted before it accepts that. The key of a payment is still in use.
func TestAStepAfterATimeAheadOutlivesARestart(t *testing.T) {
	t.Parallel()
	const ahead = 25 * time.Hour
	b := setup(t)
	b.confirms(t, "id", 1)
	first := b.post(t, "/v1/transactions", create(5, ""), keyed("k"))
	b.clock.Step(ahead)
	b.confirms(t, "step", ahead.Milliseconds())
	b.clock.Advance(time.Hour)
	b.confirms(t, "lag", ahead.Milliseconds())
	b.clock.Step(-ahead)
	b.confirms(t, "behind", ahead.Milliseconds())
	b.clock.Step(ahead)
	b.confirms(t, "step", ahead.Milliseconds())
	b.wantKey(t, "ahead again", first, true)
	b.stop(t)
	b.start(t)
	b.wantKey(t, "restarted", first, true)
}

// offClock is the system's clock with an offset.
type offClock struct{ by atomic.Int64 }

func (c *offClock) Now() time.Time { return clock.System().Now().Add(time.Duration(c.by.Load())) }

// TestAStepStoredByACoreThatDoesNotLeadPostgreSQL: the clocks of core and of its server were two
// days behind. Then core's clock is set right. From that moment core does not lead: it has not
// compared the clocks again, or the server's is still behind. It stores the step.
func TestAStepStoredByACoreThatDoesNotLeadPostgreSQL(t *testing.T) {
	t.Parallel()
	const behind = 48 * time.Hour
	for name, c := range map[string]struct{ server, stops bool }{
		"one machine, stopped immediately":  {server: true, stops: true},
		"two machines, stopped immediately": {stops: true},
		"two machines, it runs on":          {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := pgtest.Steered(t)
			url := server.URL(nil)
			now, d := new(offClock), coretest.OnServer(url)
			d.MustMigrate(t)
			server.SetClock(t, -behind)
			now.by.Store(int64(-behind))
			inspect := d.MustInspect(t)
			opened, err := core.Open(t.Context(), core.Config{
				Data: t.TempDir(), Clock: now, Database: d.Open, VaultKEK: testKEK(), Log: slog.New(slog.DiscardHandler),
				SimulatorJournal: filepath.Join(t.TempDir(), "simulator.journal"),
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
		defer func() { _ = opened.Close() }() // the test reads only committed rows
		db[i] = opened
	}
	if err := db[0].KeepConfirmed(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, by := range []time.Duration{48 * time.Hour, 25 * time.Hour} {
		c[i].Step(by)
		if err := db[i].KeepClockStep(t.Context()); err != nil {
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
// Then its clock is set right, too. An earlier key stays in use for its 24 hours.
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
