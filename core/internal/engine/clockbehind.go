package engine

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/causeway-pay/causeway/shared/id"
)

// behindTolerance is how far the clock may be behind the newest row without a warning. Cores that
// share a database differ by clockTolerance at most.
const behindTolerance = time.Minute

// CheckClock compares the clock with the newest row that carries money, and reports the difference
// to the observer. A clock more than a minute behind that row is logged as an error with the row.
// Either the clock is behind now, or a clock was ahead when that row was written. Money is safe in
// both cases, because nothing depends on the order of ids. Until the clock has passed the row's
// time, lists show new objects below that row. Objects expire and settle late until then.
//
// It compares the clock with the confirmed time, too, and logs an error while the clock is ahead.
func (e *Engine) CheckClock(ctx context.Context) error {
	ahead := e.Store.ClockAhead()
	e.Observer.ClockUnconfirmed(ahead)
	if ahead > 0 {
		e.Log.ErrorContext(ctx, "the clock was set ahead, or core was down for that time: correct the clock. "+
			"Until it is correct, or has stayed so for an hour, no key expires and no row is purged",
			slog.Duration("ahead", ahead), slog.Time("clock", e.Clock.Now().UTC()), slog.Time("confirmed", e.Store.Confirmed().UTC()))
	}
	table, newest, err := e.Store.Newest(ctx)
	if err != nil {
		return fmt.Errorf("check clock: %w", err)
	}
	now, behind := e.Clock.Now(), time.Duration(0)
	if newest != 0 {
		behind = max(0, id.TimeOf(newest).Sub(now))
	}
	e.Observer.ClockBehind(behind)
	if behind > behindTolerance {
		e.Log.ErrorContext(ctx, "the clock is behind the newest row: check NTP. The clock is wrong now, or was when the row was written",
			slog.String("table", table), slog.Int64("id", newest), slog.Time("row_written", id.TimeOf(newest).UTC()),
			slog.Time("clock", now.UTC()), slog.Duration("behind", behind))
	}
	return nil
}
