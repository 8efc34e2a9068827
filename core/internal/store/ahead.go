package store

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"
)

var selectQueuePage = declare("selectQueuePage")

// queued is a pending delivery to an endpoint.
type queued struct {
	Due
	updatedAt int64
}

func scanQueued(row Scanner) (q queued, err error) { return q, row.Scan(&q.At, &q.ID, &q.updatedAt) }

// EachDeliveryAhead calls change with the pending deliveries that are due after a time and were
// also written after it, a page at a time. If the time is in the future, a clock that was ahead
// wrote them. Pages keep each statement short on a queue of a million deliveries. Each call gets
// the ids in ascending order, the order in which other commands lock deliveries. It returns ctx's
// error if ctx ends.
func (db *DB) EachDeliveryAhead(ctx context.Context, at time.Time, change func(deliveries []int64) error) error {
	queues, err := db.queues(ctx)
	if err != nil {
		return err
	}
	for _, q := range queues {
		if err := db.eachAheadOf(ctx, q.endpoint, at, change); err != nil {
			return err
		}
	}
	return nil
}

// eachAheadOf is EachDeliveryAhead for one endpoint.
func (db *DB) eachAheadOf(ctx context.Context, endpoint int64, at time.Time, change func([]int64) error) error {
	for after, n := (Due{toMillis(at), math.MaxInt64}), queuePage; n == queuePage; {
		page, err := backgroundRows(ctx, db, selectQueuePage, scanQueued,
			endpoint, toMillis(farFuture), after.At, after.ID, queuePage)
		if err = errors.Join(err, ctx.Err()); err != nil { // PostgreSQL completes a read although ctx has ended
			return err
		}
		var ahead []int64
		for _, q := range page {
			if q.updatedAt > toMillis(at) {
				ahead = append(ahead, q.ID)
			}
		}
		slices.Sort(ahead)
		if err := change(ahead); err != nil {
			return err
		}
		if n = len(page); n > 0 {
			after = page[n-1].Due
		}
	}
	return nil
}
