package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// keepConfirmedEvery is how much the confirmed time changes before it is written again.
const keepConfirmedEvery = time.Minute

// Confirmed returns the time by which rows end for ever: see clock.Guard.
func (db *DB) Confirmed() time.Time { return db.guard.Confirmed() }

// KeysEnded returns the time by which idempotency keys have expired, clock.Guard.ConfirmedLate: a key of
// before a step of the clock is kept for its lifetime, too.
func (db *DB) KeysEnded() time.Time { return db.guard.ConfirmedLate() }

// keysEnded returns a time, or KeysEnded if that is earlier.
func (db *DB) keysEnded(at time.Time) time.Time {
	if ended := db.KeysEnded(); ended.Before(at) {
		return ended
	}
	return at
}

// ClockAhead returns how far the clock is ahead of the confirmed time: 0 unless it was set ahead by
// more than a minute within the last hour, or was an hour ahead when the store was opened. Call it
// regularly, so that a step is found when it is made.
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

// KeepConfirmed writes the highest confirmed time for the next process that opens the store, if it
// has changed by a minute. Call it from time to time, never twice at the same time.
func (db *DB) KeepConfirmed(ctx context.Context) error {
	highest := db.guard.Highest()
	if highest.Sub(db.kept).Abs() < keepConfirmedEvery {
		return nil
	}
	err := db.Update(ctx, func(tx *Tx) error {
		return tx.exec(`INSERT INTO confirmed_clock (id, at) VALUES (1, ?1) ON CONFLICT (id) DO UPDATE SET at = ?1`,
			toMillis(highest))
	})
	if err != nil {
		return fmt.Errorf("write the confirmed time: %w", err)
	}
	db.kept = highest
	return nil
}

// resume continues with the highest confirmed time of an earlier process, if there was one.
func (db *DB) resume(ctx context.Context) error {
	s, err := db.query(ctx, `SELECT at FROM confirmed_clock WHERE id = 1`)
	if err != nil {
		return fmt.Errorf("read the confirmed time: %w", err)
	}
	at, err := scanNumber(s.Row(ctx))
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the confirmed time: %w", err)
	}
	db.kept = fromMillis(at)
	db.guard.Resume(db.kept)
	return nil
}
