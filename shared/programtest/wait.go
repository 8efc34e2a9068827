package programtest

import (
	"context"
	"testing"
	"time"
)

// Patience is how long a test waits for an event that takes milliseconds, on a machine that is busy
// with all the other tests.
const Patience = 60 * time.Second

// WaitFor waits for a condition.
func WaitFor(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	WaitWithin(tb, Patience, what, holds)
}

// WaitWithin waits for a condition that can take longer than Patience.
func WaitWithin(tb testing.TB, most time.Duration, what string, holds func() bool) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), most)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			tb.Fatalf("waited in vain for %s until %s", most, what)
		}
	}
}
