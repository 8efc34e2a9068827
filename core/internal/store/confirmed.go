package store

import "time"

// Confirmed returns the time by which rows end for ever: see clock.Guard.
func (db *DB) Confirmed() time.Time { return db.guard.Confirmed() }

// ClockAhead returns how far the clock is ahead of the confirmed time: 0 unless it was set ahead by
// more than a minute within the last hour. Call it regularly, so that a step is found when it is
// made.
func (db *DB) ClockAhead() time.Duration {
	_, ahead := db.guard.Read()
	return ahead
}

// Confirmed is the command's time, or the confirmed time if that is earlier.
func (tx *Tx) Confirmed() time.Time { return tx.db.confirmed(tx.Now) }

// confirmed returns a time, or the confirmed time if that is earlier. A purge that was given the
// time of a clock that was set ahead must not remove rows of today.
func (db *DB) confirmed(at time.Time) time.Time {
	if c := db.Confirmed(); c.Before(at) {
		return c
	}
	return at
}
