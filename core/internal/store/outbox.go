package store

import (
	"context"
	"fmt"
	"maps"
	"math"
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

// queue is the pending deliveries to an endpoint.
type queue struct {
	endpoint, merchant int64
	length             int
}

// BoundOutbox shortens each endpoint's queue to perEndpoint deliveries, and all queues together to
// total. It ends the oldest deliveries, as failed with the error failure. If more than total
// remain, each merchant gets an equal part, which its endpoints share. Deliveries with an attempt
// under way stay. It returns how many deliveries it ended.
func (db *DB) BoundOutbox(ctx context.Context, perEndpoint, total int, failure string) (discarded int64, err error) {
	queues, err := db.queueLengths(ctx, perEndpoint+1)
	if err != nil {
		return 0, err
	}
	bounds := queueBounds(queues, perEndpoint, total)
	p := db.BeginPass(pass.Webhooks)
	for _, q := range queues {
		bound := bounds[q.merchant]
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

// queueBounds returns the length to which the queues of each merchant are shortened: perEndpoint,
// or less if all queues together would have more than total. A merchant with many endpoints gets no
// more than one with a single endpoint.
func queueBounds(queues []queue, perEndpoint, total int) map[int64]int {
	lengths, totals := map[int64][]int{}, map[int64]int{}
	for _, q := range queues {
		length := min(q.length, perEndpoint)
		lengths[q.merchant] = append(lengths[q.merchant], length)
		totals[q.merchant] += length
	}
	most := share(slices.Collect(maps.Values(totals)), total)
	bounds := map[int64]int{}
	for merchant := range lengths {
		bounds[merchant] = min(perEndpoint, share(lengths[merchant], most))
	}
	return bounds
}

// share returns the greatest length to which lengths can be shortened so that their sum is at most
// all. It returns math.MaxInt if the sum is at most all already.
func share(lengths []int, all int) int {
	slices.Sort(lengths)
	for i, length := range lengths {
		equal := all / (len(lengths) - i)
		if length > equal {
			return equal
		}
		all -= length
	}
	return math.MaxInt
}

// queues returns all endpoints that have pending deliveries, without the lengths of their queues.
func (db *DB) queues(ctx context.Context) ([]queue, error) {
	return backgroundRows(ctx, db, selectQueues, func(row Scanner) (q queue, err error) {
		if err := row.Scan(&q.endpoint, &q.merchant); err != nil {
			return q, fmt.Errorf("read queue: %w", err)
		}
		return q, nil
	})
}

// queueLengths returns all queues, each counted up to most. It counts each queue by a separate
// statement, so that no statement takes long.
func (db *DB) queueLengths(ctx context.Context, most int) ([]queue, error) {
	queues, err := db.queues(ctx)
	if err != nil {
		return nil, err
	}
	for i, q := range queues {
		n, err := backgroundRows(ctx, db, countQueue,
			scanNumber, q.endpoint, most)
		if err != nil {
			return nil, err
		}
		queues[i].length = int(n[0])
	}
	return queues, nil
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
		return tx.execCount(failDeliveries,
			failure, toMillis(tx.Now), endpoint, first, last)
	})
}

// oldestPending returns the pending deliveries to an endpoint without the newest ones, by id. The
// index of the queue is ordered by the time of the next attempt, so oldestPending reads the whole
// queue.
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
