package store

import "time"

// behindTolerance is how far the time of a command may be behind the highest confirmed time. A
// command waits for its commit, so a smaller difference does not show that the clock was set back.
const behindTolerance = time.Minute

// notBehind returns a time of the clock, or the highest confirmed time if the clock was set back
// behind it.
func (db *DB) notBehind(at time.Time) time.Time {
	if highest := db.guard.Highest(); highest.Sub(at) > behindTolerance {
		return highest
	}
	return at
}

// DateAt returns the Date of a time of the clock. A client compares Date with the times of
// idempotency keys to find an earlier equal request. So neither goes back with the clock: for a
// week after the clock is set back they go on from before. All processes of a shared store have one
// Date: there the time of the server counts.
func (db *DB) DateAt(at time.Time) time.Time {
	if db.shared {
		return at.Add(time.Duration(db.dateAhead.Load()))
	}
	return db.notBehind(at)
}

// Date returns the Date of the command's time.
func (tx *Tx) Date() time.Time { return tx.db.DateAt(tx.Now) }

// ServerClock is the clock of the server of a shared store, as the heartbeats of the leader record
// it. The unit is milliseconds. The zero value has no record.
type ServerClock struct {
	At    int64 // the server's time of the last heartbeat
	Ahead int64 // how far Date was ahead of it
	Until int64 // when Ahead is forgotten, by the server's time
}

const (
	// serverTolerance is how far the server's time may go back between two heartbeats: Date has
	// seconds.
	serverTolerance = time.Second
	// serverPause is the time without a heartbeat after which Date stands still while it is ahead of
	// the server's time. The server's clock may have been corrected, or the time have passed.
	serverPause = time.Minute
	// forgetAhead is how long Date stays ahead of a server's clock that was set back.
	forgetAhead = 7 * 24 * time.Hour
	// slowed is the part of the passing time that Date loses while it is ahead. So it does not move
	// ever further ahead of a clock that runs fast and is set back regularly.
	slowed = 10
)

// After returns the clock at a later heartbeat, in which the server's time is now. A step back
// starts a new week only if it is longer than Ahead. Otherwise small steps would keep Date ahead
// for as long as they recur.
func (c ServerClock) After(now time.Time) ServerClock {
	ms := toMillis(now)
	passed := time.Duration(ms-c.At) * time.Millisecond
	switch {
	case c.At == 0:
	case passed < -serverTolerance:
		if -passed.Milliseconds() > c.Ahead {
			c.Until = toMillis(now.Add(forgetAhead))
		}
		c.Ahead -= passed.Milliseconds()
	case passed > serverPause:
		c.Ahead = max(0, c.Ahead-passed.Milliseconds())
	case passed > 0:
		c.Ahead = max(0, c.Ahead-min(passed/slowed, serverTolerance).Milliseconds())
	}
	if ms >= c.Until {
		c.Ahead = 0
	}
	c.At = ms
	return c
}
