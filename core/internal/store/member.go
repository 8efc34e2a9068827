package store

import (
	"context"
	"time"
)

// WorkAs sets the id of this process, which is stored with all work that it begins. Call it before
// any work.
func (db *DB) WorkAs(process int64) { db.process = process }

// Heartbeat is Engine.Heartbeat. From then on DateAt goes by the server's clock. While may compares
// the clocks, DateAt is too late rather than too early. A request that begins then must not find
// that its duplicate is old.
func (db *DB) Heartbeat(
	ctx context.Context, process int64, term time.Duration, may func(server time.Time) bool,
) (leads bool, beats map[int64]int64, err error) {
	return db.engine.Heartbeat(ctx, process, term, func(server ServerClock) bool {
		ahead := int64(time.Duration(server.Ahead) * time.Millisecond)
		db.dateAhead.Store(max(db.dateAhead.Load(), ahead))
		defer db.dateAhead.Store(ahead)
		return may(fromMillis(server.At))
	})
}

// Leave is Engine.Leave.
func (db *DB) Leave(ctx context.Context, process int64) error { return db.engine.Leave(ctx, process) }

// Forget is Engine.Forget.
func (db *DB) Forget(ctx context.Context, process int64) error { return db.engine.Forget(ctx, process) }
