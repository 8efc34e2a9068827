package load

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// schedule computes when the requests of an open loop are due. The next free connection takes the
// next request.
type schedule struct {
	start time.Time
	rate  float64
	drawn atomic.Uint64
}

// next takes a request and returns its number and the time when it is due.
func (s *schedule) next() (n uint64, due time.Time) {
	n = s.drawn.Add(1) - 1
	return n, s.start.Add(time.Duration(float64(n) / s.rate * float64(time.Second)))
}

// follow sends every request that is due in the counted time. If the server is slow, the run takes
// longer.
func (w *worker) follow(ctx context.Context, s *schedule, until time.Time) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var response Response
	for {
		n, due := s.next()
		if !due.Before(until) {
			return ctx.Err()
		}
		request := w.request.fill(w.plan.Fill, n)
		if wait := due.Sub(w.plan.Clock.Now()); wait > 0 {
			timer.Reset(wait)
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-timer.C:
			}
		}
		if err := w.send(request, &response); err != nil {
			return fmt.Errorf("request %d: %w", n, err)
		}
		if now := w.plan.Clock.Now(); !due.Before(w.from) {
			w.latencies = append(w.latencies, now.Sub(due))
		}
	}
}
