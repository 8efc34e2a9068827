package id

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
)

const (
	lowBits   = 21
	maxMillis = 1<<(63-lowBits) - 1 // the year 2109
	firstSpan = 1 << (lowBits - 1)  // a new millisecond starts in the lower half, so that steps have room
	stepSpan  = 64
)

// Generator draws the integers of new ids. It is safe for concurrent use.
//
// Two processes may draw the same number. The store enforces that an id is unique, and retries
// after a collision.
type Generator struct {
	clock clock.Clock
	mu    sync.Mutex
	last  int64 // guarded by mu
}

// NewGenerator returns a generator that orders its numbers by the time of c.
func NewGenerator(c clock.Clock) *Generator { return &Generator{clock: c} }

// Pass makes all further numbers greater than n.
func (g *Generator) Pass(n int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last = max(g.last, n)
}

// Next returns a positive number greater than all it returned before: unix milliseconds in the
// upper 42 bits, random bits in the lower 21. It stays increasing when the clock steps back, and
// when a millisecond is used up (it then borrows from the next).
func (g *Generator) Next() int64 {
	ms := min(g.clock.Now().UnixMilli(), maxMillis)
	chance := rand.Uint32() //nolint:gosec // ids are not secrets

	g.mu.Lock()
	defer g.mu.Unlock()
	if ms > g.last>>lowBits {
		g.last = ms<<lowBits | int64(chance%firstSpan)
	} else {
		g.last += 1 + int64(chance%stepSpan)
	}
	return g.last
}

// At returns the least number that a generator draws at t. Ids below it were made before t. A time
// outside of the range of ids counts as the nearest time within.
func At(t time.Time) int64 {
	return max(0, min(t.UnixMilli(), maxMillis)) << lowBits
}

// TimeOf returns the time at which a generator drew n, in whole milliseconds. After a busy
// millisecond it is some milliseconds too late.
func TimeOf(n int64) time.Time { return time.UnixMilli(n >> lowBits) }
