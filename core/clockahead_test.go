package core_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestRestartByAClockThatIsAhead: a service that starts by a clock a day ahead makes no second
// payment under a used key. An hour later it believes the clock, and the key has expired.
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

// confirms waits until a column of the row that a restarted core continues from has a value.
func (b *bundle) confirms(t *testing.T, column string, want int64) {
	t.Helper()
	programtest.WaitFor(t, fmt.Sprintf("%s is %d", column, want), func() bool {
		return b.number(t, "SELECT COUNT(*) FROM confirmed_clock WHERE "+column+" = ?", want) == 1
	})
}

// wantKey sends the payment of a key again, and reports whether the key is still in use.
func (b *bundle) wantKey(t *testing.T, name string, first answer, want bool) {
	t.Helper()
	again := b.post(t, "/v1/transactions", create(5, ""), keyed("k"))
	if used := string(again.body) == string(first.body); used != want || again.status != http.StatusCreated {
		t.Errorf("%s: got %d, the first payment %t, want it %t", name, again.status, used, want)
	}
}

// TestDateOfAClockThatIsAhead: Date does not follow a clock that is set ahead until the step is
// believed. The age of a payment that a client measures by Date does not grow by the step.
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
	b.wantDate(t, "believed", b.clock.Now())
}

// TestDateAfterADowntime: Date is the clock's as soon as core runs again, and so is the time of
// each new payment.
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
// Date. The time of the server alone decides, so a step that the server makes, too, counts at once.
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
// right while core runs. Whenever core is restarted, the key is used for the 24 hours in which core
// ran, and no longer.
func TestAKeyOutlivesACorrectionAndARestart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		behind, ran, down time.Duration // ran: from the correction to the restart
		boot              bool          // the clock stood still while core was down, before the payment
	}{
		"the first start, restarted once believed": {behind: 25 * time.Hour, ran: time.Hour},
		"the first start, restarted hours later":   {behind: 25 * time.Hour, ran: 5 * time.Hour},
		"a boot, restarted after 5 minutes":        {behind: 48 * time.Hour, ran: 5 * time.Minute, boot: true},
		"a boot, restarted after 3 hours":          {behind: 48 * time.Hour, ran: 3 * time.Hour, boot: true},
		"a boot, restarted at once":                {behind: 48 * time.Hour, boot: true},
		"down for 50 minutes":                      {behind: 48 * time.Hour, ran: 5 * time.Minute, down: 50 * time.Minute},
		"down for 2 hours":                         {behind: 48 * time.Hour, ran: 5 * time.Minute, down: 2 * time.Hour},
		"down for 2 hours, believed":               {behind: 48 * time.Hour, ran: 2 * time.Hour, down: 2 * time.Hour},
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
// guard again. It starts by a step that it saw.
func TestAStopStoresAStep(t *testing.T) {
	t.Parallel()
	b := openBundle(t, &bundle{file: true, rateLimit: -1})
	b.confirms(t, "id", 1)
	b.clock.Step(48 * time.Hour)
	b.stop(t)
	b.start(t)
	b.wantDate(t, "restarted", b.clock.Now().Add(-48*time.Hour))
}

// TestAStopStoresAStepPostgreSQL: a core that stops stores a step, also if it has handed on the
// lead before. A key of before the step is still in use when the step is believed.
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

// TestATimeAheadIsForgottenAcrossRestarts: the clock was ten years ahead until core believed it. A
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
// time, and core is restarted before it believes that. The key of a payment is still in use.
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
