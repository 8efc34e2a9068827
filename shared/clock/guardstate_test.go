package clock_test

import (
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
)

// restarted returns a guard that continues from another one after a downtime and a step of the
// clock.
func restarted(g *clock.Guard, c *clock.Fake, down, step time.Duration) *clock.Guard {
	s := g.State()
	c.Advance(down)
	c.Step(step)
	next := clock.NewGuard(c)
	next.Resume(s)
	return next
}

// wantBehind compares how far the times of a guard are behind the clock.
func wantBehind(t *testing.T, when string, g *clock.Guard, c *clock.Fake, confirmed, late, stepped time.Duration) {
	t.Helper()
	if got := c.Now().Sub(g.Confirmed()); got != confirmed {
		t.Errorf("%s: the confirmed time: got %s behind, want %s", when, got, confirmed)
	}
	if got := c.Now().Sub(g.ConfirmedLate()); got != late {
		t.Errorf("%s: the late confirmed time: got %s behind, want %s", when, got, late)
	}
	if got := g.Stepped(); got != stepped {
		t.Errorf("%s: steps: got %s, want %s", when, got, stepped)
	}
}

// TestGuardResumesAStep: a step that was seen before a restart waits for another hour, and the late
// confirmed time follows it a day after that. A step that the guard did not see counts as a
// downtime.
func TestGuardResumesAStep(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		step, down, moved time.Duration // moved: while the program was down
		ahead, seen       time.Duration // after the restart
	}{
		{step: 2 * day, ahead: 2 * day, seen: 2 * day},
		{step: 2 * day, down: time.Hour, ahead: 2 * day, seen: 2 * day},
		{step: 2 * day, down: time.Hour + 1, ahead: 2*day + time.Hour + 1, seen: 2 * day},
		{step: 2 * day, moved: -day, ahead: day, seen: day},
		{step: 2 * day, moved: -2 * day},
		{step: 2 * day, moved: -3 * day},
		{step: 2 * day, moved: -2*day + time.Minute},
		{step: 2 * day, moved: day, ahead: 3 * day, seen: 2 * day},
		{moved: 2 * day, ahead: 2 * day},
		{down: 2 * time.Hour, ahead: 2 * time.Hour},
		{down: time.Hour},
	} {
		now := clock.NewFake(time.Unix(0, 0))
		g := clock.NewGuard(now)
		now.Step(c.step)
		g.Read()
		now.Advance(59 * time.Minute)
		g = restarted(g, now, c.down, c.moved)
		wantBehind(t, "resumed", g, now, c.ahead, c.ahead, c.seen)
		now.Advance(time.Hour - 1)
		wantBehind(t, "before the hour", g, now, c.ahead, c.ahead, c.seen)
		now.Advance(1)
		wantBehind(t, "after the hour", g, now, 0, c.seen, 0)
		now.Advance(day)
		wantBehind(t, "after a day", g, now, 0, 0, 0)
	}
}

// TestGuardAddsAStepToADowntime: a step that is seen after Resume found the clock ahead begins the
// hour again. So does a step that reverses a part of it. The late confirmed time follows only steps
// with delay, not the downtime.
func TestGuardAddsAStepToADowntime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ by, then, seen time.Duration }{
		{day, 0, day},
		{day, -12 * time.Hour, 12 * time.Hour},
		{day, -25 * time.Hour, 0},
		{-2 * time.Hour, 0, 0},
		{-day, 0, 0},
	} {
		now := clock.NewFake(time.Unix(0, 0))
		g := restarted(clock.NewGuard(now), now, 5*time.Hour, 0)
		wantBehind(t, "resumed", g, now, 5*time.Hour, 5*time.Hour, 0)
		now.Advance(30 * time.Minute)
		now.Step(c.by)
		g.Read()
		now.Step(c.then)
		ahead := max(0, 5*time.Hour+c.by+c.then)
		wantBehind(t, "stepped", g, now, ahead, ahead, c.seen)
		now.Advance(time.Hour - 1)
		wantBehind(t, "before the hour", g, now, ahead, ahead, c.seen)
		now.Advance(1)
		wantBehind(t, "after the hour", g, now, 0, c.seen, 0)
	}
}

// TestGuardResumesTheLag: the day in which ConfirmedLate is behind a step that was confirmed counts
// through restarts, and downtimes of up to an hour.
func TestGuardResumesTheLag(t *testing.T) {
	t.Parallel()
	now := clock.NewFake(time.Unix(0, 0))
	g := clock.NewGuard(now)
	now.Step(2 * day)
	g.Read()
	now.Advance(time.Hour)
	g = restarted(g, now, 0, 0)
	wantBehind(t, "confirmed", g, now, 0, 2*day, 0)
	now.Advance(10 * time.Hour)
	g = restarted(g, now, time.Hour, 0)
	wantBehind(t, "down for an hour", g, now, 0, 2*day, 0)
	g = restarted(g, now, 5*time.Hour, 0)
	wantBehind(t, "down for 5 hours", g, now, 5*time.Hour, 2*day+5*time.Hour, 0)
	now.Advance(12 * time.Hour)
	wantBehind(t, "accepted", g, now, 0, 2*day, 0)
	g = restarted(g, now, 0, 0)
	now.Advance(time.Hour - 1)
	wantBehind(t, "before the end", g, now, 0, 2*day, 0)
	now.Advance(1)
	wantBehind(t, "at the end", g, now, 0, 0, 0)
	if s := g.State(); s.Lag != 0 || !s.LagUntil.IsZero() {
		t.Errorf("the lag: got %s until %s, want none", s.Lag, s.LagUntil)
	}
}

// TestGuardResumesNoLongerLag: a stored end that is further away than a lag lasts counts as a day.
// This happens after a clock that was ahead is set back while the program is down.
func TestGuardResumesNoLongerLag(t *testing.T) {
	t.Parallel()
	now := clock.NewFake(time.Unix(0, 0))
	g := clock.NewGuard(now)
	g.Resume(clock.GuardState{Highest: now.Now(), Lag: day, LagUntil: now.Now().Add(90 * day)})
	now.Advance(day - 1)
	wantBehind(t, "before the end", g, now, 0, day, 0)
	now.Advance(1)
	wantBehind(t, "at the end", g, now, 0, 0, 0)

	g = clock.NewGuard(now)
	g.Resume(clock.GuardState{Highest: now.Now().Add(day), LowUntil: now.Now().Add(90 * day)})
	now.Advance(7*day - 1)
	wantHighest(t, g, now, day)
	now.Advance(1)
	wantHighest(t, g, now, 0)
}

// TestGuardResumesAStepAfterATimeAhead: the clock was two days ahead until it was accepted, and was
// set right. In the week in which Highest is ahead, a step waits across a restart as at any time.
func TestGuardResumesAStepAfterATimeAhead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		step, down, moved time.Duration // moved: while the program was down
		ahead, seen       time.Duration // after the restart
	}{
		{step: day, ahead: day, seen: day},
		{step: 3 * day, ahead: 3 * day, seen: 3 * day},
		{step: 3 * day, moved: -2 * day, ahead: day, seen: day},
		{step: day, moved: -2 * day},
		{moved: day, ahead: day},
		{moved: 3 * day, ahead: 3 * day},
		{down: time.Hour},
		{},
	} {
		now := clock.NewFake(time.Unix(0, 0))
		g := clock.NewGuard(now)
		now.Step(2 * day)
		g.Read()
		now.Advance(time.Hour)
		g.Read()
		now.Step(-2 * day)
		wantBehind(t, "set right", g, now, 0, 0, 0)
		now.Step(c.step)
		g.Read()
		now.Advance(59 * time.Minute)
		g = restarted(g, now, c.down, c.moved)
		wantBehind(t, "resumed", g, now, c.ahead, c.ahead, c.seen)
		now.Advance(time.Hour)
		wantBehind(t, "after the hour", g, now, 0, c.seen, 0)
	}
}

// TestGuardForgetsTheHighestThroughRestarts: the week in which a clock is behind counts through
// restarts, and starts again once the clock was right.
func TestGuardForgetsTheHighestThroughRestarts(t *testing.T) {
	t.Parallel()
	now := clock.NewFake(time.Unix(0, 0))
	g := clock.NewGuard(now)
	for range 2 {
		now.Step(-day)
		for range 6 {
			g.Read()
			now.Advance(day)
			g = restarted(g, now, 0, 0)
			wantHighest(t, g, now, day)
		}
		now.Advance(day - 1)
		wantHighest(t, g, now, day)
		g = restarted(g, now, 0, 0)
		now.Advance(1)
		wantHighest(t, g, now, 0)
		if s := g.State(); !s.LowUntil.IsZero() {
			t.Errorf("the end of the week: got %s, want none", s.LowUntil)
		}
	}
}
