package clock

import (
	"sync"
	"time"
)

const (
	// stepTolerance is how far a clock may step ahead and be believed at once.
	stepTolerance = time.Minute
	// restartTolerance is that of a program that was restarted, for it has not run meanwhile.
	restartTolerance = time.Hour
	// confirmAfter is after how much monotonic time a step ahead that stays is believed: long enough
	// to set a clock right that was wrong.
	confirmAfter = time.Hour
)

// Guard keeps a clock that is set ahead by mistake from ending rows early. What is removed or ended
// for ever, such as an idempotency key, ends by Confirmed and not by the clock.
//
// The confirmed time advances with the monotonic clock. It follows a clock that was set back at
// once, because a row that ends late does no harm. It follows a clock that stepped ahead after an
// hour in which the step stayed. A Guard is safe for concurrent use; make it with NewGuard.
type Guard struct {
	clock Clock

	mu        sync.Mutex
	confirmed time.Time     // guarded by mu: at the monotonic reading at
	at        time.Duration // guarded by mu
	step      time.Duration // guarded by mu: how far the clock is ahead of the confirmed time; 0 if it is believed
	since     time.Duration // guarded by mu: the monotonic reading at which the step was found
}

// NewGuard returns the guard of a clock, which it believes now.
func NewGuard(c Clock) *Guard {
	return &Guard{clock: c, confirmed: c.Now().Round(0), at: monotonicOf(c)}
}

// Resume sets the confirmed time back to that of an earlier run of the program, if the clock is more
// than an hour ahead of it. Call it once, before the confirmed time is used.
func (g *Guard) Resume(confirmed time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.confirmed.Sub(confirmed) > restartTolerance {
		g.confirmed = confirmed.Round(0)
	}
}

// Confirmed returns the time by which rows may end for ever. It is never later than the clock.
func (g *Guard) Confirmed() time.Time {
	confirmed, _ := g.Read()
	return confirmed
}

// Read returns Confirmed, and how far the clock is ahead of it: 0 unless a step waits to be
// believed.
func (g *Guard) Read() (confirmed time.Time, ahead time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	wall, monotonic := g.clock.Now().Round(0), monotonicOf(g.clock)
	expected := g.confirmed.Add(monotonic - g.at)
	step := wall.Sub(expected)
	waits := g.step != 0 && (step-g.step).Abs() <= stepTolerance
	if step <= stepTolerance || waits && monotonic-g.since >= confirmAfter {
		g.confirmed, g.at, g.step = wall, monotonic, 0
		return wall, 0
	}
	if !waits {
		g.since = monotonic
	}
	g.confirmed, g.at, g.step = expected, monotonic, step
	return expected, step
}

// monotonicOf returns the monotonic reading of a fake clock, or the machine's for other clocks.
func monotonicOf(c Clock) time.Duration {
	if f, ok := c.(*Fake); ok {
		return f.Monotonic()
	}
	return Monotonic()
}
