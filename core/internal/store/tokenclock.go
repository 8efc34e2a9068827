package store

import (
	"sync"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// tokenClock decides which time tokens are compared with after the clock was set back.
type tokenClock struct {
	mu     sync.Mutex
	behind time.Duration // guarded by mu: how far the clock is behind the highest confirmed time; 0 if tokens ignore it
	since  time.Time     // guarded by mu: the highest confirmed time when that was found
}

// setBackTolerance is by how much further the clock must fall behind to count as set back again.
const setBackTolerance = time.Minute

// latest returns the latest time at which a usable token was made. It is the clock's time, or the
// highest confirmed time while the clock is behind that, because the clock may be wrong now. After
// an hour it is the clock's time again: all tokens from before the clock was set back have expired.
// Tokens of a clock that was ahead by up to three hours are wiped when the clock reaches their
// expiry.
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

// LatestToken returns the latest time at which a usable token was made. A clock that was ahead made
// a token, or a key of security codes, with a later time.
func (db *DB) LatestToken() time.Time { return db.tokens.latest(db.clock.Now(), db.guard.Highest()) }
