package store

import (
	"context"
	"fmt"
	"time"
)

// Pressure is how a store on a server fares, since it was opened and now.
type Pressure struct {
	Pools []Pool
	// TakenBack is how often a command was taken back whole and run again, by what did it: "deadlock", "serialization", or "changed" for what the command
	// itself found changed.
	TakenBack map[string]int64
	// Unavailable is how many commands ended because the server could not be reached or took nothing.
	Unavailable int64
}

// Pool are the connections of one kind of work.
type Pool struct {
	Name              string // "write" or "read"
	InUse, Idle, Most int
	Waited            int64         // how often somebody had to wait for one
	Waiting           time.Duration // how long, in all
}

// presser is an engine with a server.
type presser interface{ Pressure() Pressure }

// Pressure tells how the server fares; ok is false for a store without one.
func (db *DB) Pressure() (p Pressure, ok bool) {
	if e, is := db.engine.(presser); is {
		return e.Pressure(), true
	}
	return Pressure{}, false
}

// Frontier is the number of the oldest transaction of a core that has not ended, up to which events are listed, and the one behind all, of anybody, that
// have. They are the same where no command holds an event back.
func (db *DB) Frontier(ctx context.Context) (oldest, next int64, err error) {
	s, err := db.query(ctx, `SELECT `+ended+`, (SELECT CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS BIGINT))`)
	if err != nil {
		return 0, 0, err
	}
	if err := s.Row(ctx).Scan(&oldest, &next); err != nil {
		return 0, 0, fmt.Errorf("read the frontier of events: %w", err)
	}
	return oldest, next, nil
}
