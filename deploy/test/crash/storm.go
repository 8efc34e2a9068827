package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
)

// Storm has every client tell stories until so many requests were sent, while some of the processes that serve are killed and come back. sent is told
// of each request before it goes out, answered when a client has its answer. Who does not get one asks again at once, under the same key, at another
// process, and goes on when he has been told.
func (h *Harness) Storm(ctx context.Context, round, requests int, sent, answered func(n int)) {
	h.calls, h.wants, h.twins, h.storms = nil, nil, nil, true
	ways := append([]*client{nil, nil}, h.doors...)
	var out, back atomic.Int64
	var running sync.WaitGroup
	for n := range clients {
		running.Go(func() {
			t := &teller{
				h: h, name: fmt.Sprintf("r%d-c%d", round, n), door: ways[n%len(ways)],
				rng:    rand.New(rand.NewPCG(h.seed, uint64(round)<<16|uint64(n))), //nolint:gosec // to be repeatable is the point
				before: func() { sent(int(out.Add(1))) }, after: func() { answered(int(back.Add(1))) },
			}
			for out.Load() < int64(requests) {
				_ = t.tell(ctx) // an end of a story is what it is
			}
		})
	}
	running.Wait()
}
