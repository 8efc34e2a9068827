package store

import (
	"sync"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// tokenClock is how the clock compares with the highest confirmed time, as far as tokens depend on it.
type tokenClock struct {
	mu     sync.Mutex
	behind time.Duration // guarded by mu: by how much the clock is behind; 0 if no token depends on it
	since  time.Time     // guarded by mu: the highest confirmed time at which it was found
}

// setBackTolerance is by how much more the clock can be behind before it counts as set back again.
const setBackTolerance = time.Minute

// latest returns the latest time by which a token that can still be used was made: that of the clock,
// or the highest confirmed time while the clock is behind it, because the clock may be wrong now.
// After an hour the clock counts: all tokens made before it was set back have expired. Those of a
// clock that was ahead by up to three hours are wiped when the clock reaches their own end.
func (c *tokenClock) latest(now, highest time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	behind := highest.Sub(now)
	switch {
	case behind <= payment.TokenLifetime:
		c.behind = 0
		return now
	case c.behind == 0 || behind > c.behind+setBackTolerance:
		c.behind, c.since = behind, highest
	}
	c.behind = min(c.behind, behind)
	if highest.Sub(c.since) >= payment.TokenLifetime {
		return now
	}
	return highest
}

// LatestToken returns the latest time by which a token that can still be used was made. A token, or a
// key of security codes, of a later time was made by a clock that was ahead.
func (db *DB) LatestToken() time.Time { return db.tokens.latest(db.clock.Now(), db.guard.Highest()) }
