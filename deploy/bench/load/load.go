package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
)

// Plan describes one run.
type Plan struct {
	Addr  string // host:port of plain HTTP
	Conns int
	// Rate makes the run an open loop of that many requests a second. Each request is sent when it
	// is due, and its latency counts from then. So the wait for a free connection is counted too.
	// With 0 the run is a closed loop.
	Rate    float64
	Request *Request
	// Fill writes the slots of a connection's next request. n differs for every request of the run.
	// All connections call it at the same time. Nil if the request has no slot.
	Fill   func(slot []byte, n uint64)
	Want   Want
	Warmup time.Duration // its responses are checked but not counted; in an open loop, the responses to requests due in it
	For    time.Duration // the counted time
	Clock  clock.Clock
}

// Want is the expected response.
type Want struct {
	Status   int
	Replayed bool
	Contains []byte // in the body; nil for any
}

// Check returns an error unless a response is as expected. The error shows the body, which holds no
// secret in the measured servers.
func (w *Want) Check(r Response) error {
	switch {
	case r.Status != w.Status:
		return fmt.Errorf("status %d instead of %d: %.300s", r.Status, w.Status, r.Body)
	case r.Replayed != w.Replayed:
		return fmt.Errorf("replayed %t instead of %t", r.Replayed, w.Replayed)
	case !bytes.Contains(r.Body, w.Contains):
		return fmt.Errorf("body without %s: %.300s", w.Contains, r.Body)
	}
	return nil
}

// Result is the measurement of a run.
type Result struct {
	Latencies []time.Duration // ascending, of the counted responses
	For       time.Duration   // the counted time
	Responses int             // all, also in the warm-up
}

// Rate returns responses per second.
func (r *Result) Rate() float64 { return float64(len(r.Latencies)) / r.For.Seconds() }

// Percentile returns the smallest element of ascending that at least p percent of the elements do
// not exceed, or 0 if there are none.
func Percentile(ascending []time.Duration, p float64) time.Duration {
	n := len(ascending)
	if n == 0 {
		return 0
	}
	rank := int(p*float64(n)/100+0.999999) - 1
	return ascending[min(max(rank, 0), n-1)]
}

// run is the state that the connections of a run share.
type run struct {
	Plan
	start, from, until time.Time     // the beginning, and the counted time
	taken              atomic.Uint64 // requests
}

// Run executes the plan. If any response is wrong, it returns an error with the number of failed
// connections and the first error.
func Run(ctx context.Context, p Plan) (*Result, error) {
	conns := make([]*conn, p.Conns)
	defer func() {
		for _, c := range conns {
			if c != nil {
				_ = c.Close() // everything was read or has failed already
			}
		}
	}()
	for i := range conns {
		var err error
		if conns[i], err = dial(ctx, p.Addr); err != nil {
			return nil, err
		}
	}
	r := &run{Plan: p, start: p.Clock.Now()}
	r.from = r.start.Add(p.Warmup)
	r.until = r.from.Add(p.For)
	workers := make([]worker, p.Conns)
	var wg sync.WaitGroup
	for i, c := range conns {
		workers[i] = worker{run: r, conn: c, request: p.Request.clone(), latencies: make([]time.Duration, 0, 4096)}
		wg.Go(func() { workers[i].err = workers[i].work(ctx) })
	}
	wg.Wait()
	return merge(workers, p.For)
}

// worker is one connection's part of a run.
type worker struct {
	run       *run
	conn      *conn
	request   *Request
	latencies []time.Duration
	responses int
	err       error // why it ended early
}

// work sends requests until the counted time ends. In an open loop it takes longer if the server is
// slow, since it sends every request that is due in that time.
func (w *worker) work(ctx context.Context) error {
	r := w.run
	if err := w.conn.SetDeadline(r.until.Add(patience)); err != nil {
		return err
	}
	for ctx.Err() == nil {
		n := r.taken.Add(1) - 1
		request := w.request.fill(r.Fill, n) // this time is not counted
		from := r.Clock.Now()
		if r.Rate > 0 {
			from = r.start.Add(time.Duration(float64(n) / r.Rate * float64(time.Second)))
		}
		if !from.Before(r.until) {
			return nil
		}
		if err := sleep(ctx, from.Sub(r.Clock.Now())); err != nil {
			return err
		}
		response, err := w.conn.send(request)
		if err != nil {
			return err
		}
		w.responses++
		if err := r.Want.Check(response); err != nil {
			return fmt.Errorf("request %d: %w", n, err)
		}
		now := r.Clock.Now()
		// A closed loop counts by the time of the response, an open one by the due time of the request.
		counted := now
		if r.Rate > 0 {
			counted = from
		}
		if !counted.Before(r.from) && counted.Before(r.until) {
			w.latencies = append(w.latencies, now.Sub(from))
		}
	}
	return ctx.Err()
}

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func merge(workers []worker, d time.Duration) (*Result, error) {
	r := &Result{For: d}
	wrong := 0
	var first error
	for i := range workers {
		w := &workers[i]
		r.Latencies = append(r.Latencies, w.latencies...)
		r.Responses += w.responses
		if w.err != nil {
			wrong++
			if first == nil {
				first = w.err
			}
		}
	}
	if first != nil {
		return nil, fmt.Errorf("load: %d of %d connections failed, the first with: %w", wrong, len(workers), first)
	}
	if len(r.Latencies) == 0 {
		return nil, errors.New("load: no response in time")
	}
	slices.Sort(r.Latencies)
	return r, nil
}
