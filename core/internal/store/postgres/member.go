package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/store"
)

// serverTime is the server's time in milliseconds: the clocks of several machines differ.
const serverTime = `CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)`

// Heartbeat implements store.Engine.
func (e *engine) Heartbeat(
	ctx context.Context, process int64, term time.Duration, may func(server time.Time) bool,
) (leads bool, members []store.Member, err error) {
	if err := e.Verify(ctx); err != nil {
		return false, nil, err
	}
	err = e.inCommand(ctx, func(s store.Session) error {
		server, err := beat(s, process)
		if err != nil {
			return err
		}
		if may(server) {
			leads, err = lead(s, process, term)
		} else {
			leads, err = false, resign(s, process)
		}
		if err != nil {
			return err
		}
		members = nil
		return s.Each(`SELECT id, beat FROM cores`, func(row store.Scanner) error {
			var m store.Member
			if err := row.Scan(&m.ID, &m.Beats); err != nil {
				return fmt.Errorf("read member: %w", err)
			}
			members = append(members, m)
			return nil
		})
	})
	return leads, members, err
}

// inCommand runs fn as a command of this package.
func (e *engine) inCommand(ctx context.Context, fn func(store.Session) error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("update: %w", err)
	}
	return e.update(ctx, e.clock.Now(), func(s store.Session, _ time.Time) (store.Outcome, error) {
		return store.Outcome{}, fn(s)
	})
}

// beat counts a heartbeat and returns the server's time.
func beat(s store.Session, process int64) (time.Time, error) {
	row, err := s.Row(`INSERT INTO cores (id, beat) VALUES (?, 1)
		ON CONFLICT (id) DO UPDATE SET beat = cores.beat + 1 RETURNING `+serverTime, process)
	if err != nil {
		return time.Time{}, err
	}
	var ms int64
	if err := row.Scan(&ms); err != nil {
		return time.Time{}, fmt.Errorf("beat: %w", err)
	}
	return time.UnixMilli(ms).UTC(), nil
}

// lead acquires or extends the leadership. A term that ends later than twice a term from now began
// while the server's clock was ahead: it binds no other process, or none would lead until then.
func lead(s store.Session, process int64, term time.Duration) (bool, error) {
	n, err := s.Exec(`UPDATE lead SET core_id = ?1, until = `+serverTime+` + ?2
		WHERE core_id = ?1 OR until < `+serverTime+` OR until > `+serverTime+` + 2 * ?2`, process, term.Milliseconds())
	return n == 1, err
}

// resign ends the leadership of a process, if it has it.
func resign(s store.Session, process int64) error {
	_, err := s.Exec(`UPDATE lead SET until = 0 WHERE core_id = ?`, process)
	return err
}

// Leave implements store.Engine.
func (e *engine) Leave(ctx context.Context, process int64) error {
	return e.inCommand(ctx, func(s store.Session) error {
		if err := resign(s, process); err != nil {
			return err
		}
		_, err := s.Exec(`UPDATE cores SET beat = 0 WHERE id = ?`, process)
		return err
	})
}

// Forget implements store.Engine.
func (e *engine) Forget(ctx context.Context, process int64) error {
	return e.inCommand(ctx, func(s store.Session) error {
		_, err := s.Exec(`DELETE FROM cores WHERE id = ?`, process)
		return err
	})
}
