package store

import (
	"math"
	"time"
)

// tooFarAhead returns in milliseconds the time after which no row of a queue is due by a right clock:
// two of the queue's longest pauses later than a time. A clock that was ahead wrote a row that is due
// later, and the row is due now: after the clock was set back it would wait for as long as the clock
// was ahead.
func tooFarAhead(at time.Time, longest time.Duration) int64 { return toMillis(at.Add(2 * longest)) }

// ahead returns the time after which a right clock wrote nothing that waits for up to a time: after a
// clock was set back, it counts from the highest confirmed time, because that clock may be wrong, too.
func (db *DB) ahead(longest time.Duration) int64 {
	at := db.clock.Now()
	if highest := db.guard.Highest(); highest.After(at) {
		at = highest
	}
	return tooFarAhead(at, longest)
}

// dueRange selects the rows of a queue after one of them, up to a time in milliseconds.
type dueRange struct {
	after   Due
	through int64
}

// dueRanges returns the ranges of a queue that are due at a time: the rows up to that time, and those
// that are due too far ahead.
func dueRanges(at time.Time, longest time.Duration) [2]dueRange {
	return dueRangesFrom(at, at, longest)
}

// dueRangesFrom is dueRanges where too far ahead counts from a time latest.
func dueRangesFrom(at, latest time.Time, longest time.Duration) [2]dueRange {
	return [2]dueRange{
		{through: toMillis(at)},
		{after: Due{At: tooFarAhead(latest, longest), ID: math.MaxInt64}, through: math.MaxInt64},
	}
}

// next returns the row after which the range goes on, once the row last was read: the zero Due if
// none was.
func (r dueRange) next(last Due) Due {
	if last == (Due{}) {
		return r.after
	}
	return last
}
