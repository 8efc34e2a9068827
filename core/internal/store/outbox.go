package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/core/internal/store/pass"
)

var (
	selectQueues   = declare("selectQueues")
	countQueue     = declare("countQueue")
	failDeliveries = declare("failDeliveries")
)

// queuePage is how many deliveries of a long queue one statement reads.
const queuePage = 10_000

// farFuture is later than any delivery is due.
var farFuture = time.UnixMilli(1 << 53)

// queueLength is the number of pending deliveries to an endpoint.
type queueLength struct {
	endpoint int64
	length   int
}

// BoundOutbox ends the oldest pending deliveries to each endpoint that has more than each. They end
// as failed, with the error failure. If more than all remain, it shortens the longest queues to one
// common length. Deliveries with an attempt under way stay. It returns how many deliveries it
// ended.
func (db *DB) BoundOutbox(ctx context.Context, each, all int, failure string) (discarded int64, err error) {
	queues, err := db.queueLengths(ctx, each+1)
	if err != nil {
		return 0, err
	}
	bound := queueBound(queues, each, all)
	p := db.BeginPass(pass.Webhooks)
	for _, q := range queues {
		if q.length <= bound {
			continue
		}
		n, err := db.shortenQueue(ctx, p, q.endpoint, bound, failure)
		discarded += n
		if err != nil {
			return discarded, err
		}
	}
	return discarded, nil
}

// queueBound returns the length to which queues are shortened: each, or less if all queues together
// would have more than all. Shorter queues stay as they are.
func queueBound(queues []queueLength, each, all int) int {
	byLength := slices.SortedFunc(slices.Values(queues), func(a, b queueLength) int {
		return cmp.Compare(a.length, b.length)
	})
	for i, q := range byLength {
		share := all / (len(byLength) - i)
		if min(q.length, each) > share {
			return share
		}
		all -= min(q.length, each)
	}
	return each
}

// queues returns all endpoints that have pending deliveries.
func (db *DB) queues(ctx context.Context) ([]int64, error) {
	return collect(ctx, db, selectQueues, scanNumber)
}

// queueLengths returns the lengths of all queues, each counted up to most. It counts each queue by
// a separate statement, so that no statement takes long.
func (db *DB) queueLengths(ctx context.Context, most int) ([]queueLength, error) {
	endpoints, err := db.queues(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]queueLength, 0, len(endpoints))
	for _, endpoint := range endpoints {
		n, err := collect(ctx, db, countQueue,
			scanNumber, endpoint, most)
		if err != nil {
			return nil, err
		}
		out = append(out, queueLength{endpoint, int(n[0])})
	}
	return out, nil
}

// shortenQueue ends all pending deliveries to an endpoint as failed, except the newest.
func (db *DB) shortenQueue(
	ctx context.Context, p *pass.Pass, endpoint int64, newest int, failure string,
) (discarded int64, err error) {
	old, err := db.oldestPending(ctx, endpoint, newest)
	if err != nil {
		return 0, err
	}
	rows := pass.Rows[int64]{Kind: "webhook_deliveries", ID: idOf}
	return purge(ctx, db, p, rows, func(after int64) ([]int64, error) {
		from, found := slices.BinarySearch(old, after)
		if found {
			from++
		}
		return old[from:min(from+purgeBatch, len(old))], nil
	}, func(tx *Tx, chunk []int64) (int64, error) {
		first, last := span(chunk)
		return tx.changed(failDeliveries,
			failure, toMillis(tx.Now), endpoint, first, last)
	})
}

// oldestPending returns the pending deliveries to an endpoint without the newest ones, by id. The
// index of the queue is by the time of the next attempt, so it reads the whole queue.
func (db *DB) oldestPending(ctx context.Context, endpoint int64, newest int) ([]int64, error) {
	var all []int64
	for after, n := (Due{}), queuePage; n == queuePage; {
		page, err := db.DueDeliveries(ctx, endpoint, after, farFuture, queuePage)
		if err != nil {
			return nil, err
		}
		for _, d := range page {
			all = append(all, d.ID)
		}
		if n = len(page); n > 0 {
			after = page[n-1]
		}
	}
	slices.Sort(all)
	all = slices.Compact(all) // an attempt that began meanwhile moved its delivery behind the page
	return all[:max(0, len(all)-newest)], nil
}
