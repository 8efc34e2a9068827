package clock

import "time"

// GuardState is the state from which a Guard continues after a restart of the program. LagUntil and
// LowUntil are compared with Highest.
type GuardState struct {
	Highest  time.Time     // as Guard.Highest
	Behind   time.Duration // how far Confirmed is behind Highest
	Step     time.Duration // as Guard.Stepped
	Lag      time.Duration // by how much ConfirmedLate is behind Confirmed
	LagUntil time.Time     // when Lag ends; zero for no lag
	LowUntil time.Time     // when Highest is forgotten; zero unless the clock was set back
}

// State returns the state from which Resume continues.
func (g *Guard) State() GuardState {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.read()
	s := GuardState{Highest: g.highest, Behind: g.highest.Sub(g.confirmed), Step: g.seen, Lag: g.lag}
	if g.lag > 0 {
		s.LagUntil = g.highest.Add(g.lagUntil - g.at)
	}
	if g.low {
		s.LowUntil = g.highest.Add(g.lowUntil - g.at)
	}
	return s
}

// Resume continues from the state of an earlier run of the program. The hour of a step that waited
// begins again. If the clock is ahead by up to an hour more, Resume assumes that the program was
// down for so long. If it is ahead by more than an hour, Resume sets the confirmed time back to the
// time of the state for an hour. Call it once, before another method.
func (g *Guard) Resume(s GuardState) {
	g.mu.Lock()
	defer g.mu.Unlock()
	ahead := g.confirmed.Sub(s.Highest.Add(-s.Behind))
	g.seen = max(0, min(s.Step, ahead))
	g.step = g.seen
	if ahead-g.seen > restartTolerance {
		g.step = ahead
	}
	g.confirmed, g.since = g.confirmed.Add(-g.step), g.at
	g.highest = s.Highest.Round(0)
	g.raise(0)
	if s.Lag > 0 {
		g.lag, g.lagUntil = s.Lag, g.at+min(s.LagUntil.Sub(g.highest), lateBy)
	}
	if g.low && !s.LowUntil.IsZero() {
		g.lowUntil = g.at + min(s.LowUntil.Sub(g.highest), forgetAfter)
	}
}
