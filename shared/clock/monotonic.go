package clock

import "time"

// began is read once, with its monotonic reading.
var began = time.Now()

// Monotonic returns the time since the program began by the machine's monotonic clock. Unlike a
// Clock it is never set, so a changed difference to a Clock shows that the Clock was set.
func Monotonic() time.Duration { return time.Since(began) }

// MonotonicOf returns the monotonic reading of a fake clock, or the machine's for other clocks.
func MonotonicOf(c Clock) time.Duration {
	if f, ok := c.(*Fake); ok {
		return f.Monotonic()
	}
	return Monotonic()
}
