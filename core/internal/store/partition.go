package store

import (
	"context"
	"time"

	"github.com/causeway-pay/causeway/core/internal/store/pass"
	"github.com/causeway-pay/causeway/shared/id"
)

var (
	selectOldEvents     = declare("selectOldEvents")
	deleteOldEvents     = declare("deleteOldEvents")
	selectOldDeliveries = declare("selectOldDeliveries")
	deleteOldDeliveries = declare("deleteOldDeliveries")
)

// MakePartitions makes the partitions of the next weeks, in an engine that has partitions.
func (db *DB) MakePartitions(ctx context.Context) error {
	return db.engine.MakePartitions(ctx, db.clock.Now())
}

// deliverySlack is how long past its retention a delivery may remain before its partition is
// dropped.
const deliverySlack = 14 * 24 * time.Hour

// DropDeliveries removes the partitions of deliveries that are older than keep, and returns about
// how many deliveries they had. PurgeDeliveries removes the deliveries from before the returned
// time that remain. That time depends on the confirmed time alone; a partition is dropped only if
// the server's clock agrees.
func (db *DB) DropDeliveries(
	ctx context.Context, now time.Time, keep time.Duration,
) (before time.Time, dropped int64, err error) {
	now = db.confirmed(now)
	before, dropped, err = db.engine.DropPartitions(ctx, "webhook_deliveries", now, keep)
	if db.engine.Shared() {
		before = now.Add(-keep - deliverySlack)
	}
	return before, dropped, err
}

// PurgeEvents removes the events that are older than keep, and returns about how many. The records
// of announcements stay: see Announced.
func (db *DB) PurgeEvents(ctx context.Context, now time.Time, keep time.Duration) (purged int64, err error) {
	before, purged, err := db.engine.DropPartitions(ctx, "events", db.confirmed(now), keep)
	if err != nil {
		return purged, err
	}
	n, err := db.purgeOlder(ctx, "events", selectOldEvents, deleteOldEvents, before)
	return purged + n, err
}

// PurgeDeliveries removes the deliveries that were made before a time, and returns how many.
func (db *DB) PurgeDeliveries(ctx context.Context, before time.Time) (purged int64, err error) {
	return db.purgeOlder(ctx, "webhook_deliveries", selectOldDeliveries, deleteOldDeliveries, before)
}

// purgeOlder removes the rows of a table that were made before a time.
func (db *DB) purgeOlder(
	ctx context.Context, table string, page, remove *Statement, before time.Time,
) (purged int64, err error) {
	return purge(ctx, db, db.BeginPass(pass.Purge), sizedRows(table), func(after sized) ([]sized, error) {
		return backgroundRows(ctx, db, page, scanSized, after.id, id.At(before), purgeBatch)
	}, func(tx *Tx, chunk []sized) (int64, error) {
		first, last := span(chunk)
		return tx.execCount(remove, first.id, last.id)
	})
}
