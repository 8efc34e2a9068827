package engine

import (
	"sync"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
)

// clockTolerance is how far the clock of a leader may be off the server's. A core decides by its
// clock when a lease, a step or a key has ended.
const clockTolerance = 5 * time.Second

// RequestTolerance is how far the clock of a core that carries out requests may be off the
// server's. A step has the time of that clock. If that clock were further behind, the leader would
// claim the step while its request runs, and reverse the payment.
const RequestTolerance = 10 * time.Second

// trustedOffset is the largest difference from the server's time with which an idempotency key may
// be claimed.
const trustedOffset = time.Minute

// agreement compares the clock of a core with the server's. The zero value has compared nothing. It
// is safe for concurrent use.
type agreement struct {
	mu       sync.Mutex
	offset   time.Duration // guarded by mu: how far the clock was ahead of the server's at the last comparison
	compared reading       // guarded by mu: the clocks at that moment
	off      bool          // guarded by mu: whether they did not agree then
}

// ahead returns how far the clock is ahead of the server's at a reading, negative for behind. It is
// the last measured offset, moved by the steps of the clock since then. A step of the clock is its
// advance beyond the monotonic clock. Without that, a core would use a clock that has jumped for up
// to a second. If the clock is a day ahead, every idempotency key has expired, and a retry would be
// a second payment.
func (a *agreement) ahead(now reading) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.compared.wall.IsZero() {
		return 0
	}
	return a.offset + now.wall.Sub(a.compared.wall) - (now.monotonic - a.compared.monotonic)
}

// compare ends a comparison that began at a reading and now has the server's time. It reports
// whether the clocks agree, and whether they did before.
func (a *agreement) compare(before, after reading, server time.Time) (offset time.Duration, agreed, agrees bool) {
	begun := after.wall.Add(before.monotonic - after.monotonic) // by the present clock, in case it has stepped
	a.mu.Lock()
	defer a.mu.Unlock()
	agreed = !a.off
	a.offset, a.compared = apart(begun, server, after.wall), after
	a.off = a.offset.Abs() > clockTolerance
	return a.offset, agreed, !a.off
}

// reading is a reading of the core's clock and of the machine's monotonic clock at about the same
// time.
type reading struct {
	wall      time.Time
	monotonic time.Duration
}

// read reads a clock; nil is the system's.
func read(c clock.Clock) reading {
	if c == nil {
		c = clock.System()
	}
	return reading{wall: c.Now().Round(0), monotonic: clock.Monotonic()}
}

// apart returns the least offset of a clock to another one. The other clock was read between the
// times before and after.
func apart(before, other, after time.Time) time.Duration {
	switch {
	case other.Before(before):
		return before.Sub(other)
	case other.After(after):
		return after.Sub(other)
	}
	return 0
}
