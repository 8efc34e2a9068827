package programtest

import (
	"context"
	"os"
	"strconv"
	"testing"
	"time"
)

// Patience is how long a test waits for an event before it fails. It is generous, because the
// machine may be slow and busy with all the other tests.
const Patience = 5 * time.Minute

// The pause between two checks of a condition grows by a twentieth with each check, from the
// shortest to the longest one. A long wait then costs the programs under test fewer requests.
const shortestPause, longestPause = 10 * time.Millisecond, 250 * time.Millisecond

// Poll waits for a condition until ctx ends, and reports whether the condition holds.
func Poll(ctx context.Context, holds func() bool) bool {
	pause := shortestPause
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
		pause = min(pause+pause/20, longestPause)
		tick.Reset(pause)
	}
	return true
}

// WaitFor waits for a condition, and fails the test after Patience. The failure describes the
// condition by what.
func WaitFor(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	WaitWithin(tb, Patience, what, holds)
}

// WaitWithin is WaitFor for a condition that can take longer than Patience.
func WaitWithin(tb testing.TB, most time.Duration, what string, holds func() bool) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), most)
	defer cancel()
	if !Poll(ctx, holds) {
		tb.Fatalf("after %s this does not hold: %s", most, what)
	}
}

// Number returns the number in an environment variable that lengthens or repeats a test. It returns
// fallback if the variable is not set.
func Number(tb testing.TB, variable string, fallback uint64) uint64 {
	tb.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return fallback
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		tb.Fatalf("%s: %q: want a whole number", variable, text)
	}
	return n
}

// Soak reports whether CAUSEWAY_SOAK is 1: tests then take their long form.
func Soak() bool { return os.Getenv("CAUSEWAY_SOAK") == "1" }
