package clock

import (
	"sync"
	"time"
)

const (
	// stepTolerance is how far a clock may step ahead and be accepted immediately.
	stepTolerance = time.Minute
	// restartTolerance replaces stepTolerance after a restart, because the program has not run
	// meanwhile.
	restartTolerance = time.Hour
	// confirmAfter is the monotonic time after which a lasting step ahead is accepted. It is long
	// enough to correct a wrong clock.
	confirmAfter = time.Hour
	// lateBy is the additional monotonic time after which ConfirmedLate follows a step ahead.
	lateBy = 24 * time.Hour
	// forgetAfter is how long Highest stays ahead of a clock that was set back.
	forgetAfter = 7 * 24 * time.Hour
)

// Guard keeps a clock that is set ahead by mistake from ending rows early. A final removal or end,
// for example of an idempotency key, must depend on Confirmed and not on the clock.
//
// The confirmed time advances with the monotonic clock. It follows a clock that was set back
// immediately, because a row that ends late does no harm. It follows a step ahead only after an
// hour in which the step remains. A retention that begins now counts from Highest, because a clock
// that was set back may also be wrong. A Guard is safe for concurrent use; make it with NewGuard.
type Guard struct {
	clock Clock

	mu        sync.Mutex
	confirmed time.Time     // guarded by mu: at the monotonic reading at
	at        time.Duration // guarded by mu
	step      time.Duration // guarded by mu: how far the clock is ahead of the confirmed time; 0 if it is accepted
	seen      time.Duration // guarded by mu: the part of the step that Resume did not find, so no time passed in it
	since     time.Duration // guarded by mu: the monotonic reading at which the step was found
	highest   time.Time     // guarded by mu: at the monotonic reading at
	lag       time.Duration // guarded by mu: by how much ConfirmedLate is behind confirmed
	lagUntil  time.Duration // guarded by mu: the monotonic reading at which the lag ends
	low       bool          // guarded by mu: the confirmed time is behind highest
	lowUntil  time.Duration // guarded by mu: the monotonic reading at which highest is forgotten then
}

// NewGuard returns the guard of a clock, which it accepts now.
func NewGuard(c Clock) *Guard {
	now := c.Now().Round(0)
	return &Guard{clock: c, confirmed: now, highest: now, at: MonotonicOf(c)}
}

// Highest returns the highest time that was confirmed, and the time that has passed since by the
// monotonic clock. It is later than Confirmed by more than a minute only if the clock was set back,
// for a week at most.
func (g *Guard) Highest() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.read()
	return g.highest
}

// Confirmed returns the time by which rows may end for ever. It is never later than the clock.
func (g *Guard) Confirmed() time.Time {
	confirmed, _ := g.Read()
	return confirmed
}

// ConfirmedLate returns the time by which rows end that were kept for up to a day from the clock's
// time on. It follows a step ahead a day after Confirmed does. Otherwise a row that a clock a day
// behind wrote would end once the clock is right. It follows the step that Resume found as
// Confirmed does, because that time may have passed.
func (g *Guard) ConfirmedLate() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.read()
	return g.confirmed.Add(-g.lag)
}

// Stepped returns how far the clock stepped ahead in steps that wait to be accepted. Unlike the
// result of Read, it does not include a step that Resume found.
func (g *Guard) Stepped() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.read()
	return g.seen
}

// Read returns Confirmed, and how far the clock is ahead of it: 0 unless a step waits to be
// accepted.
func (g *Guard) Read() (confirmed time.Time, ahead time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.read()
	return g.confirmed, g.step
}

// read advances the guard to the present.
func (g *Guard) read() {
	wall, monotonic := g.clock.Now().Round(0), MonotonicOf(g.clock)
	passed := monotonic - g.at
	expected := g.confirmed.Add(passed)
	step := wall.Sub(expected)
	same := g.step != 0 && (step-g.step).Abs() <= stepTolerance
	switch {
	case step <= stepTolerance:
		if step < -stepTolerance {
			g.lag = max(0, g.lag+step)
		}
		g.confirmed, g.step, g.seen = wall, 0, 0
	case same && monotonic-g.since >= confirmAfter:
		if g.seen > 0 {
			g.lag, g.lagUntil = g.lag+g.seen, monotonic+lateBy
		}
		g.confirmed, g.step, g.seen = wall, 0, 0
	case same:
		g.confirmed, g.step = expected, step
	default:
		g.seen, g.since = max(0, g.seen+step-g.step), monotonic
		g.confirmed, g.step = expected, step
	}
	if monotonic >= g.lagUntil {
		g.lag = 0
	}
	g.at = monotonic
	g.raise(passed)
}

// raise advances the highest confirmed time by the time that has passed.
func (g *Guard) raise(passed time.Duration) {
	g.highest = g.highest.Add(passed)
	switch {
	case g.highest.Sub(g.confirmed) <= stepTolerance, g.low && g.at >= g.lowUntil:
		g.highest, g.low = g.confirmed, false
	case !g.low:
		g.low, g.lowUntil = true, g.at+forgetAfter
	}
}
