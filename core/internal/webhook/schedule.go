package webhook

import (
	"math/rand/v2"
	"time"
)

// schedule is the wait after each failed attempt. The first waits are short, for a receiver that
// restarts. In total they are three days, for a receiver that is down over a weekend. After the
// last attempt the delivery ends as failed.
var schedule = []time.Duration{
	5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour,
	12 * time.Hour, 12 * time.Hour, 12 * time.Hour, 12 * time.Hour, 12 * time.Hour,
}

const (
	// jitter is the share by which each wait is longer or shorter at random, so that attempts that
	// failed together are not repeated together.
	jitter = 0.1
	// horizon is how old a delivery may be at its next attempt. After a longer wait at a disabled
	// endpoint, a delivery gets only one attempt.
	horizon = 80 * time.Hour
	// An endpoint is disabled after failingDays without a single success.
	failingDays = 5 * 24 * time.Hour
	// kept is how long deliveries are kept in the log.
	kept = 30 * 24 * time.Hour
)

// nextAttempt returns the time of the next attempt after the n-th one (from 1) failed at now, or
// false if that was the last.
func nextAttempt(n int64, created, now time.Time) (time.Time, bool) {
	if n < 1 || n > int64(len(schedule)) {
		return time.Time{}, false
	}
	wait := float64(schedule[n-1]) * (1 - jitter + 2*jitter*rand.Float64()) //nolint:gosec // no secret
	next := now.Add(time.Duration(wait))
	return next, next.Sub(created) <= horizon
}
