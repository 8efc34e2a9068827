package engine

import (
	"context"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// keyWait is how long a request waits for an equal request of this process before it gets
// ErrKeyInUse.
const keyWait = time.Second

// running holds the idempotency keys of the requests that run in this process. A repeated request
// waits for the first one, and then gets its response. The store alone decides whether a key is in
// use. It is safe for concurrent use.
type running struct {
	mu   sync.Mutex
	keys map[runningKey]chan struct{} // guarded by mu; closed and removed when the request ends
}

type runningKey struct {
	tenant payment.Tenant
	key    string
}

func newRunning() *running { return &running{keys: map[runningKey]chan struct{}{}} }

// enter waits while an equal request runs, at most keyWait. The caller must call leave when it
// ends.
func (u *running) enter(ctx context.Context, r Request) (leave func()) {
	if r.Key == "" {
		return func() {}
	}
	k := runningKey{r.Tenant, r.Key}
	deadline := time.NewTimer(keyWait)
	defer deadline.Stop()
	for {
		u.mu.Lock()
		other, busy := u.keys[k]
		if !busy {
			mine := make(chan struct{})
			u.keys[k] = mine
			u.mu.Unlock()
			return func() { u.leave(k, mine) }
		}
		u.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return func() {}
		case <-deadline.C:
			return func() {}
		}
	}
}

func (u *running) leave(k runningKey, mine chan struct{}) {
	u.mu.Lock()
	delete(u.keys, k)
	u.mu.Unlock()
	close(mine)
}
