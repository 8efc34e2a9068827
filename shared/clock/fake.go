package clock

import (
	"sync"
	"time"
)

// Fake is a clock that moves only when it is set. It is safe for concurrent use; make it with
// NewFake.
type Fake struct {
	mu        sync.RWMutex
	now       time.Time     // guarded by mu
	monotonic time.Duration // guarded by mu
}

var _ Clock = (*Fake)(nil)

// NewFake returns a fake clock that shows t.
func NewFake(t time.Time) *Fake { return &Fake{now: t.UTC()} }

// Now returns the time the clock was last set or advanced to, in UTC.
func (f *Fake) Now() time.Time {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.now
}

// Monotonic returns how much time has passed on this clock. It counts all moves ahead except the
// moves of Step.
func (f *Fake) Monotonic() time.Duration {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.monotonic
}

// Set moves the clock to t, which may be in its past. Calls with a later t let time pass.
func (f *Fake) Set(t time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.monotonic += max(0, t.Sub(f.now))
	f.now = t.UTC()
}

// Advance lets d pass. A negative d moves the clock back.
func (f *Fake) Advance(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.monotonic += max(0, d)
	f.now = f.now.Add(d)
}

// Step sets the clock ahead by d, or back by a negative d, and no time passes.
func (f *Fake) Step(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = f.now.Add(d)
}
