package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
)

var (
	saveConfirmedClock   = declare("saveConfirmedClock")
	raiseStep            = declare("raiseStep")
	selectConfirmedClock = declare("selectConfirmedClock")
)

const (
	// keepConfirmedEvery is by how much the confirmed time must change before it is written again.
	keepConfirmedEvery = time.Minute
	// keepStep is how long a step of the clock stays in a shared store. It is the lifetime of an
	// idempotency key, so that keys from before the step are covered.
	keepStep = 24 * time.Hour
)

// Confirmed returns the time by which rows expire permanently: see clock.Guard.
func (db *DB) Confirmed() time.Time { return db.guard.Confirmed() }

// KeysEnded returns the time by which idempotency keys have expired: clock.Guard.ConfirmedLate.
// After a step of the clock it is delayed, so that keys from before the step also live for their
// whole lifetime.
func (db *DB) KeysEnded() time.Time { return db.guard.ConfirmedLate() }

// keysEnded returns the earlier of a time and KeysEnded.
func (db *DB) keysEnded(at time.Time) time.Time {
	if ended := db.KeysEnded(); ended.Before(at) {
		return ended
	}
	return at
}

// ClockAhead returns how far the clock is ahead of the confirmed time. It is 0 unless the clock
// stepped ahead by more than a minute within the last hour, or was an hour ahead at the opening.
// Call it regularly, so that a step is detected when it happens.
func (db *DB) ClockAhead() time.Duration {
	_, ahead := db.guard.Read()
	return ahead
}

// ClockStepped returns the part of ClockAhead by which the clock stepped while a process ran. The
// rest arose between two processes.
func (db *DB) ClockStepped() time.Duration { return db.guard.Stepped() }

// Confirmed returns the earlier of the command's time and the confirmed time.
func (tx *Tx) Confirmed() time.Time { return tx.db.confirmed(tx.Now) }

// confirmed returns the earlier of a time and the confirmed time. A purge at the time of a clock
// that was set ahead must not remove rows of today.
func (db *DB) confirmed(at time.Time) time.Time {
	if c := db.Confirmed(); c.Before(at) {
		return c
	}
	return at
}

// KeepConfirmed stores the state of the clock's guard for the next process that opens the store. It
// writes only if the highest confirmed time has changed by a minute, or a step was detected,
// accepted or reverted. Call it often, so that a step is stored even if the process dies, but never
// twice at the same time. A process that does not lead calls KeepClockStep instead.
//
// In a shared store a larger stored step stays for keepStep, because the clocks of several machines
// are not corrected at the same time. A step that stays too long makes keys expire late, never
// early.
func (db *DB) KeepConfirmed(ctx context.Context) error {
	s, kept := db.guard.State(), db.kept
	moved := max(s.Highest.Sub(kept.Highest).Abs(), (s.Behind - kept.Behind).Abs())
	if moved < keepConfirmedEvery && s.Step == kept.Step && s.Lag == kept.Lag {
		return nil
	}
	err := db.Update(ctx, func(tx *Tx) error {
		return tx.exec(saveConfirmedClock,
			toMillis(s.Highest), s.Behind.Milliseconds(), s.Step.Milliseconds(), s.Lag.Milliseconds(),
			toMillis(s.LagUntil), toMillis(s.LowUntil), tx.stepUntil(s))
	})
	if err != nil {
		return fmt.Errorf("write the confirmed time: %w", err)
	}
	db.kept, db.raised = s, s.Step
	return nil
}

// stepUntil returns when the step of a state leaves the store, in milliseconds of Highest. 0 if
// there is no step, or if no other process shares the store.
func (tx *Tx) stepUntil(s clock.GuardState) int64 {
	if s.Step == 0 || !tx.db.shared {
		return 0
	}
	return toMillis(s.Highest.Add(keepStep))
}

// KeepClockStep raises the stored step to the step of this process's clock. It is for a process
// that does not lead: its clock stepped and the server's did not, or another process leads.
func (db *DB) KeepClockStep(ctx context.Context) error {
	s := db.guard.State()
	if s.Step <= db.raised {
		db.raised = s.Step
		return nil
	}
	err := db.Update(ctx, func(tx *Tx) error {
		return tx.exec(raiseStep, s.Step.Milliseconds(), tx.stepUntil(s))
	})
	if err != nil {
		return fmt.Errorf("write a step of the clock: %w", err)
	}
	db.raised = s.Step
	return nil
}

// resume continues with the stored guard state of an earlier process, if there is one.
func (db *DB) resume(ctx context.Context) error {
	var at, behind, step, lag, lagUntil, lowUntil int64
	err := db.row(ctx, selectConfirmedClock).Scan(&at, &behind, &step, &lag, &lagUntil, &lowUntil)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the confirmed time: %w", err)
	}
	db.kept = clock.GuardState{
		Highest: fromMillis(at), Behind: time.Duration(behind) * time.Millisecond,
		Step: time.Duration(step) * time.Millisecond,
		Lag:  time.Duration(lag) * time.Millisecond, LagUntil: fromMillis(lagUntil), LowUntil: fromMillis(lowUntil),
	}
	db.guard.Resume(db.kept)
	return nil
}
