package clock

import (
	"sync"
	"time"
)

// Fake is a clock that moves only when it is told to. It is safe for concurrent use; make it with NewFake.
type Fake struct {
	mu  sync.RWMutex
	now time.Time // guarded by mu
}

var _ Clock = (*Fake)(nil)

// NewFake returns a fake clock that stands at t.
func NewFake(t time.Time) *Fake { return &Fake{now: t.UTC()} }

// Now returns the time the clock was last set or advanced to, in UTC.
func (f *Fake) Now() time.Time {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.now
}

// Set moves the clock to t, which may lie in its past.
func (f *Fake) Set(t time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = t.UTC()
}

// Advance moves the clock by d; a negative d moves it back.
func (f *Fake) Advance(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = f.now.Add(d)
}
