package store

import (
	"math"
	"time"
)

// tooFarAhead returns, in milliseconds, the latest time at which a right clock makes a row of a
// queue due. It is two of the queue's longest pauses after at. A row that is due later was written
// by a clock that was ahead, and counts as due now. Otherwise it would wait for as long as that
// clock was ahead.
func tooFarAhead(at time.Time, longest time.Duration) int64 { return toMillis(at.Add(2 * longest)) }

// ahead is tooFarAhead for the present. After a clock was set back, it counts from the highest
// confirmed time, because that clock may be wrong, too.
func (db *DB) ahead(longest time.Duration) int64 {
	at := db.clock.Now()
	if highest := db.guard.Highest(); highest.After(at) {
		at = highest
	}
	return tooFarAhead(at, longest)
}

// dueRange selects the rows of a queue after one of them, up to a due time in milliseconds.
type dueRange struct {
	after   Due
	through int64
}

// dueRanges returns the two ranges of a queue that are due at a time. One has the rows up to that
// time, the other one the rows that are due too far ahead.
func dueRanges(at time.Time, longest time.Duration) [2]dueRange {
	return dueRangesFrom(at, at, longest)
}

// dueRangesFrom is dueRanges with another time, latest, from which "too far ahead" counts.
func dueRangesFrom(at, latest time.Time, longest time.Duration) [2]dueRange {
	return [2]dueRange{
		{through: toMillis(at)},
		{after: Due{At: tooFarAhead(latest, longest), ID: math.MaxInt64}, through: math.MaxInt64},
	}
}

// next returns the row after which the next page of the range begins. last is the last row of the
// page before it, the zero Due for none.
func (r dueRange) next(last Due) Due {
	if last == (Due{}) {
		return r.after
	}
	return last
}
