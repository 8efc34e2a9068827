package store

import (
	"context"
	"time"

	"github.com/causeway-pay/causeway/shared/id"
)

// parted is an engine that keeps the tables that grow without end in parts by time, so that what is old goes as a whole, and what is new has small
// indexes.
type parted interface {
	// MakeParts makes the parts that rows of a time and later will be in. A row that there is no part for is not refused.
	MakeParts(ctx context.Context, now time.Time) error
	// DropParts removes the parts of a table whose rows are all older than keep. It returns before which time that is, by this clock and the server's,
	// and about how many rows there were.
	DropParts(ctx context.Context, table string, now time.Time, keep time.Duration) (before time.Time, rows int64, err error)
}

// partSlack is how much longer than it is to be kept a row may stay that goes with its part: those that are still there then are in no part of so
// short a time, and are removed one by one.
const partSlack = 14 * 24 * time.Hour

// MakeParts makes the parts of the time that comes, in an engine that has parts.
func (db *DB) MakeParts(ctx context.Context) error {
	if e, ok := db.engine.(parted); ok {
		return e.MakeParts(ctx, db.clock.Now())
	}
	return nil
}

// DropDeliveries removes the deliveries that are older than keep and go as a whole. It tells about how many these were, and before which time others
// are to be removed by PurgeDeliveries.
func (db *DB) DropDeliveries(ctx context.Context, now time.Time, keep time.Duration) (before time.Time, dropped int64, err error) {
	now = db.confirmed(now)
	e, ok := db.engine.(parted)
	if !ok {
		return now.Add(-keep), 0, nil
	}
	_, dropped, err = e.DropParts(ctx, "webhook_deliveries", now, keep)
	return now.Add(-keep - partSlack), dropped, err
}

// PurgeEvents removes the events that are older than keep, and tells about how many these were. Of what was announced the name stays.
func (db *DB) PurgeEvents(ctx context.Context, now time.Time, keep time.Duration) (purged int64, err error) {
	now = db.confirmed(now)
	before := now.Add(-keep)
	if e, ok := db.engine.(parted); ok {
		if before, purged, err = e.DropParts(ctx, "events", now, keep); err != nil {
			return purged, err
		}
		before = before.Add(-2 * partSlack)
	}
	n, err := db.purgeOlder(ctx, "events", before)
	return purged + n, err
}

// PurgeDeliveries removes the deliveries that were made before a time, and returns how many.
func (db *DB) PurgeDeliveries(ctx context.Context, before time.Time) (purged int64, err error) {
	return db.purgeOlder(ctx, "webhook_deliveries", before)
}

// purgeOlder removes the rows of a table that were made before a time.
func (db *DB) purgeOlder(ctx context.Context, table string, before time.Time) (purged int64, err error) {
	return Rows[int64]{Kind: table, ID: idOf}.purge(ctx, db.BeginPass(PassPurge), func(after int64) ([]int64, error) {
		return collect(ctx, db, `SELECT id FROM `+table+` WHERE id > ? AND id < ? ORDER BY id LIMIT ?`, scanNumber, after, id.At(before), purgeBatch)
	}, func(tx *Tx, part []int64) (int64, error) {
		first, last := span(part)
		return tx.changed(`DELETE FROM `+table+` WHERE id >= ? AND id <= ?`, first, last)
	})
}

// pause leaves the store to payments for a moment.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(purgePause):
		return nil
	}
}
