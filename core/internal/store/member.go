package store

import (
	"context"
	"time"
)

// WorkAs sets the id of this process, which is stored with all work that it begins. Call it before
// any work.
func (db *DB) WorkAs(process int64) { db.process = process }

// Heartbeat is Engine.Heartbeat.
func (db *DB) Heartbeat(
	ctx context.Context, process int64, term time.Duration, may func(server time.Time) bool,
) (leads bool, beats map[int64]int64, err error) {
	return db.engine.Heartbeat(ctx, process, term, may)
}

// Leave is Engine.Leave.
func (db *DB) Leave(ctx context.Context, process int64) error { return db.engine.Leave(ctx, process) }

// Forget is Engine.Forget.
func (db *DB) Forget(ctx context.Context, process int64) error { return db.engine.Forget(ctx, process) }
