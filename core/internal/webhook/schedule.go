package webhook

import (
	"math/rand/v2"
	"time"
)

// schedule is how long to wait after each failed attempt before the next: close together at first, for a receiver that restarts, then over
// three days, for one that nobody looks after on a weekend. After the last one the delivery is given up.
var schedule = []time.Duration{
	5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour,
	12 * time.Hour, 12 * time.Hour, 12 * time.Hour, 12 * time.Hour, 12 * time.Hour,
}

const (
	// jitter is by how much of itself each wait is drawn longer or shorter, so that what failed together does not come back together.
	jitter = 0.1
	// horizon is how old a delivery may be at its next attempt. One that waited in a disabled endpoint's queue for longer gets that one
	// attempt and no other.
	horizon = 80 * time.Hour
	// failingDays is after how long without a single success an endpoint is disabled.
	failingDays = 5 * 24 * time.Hour
	// kept is how long deliveries stay in the log.
	kept = 30 * 24 * time.Hour
)

// nextAttempt is when to try again after the n-th attempt (from 1) failed at now, or false when that was the last.
func nextAttempt(n int64, created, now time.Time) (time.Time, bool) {
	if n < 1 || n > int64(len(schedule)) {
		return time.Time{}, false
	}
	wait := float64(schedule[n-1]) * (1 - jitter + 2*jitter*rand.Float64()) //nolint:gosec // no secret
	next := now.Add(time.Duration(wait))
	return next, next.Sub(created) <= horizon
}
