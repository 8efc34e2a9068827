package webhook

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

const (
	// mostResults bounds the results of one commit.
	mostResults = 100
	// mostCommits bounds the commits of results at once. A further one begins only if a result has
	// waited for longWait. The first may wait for a lock, and other merchants' results must not.
	mostCommits = 4
	longWait    = 100 * time.Millisecond
)

// result is the result of an attempt.
type result struct {
	endpoint *payment.Endpoint
	lease    store.Lease
	attempt  payment.DeliveryAttempt

	done     chan struct{} // closed once the next fields are set
	err      error
	written  bool                   // false, too, if the lease had run out or the endpoint is gone
	status   payment.DeliveryStatus // of the delivery
	disabled payment.EndpointReason // "" if the endpoint stays as it is
}

// end ends the wait for a result.
func (r *result) end(err error) {
	r.err = err
	close(r.done)
}

// batcher merges results of attempts that end at the same time into one commit.
type batcher struct {
	commit func(ctx context.Context, batch []*result) // ends each result
	most   int                                        // the commits at once

	mu      sync.Mutex
	waiting []*result // in the order in which their attempts ended
	commits int       // under way
}

// write returns once a result was committed, or could not be.
func (b *batcher) write(ctx context.Context, r *result) error {
	b.mu.Lock()
	b.waiting = append(b.waiting, r)
	b.begin(ctx, 1)
	b.mu.Unlock()
	long := time.NewTicker(longWait)
	defer long.Stop()
	for {
		select {
		case <-r.done:
			return r.err
		case <-long.C:
		}
		b.mu.Lock()
		b.begin(ctx, b.most)
		b.mu.Unlock()
	}
}

// begin begins to commit waiting results if fewer than most commits are under way. It is called
// with mu held.
func (b *batcher) begin(ctx context.Context, most int) {
	if b.commits < most && len(b.waiting) > 0 {
		b.commits++
		go b.run(ctx)
	}
}

// run commits batches until no result waits.
func (b *batcher) run(ctx context.Context) {
	for batch := b.next(); batch != nil; batch = b.next() {
		b.commit(ctx, batch)
	}
}

// next returns the results of the next commit, the longest-waiting ones, or nil if none waits.
func (b *batcher) next() []*result {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := min(len(b.waiting), mostResults)
	if n == 0 {
		b.commits--
		return nil
	}
	batch := slices.Clone(b.waiting[:n])
	b.waiting = slices.Delete(b.waiting, 0, n)
	return batch
}
