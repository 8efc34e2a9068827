package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/store"
)

// serverTime is the server's time in milliseconds: the clocks of the processes differ.
const serverTime = `CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)`

// Heartbeat implements store.Engine.
func (e *engine) Heartbeat(
	ctx context.Context, process int64, term time.Duration, may func(server store.ServerClock) bool,
) (leads bool, beats map[int64]int64, err error) {
	if err := e.Verify(ctx); err != nil {
		return false, nil, err
	}
	err = e.inCommand(ctx, func(s *session) error {
		now, err := recordHeartbeat(s, process)
		if err != nil {
			return err
		}
		server, err := readServerClock(s)
		if err != nil {
			return err
		}
		server = server.After(now)
		if may(server) {
			leads, err = acquireLeadership(s, process, term, server)
		} else {
			leads, err = false, endLeadership(s, process)
		}
		if err != nil {
			return err
		}
		beats = map[int64]int64{}
		rows, err := s.tx.Query(s.ctx, `SELECT id, beat FROM cores`)
		return each(rows, err, s, func(row store.Scanner) error {
			var process, n int64
			if err := row.Scan(&process, &n); err != nil {
				return fmt.Errorf("read member: %w", err)
			}
			beats[process] = n
			return nil
		})
	})
	return leads, beats, err
}

// inCommand runs fn as a command of this package, on a separate pool of connections. With a shared
// pool, commands that wait for a lock could cost a process its leadership.
func (e *engine) inCommand(ctx context.Context, fn func(*session) error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("update: %w", err)
	}
	run := func(s *session, _ time.Time) (store.Outcome, error) { return store.Outcome{}, fn(s) }
	return e.update(ctx, e.member, noTurn, e.patience, e.clock.Now(), run)
}

// recordHeartbeat counts a heartbeat and returns the server's time.
func recordHeartbeat(s *session, process int64) (time.Time, error) {
	row := s.tx.QueryRow(s.ctx, `INSERT INTO cores (id, beat) VALUES ($1, 1)
		ON CONFLICT (id) DO UPDATE SET beat = cores.beat + 1 RETURNING `+serverTime, process)
	var ms int64
	if err := (scanner{row, s}).Scan(&ms); err != nil {
		return time.Time{}, fmt.Errorf("record heartbeat: %w", err)
	}
	return time.UnixMilli(ms).UTC(), nil
}

// readServerClock reads the server's clock as the leader has recorded it.
func readServerClock(s *session) (c store.ServerClock, err error) {
	row := s.tx.QueryRow(s.ctx, `SELECT at, date_ahead, ahead_until FROM lead`)
	if err := (scanner{row, s}).Scan(&c.At, &c.Ahead, &c.Until); err != nil {
		return c, fmt.Errorf("read the server's clock: %w", err)
	}
	return c, nil
}

// acquireLeadership acquires or extends the leadership, and records the server's clock. If the
// current term ends more than two terms from now, it began while the server's clock was ahead. Any
// process can replace it: otherwise no process could lead until its end.
func acquireLeadership(s *session, process int64, term time.Duration, server store.ServerClock) (bool, error) {
	n, err := s.exec(`UPDATE lead SET core_id = $1, until = `+serverTime+` + $2::bigint,
			at = $3, date_ahead = $4, ahead_until = $5
		WHERE core_id = $1 OR until < `+serverTime+` OR until > `+serverTime+` + 2 * $2::bigint`,
		process, term.Milliseconds(), server.At, server.Ahead, server.Until)
	return n == 1, err
}

// endLeadership ends the leadership of a process, if the process leads.
func endLeadership(s *session, process int64) error {
	_, err := s.exec(`UPDATE lead SET until = 0 WHERE core_id = $1`, process)
	return err
}

// Leave implements store.Engine.
func (e *engine) Leave(ctx context.Context, process int64) error {
	return e.inCommand(ctx, func(s *session) error {
		if err := endLeadership(s, process); err != nil {
			return err
		}
		_, err := s.exec(`UPDATE cores SET beat = 0 WHERE id = $1`, process)
		return err
	})
}

// Forget implements store.Engine.
func (e *engine) Forget(ctx context.Context, process int64) error {
	return e.inCommand(ctx, func(s *session) error {
		_, err := s.exec(`DELETE FROM cores WHERE id = $1`, process)
		return err
	})
}
