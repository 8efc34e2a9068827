package clock_test

import (
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
)

const day = 24 * time.Hour

// wantConfirmed compares the confirmed time with the clock.
func wantConfirmed(t *testing.T, g *clock.Guard, c *clock.Fake, behind time.Duration) {
	t.Helper()
	confirmed, ahead := g.Read()
	if got := c.Now().Sub(confirmed); got != behind || ahead != behind {
		t.Errorf("the confirmed time: got %s behind the clock, reported %s, want %s", got, ahead, behind)
	}
	if got := g.Confirmed(); !got.Equal(confirmed) {
		t.Errorf("confirmed: got %s, then %s", confirmed, got)
	}
}

func TestGuardFollowsAClockThatRuns(t *testing.T) {
	t.Parallel()
	c := clock.NewFake(time.Unix(0, 0))
	g := clock.NewGuard(c)
	for _, by := range []time.Duration{0, time.Second, day, 365 * day} {
		c.Advance(by)
		wantConfirmed(t, g, c, 0)
	}
	c.Step(time.Minute)
	wantConfirmed(t, g, c, 0)
	c.Step(-day)
	wantConfirmed(t, g, c, 0)
}

// TestGuardHoldsAStep: a step ahead is accepted only after it has stayed for an hour.
func TestGuardHoldsAStep(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{time.Minute + 1, day, 3650 * day} {
		c := clock.NewFake(time.Unix(0, 0))
		g := clock.NewGuard(c)
		c.Step(by)
		wantConfirmed(t, g, c, by)
		c.Advance(30 * time.Minute)
		wantConfirmed(t, g, c, by)
		c.Advance(30*time.Minute - time.Nanosecond)
		wantConfirmed(t, g, c, by)
		c.Advance(time.Nanosecond)
		wantConfirmed(t, g, c, 0)
		c.Advance(day)
		wantConfirmed(t, g, c, 0)
	}
}

// TestGuardBeginsAnewWithEachStep: a reversed step does not count towards the hour, and neither
// does a step before another one.
func TestGuardBeginsAnewWithEachStep(t *testing.T) {
	t.Parallel()
	c := clock.NewFake(time.Unix(0, 0))
	g := clock.NewGuard(c)
	c.Step(day)
	wantConfirmed(t, g, c, day)
	c.Advance(59 * time.Minute)
	c.Step(day)
	wantConfirmed(t, g, c, 2*day)
	c.Advance(59 * time.Minute)
	wantConfirmed(t, g, c, 2*day)
	c.Step(-2 * day)
	wantConfirmed(t, g, c, 0)
	c.Step(2 * day)
	c.Advance(59 * time.Minute)
	wantConfirmed(t, g, c, 2*day)
}

// TestGuardResumes: a program that was restarted accepts a clock that is less than an hour ahead of
// the last confirmed time.
func TestGuardResumes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ ahead, want time.Duration }{
		{-day, 0}, {0, 0}, {time.Hour, 0}, {time.Hour + 1, time.Hour + 1}, {day, day},
	} {
		now := clock.NewFake(time.Unix(0, 0))
		g := clock.NewGuard(now)
		g.Resume(clock.GuardState{Highest: now.Now().Add(-c.ahead)})
		wantConfirmed(t, g, now, c.want)
		now.Advance(time.Hour - 1)
		wantConfirmed(t, g, now, c.want)
		now.Advance(1)
		wantConfirmed(t, g, now, 0)
		now.Step(time.Hour)
		wantConfirmed(t, g, now, time.Hour)
	}
}

// wantHighest compares the highest confirmed time with the clock.
func wantHighest(t *testing.T, g *clock.Guard, c *clock.Fake, ahead time.Duration) {
	t.Helper()
	if got := g.Highest().Sub(c.Now()); got != ahead {
		t.Errorf("the highest confirmed time: got %s ahead of the clock, want %s", got, ahead)
	}
}

// TestGuardKeepsTheHighest: the highest confirmed time advances while the clock is set back, and
// does not follow an unconfirmed step.
func TestGuardKeepsTheHighest(t *testing.T) {
	t.Parallel()
	c := clock.NewFake(time.Unix(0, 0))
	g := clock.NewGuard(c)
	wantHighest(t, g, c, 0)
	c.Step(-time.Minute)
	wantHighest(t, g, c, 0)
	c.Step(-day)
	wantHighest(t, g, c, day)
	c.Advance(30 * time.Hour)
	wantHighest(t, g, c, day)
	c.Step(3 * day)
	wantHighest(t, g, c, -2*day)
	c.Advance(time.Hour - 1)
	wantHighest(t, g, c, -2*day)
	c.Advance(1)
	wantHighest(t, g, c, 0)
}

// TestGuardForgetsTheHighest: a clock that stays behind for a week is accepted.
func TestGuardForgetsTheHighest(t *testing.T) {
	t.Parallel()
	c := clock.NewFake(time.Unix(0, 0))
	g := clock.NewGuard(c)
	for range 2 {
		c.Advance(30 * day)
		c.Step(-day)
		wantHighest(t, g, c, day)
		c.Advance(7*day - 1)
		wantHighest(t, g, c, day)
		c.Advance(1)
		wantHighest(t, g, c, 0)
	}
}

// TestGuardResumesTheHighest: a program that was restarted under a clock that is behind keeps the
// highest confirmed time.
func TestGuardResumesTheHighest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ resumed, want time.Duration }{
		{day, day}, {time.Minute + 1, time.Minute + 1}, {time.Minute, 0}, {0, 0}, {-time.Hour, 0}, {-day, -day},
	} {
		now := clock.NewFake(time.Unix(0, 0))
		g := clock.NewGuard(now)
		g.Resume(clock.GuardState{Highest: now.Now().Add(c.resumed)})
		wantHighest(t, g, now, c.want)
		now.Advance(time.Minute)
		wantHighest(t, g, now, c.want)
	}
}

// TestGuardWaitsThroughSmallSteps: if a clock that is ahead moves by a minute, that is the same
// step, and the hour continues. If it moves by more, the hour begins again, even if the clock stays
// ahead.
func TestGuardWaitsThroughSmallSteps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		by   time.Duration
		same bool
	}{{time.Minute, true}, {-time.Minute, true}, {time.Minute + 1, false}, {-time.Minute - 1, false}, {
		-12 * time.Hour,
		false,
	}} {
		now := clock.NewFake(time.Unix(0, 0))
		g := clock.NewGuard(now)
		now.Step(day)
		wantConfirmed(t, g, now, day)
		now.Advance(59 * time.Minute)
		now.Step(c.by)
		wantConfirmed(t, g, now, day+c.by)
		now.Advance(time.Minute)
		if c.same {
			wantConfirmed(t, g, now, 0)
			continue
		}
		wantConfirmed(t, g, now, day+c.by)
		now.Advance(59*time.Minute - 1)
		wantConfirmed(t, g, now, day+c.by)
		now.Advance(1)
		wantConfirmed(t, g, now, 0)
	}
}

// TestGuardForgetsTheHighestOfAnEarlierRun: the week in which a clock is behind begins when the
// program resumes, not when it first reads the guard.
func TestGuardForgetsTheHighestOfAnEarlierRun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ after, want time.Duration }{{7*day - 1, day}, {7 * day, 0}} {
		now := clock.NewFake(time.Unix(0, 0))
		g := clock.NewGuard(now)
		g.Resume(clock.GuardState{Highest: now.Now().Add(day)})
		now.Advance(c.after)
		wantHighest(t, g, now, c.want)
	}
}

// TestGuardConfirmedLate tests that ConfirmedLate follows a step ahead a day after it was
// confirmed. A clock that is set back reverses steps. The step of a restart counts immediately.
func TestGuardConfirmedLate(t *testing.T) {
	t.Parallel()
	c := clock.NewFake(time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC))
	g := clock.NewGuard(c)
	want := func(when string, behind time.Duration) {
		t.Helper()
		if got, want := g.ConfirmedLate(), c.Now().Add(-behind); !got.Equal(want) {
			t.Errorf("%s: got %v, want %v", when, got, want)
		}
	}
	confirm := func(by time.Duration) {
		c.Step(by)
		g.Read()
		c.Advance(time.Hour)
		g.Read()
	}
	want("at first", 0)
	confirm(2 * day)
	want("once confirmed", 2*day)
	c.Advance(day - time.Second)
	want("before the end", 2*day)
	c.Advance(time.Second)
	want("at the end", 0)
	confirm(day)
	confirm(2 * day)
	want("two steps", 3*day)
	c.Step(-2 * day)
	want("one taken back", day)
	c.Step(-5 * day)
	want("more taken back", 0)

	g = clock.NewGuard(c)
	g.Resume(clock.GuardState{Highest: c.Now().Add(-day)})
	g.Read()
	c.Advance(time.Hour)
	want("after a restart", 0)
	confirm(day)
	want("a step after it", day)
}

// TestGuardKeepsItsLag: small corrections back do not reduce the lag of ConfirmedLate.
func TestGuardKeepsItsLag(t *testing.T) {
	t.Parallel()
	c := clock.NewFake(time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC))
	g := clock.NewGuard(c)
	c.Step(day)
	g.Read()
	c.Advance(time.Hour)
	g.Read()
	for range 100 {
		c.Step(-time.Minute)
		g.Read()
		c.Step(time.Minute)
		g.Read()
	}
	if got, want := g.ConfirmedLate(), c.Now().Add(-day); !got.Equal(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	c.Step(-time.Minute - 1)
	if got, want := g.ConfirmedLate(), c.Now().Add(-day+time.Minute+1); !got.Equal(want) {
		t.Errorf("set back by more than a minute: got %v, want %v", got, want)
	}
}
