package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
)

// patience is how long a single response may take before the run fails.
const patience = 20 * time.Second

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
func (w *Want) Check(a *Response) error {
	switch {
	case a.Status != w.Status:
		return fmt.Errorf("status %d instead of %d: %.300s", a.Status, w.Status, a.Body)
	case a.Replayed != w.Replayed:
		return fmt.Errorf("replayed %t instead of %t", a.Replayed, w.Replayed)
	case !bytes.Contains(a.Body, w.Contains):
		return fmt.Errorf("body without %s: %.300s", w.Contains, a.Body)
	}
	return nil
}

// Result is the measurement of a run.
type Result struct {
	Latencies []time.Duration // ascending, of the counted responses
	For       time.Duration   // the counted time
	Answered  int             // all responses, also in the warm-up
}

// Sort brings the latencies into order.
func (r *Result) Sort() { slices.Sort(r.Latencies) }

// Rate returns responses per second.
func (r *Result) Rate() float64 { return float64(len(r.Latencies)) / r.For.Seconds() }

// Percentile returns the latency that p percent of the responses did not exceed, or 0 if there are
// none.
func (r *Result) Percentile(p float64) time.Duration { return Percentile(r.Latencies, p) }

// Run executes the plan. If any response is wrong, it returns an error with their number and the
// first one.
func Run(ctx context.Context, p Plan) (*Result, error) {
	conns := make([]*Conn, p.Conns)
	defer func() {
		for _, c := range conns {
			if c != nil {
				_ = c.Close() // everything was read or has failed already
			}
		}
	}()
	for i := range conns {
		c, err := Dial(ctx, p.Addr)
		if err != nil {
			return nil, err
		}
		conns[i] = c
	}
	start := p.Clock.Now()
	pace := &schedule{start: start, rate: p.Rate}
	workers := make([]worker, p.Conns)
	var wg sync.WaitGroup
	for i := range workers {
		workers[i] = worker{
			plan: &p, conn: conns[i], request: p.Request.clone(), from: start.Add(p.Warmup), next: uint64(i),
		}
		wg.Go(func() { workers[i].run(ctx, pace) })
	}
	wg.Wait()
	return merge(workers, p.For)
}

// worker is one connection's part of a run.
type worker struct {
	plan      *Plan
	conn      *Conn
	request   *Request
	from      time.Time
	next      uint64
	latencies []time.Duration
	answered  int
	err       error // what ended it early
}

func (w *worker) run(ctx context.Context, pace *schedule) {
	until := w.from.Add(w.plan.For)
	if w.err = w.conn.SetDeadline(until.Add(patience)); w.err != nil {
		return
	}
	w.latencies = make([]time.Duration, 0, 4096)
	if pace.rate > 0 {
		w.err = w.follow(ctx, pace, until)
		return
	}
	w.err = w.repeat(ctx, until)
}

// repeat sends the next request as soon as it has the last response.
func (w *worker) repeat(ctx context.Context, until time.Time) error {
	var response Response
	for now := w.plan.Clock.Now(); now.Before(until) && ctx.Err() == nil; {
		request := w.request.fill(w.plan.Fill, w.next)
		sent := w.plan.Clock.Now() // the time to make a request is not counted
		if err := w.send(request, &response); err != nil {
			return err
		}
		w.next += uint64(w.plan.Conns) //nolint:gosec // a count is not negative
		now = w.plan.Clock.Now()
		if !now.Before(w.from) && now.Before(until) {
			w.latencies = append(w.latencies, now.Sub(sent))
		}
	}
	return ctx.Err()
}

// send sends a request and checks the response.
func (w *worker) send(request []byte, response *Response) error {
	if err := w.conn.Do(request, response); err != nil {
		return err
	}
	w.answered++
	return w.plan.Want.Check(response)
}

func merge(workers []worker, d time.Duration) (*Result, error) {
	r := &Result{For: d}
	wrong := 0
	var first error
	for i := range workers {
		w := &workers[i]
		r.Latencies = append(r.Latencies, w.latencies...)
		r.Answered += w.answered
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
	r.Sort()
	return r, nil
}

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

// Conn is one connection. It is not safe for concurrent use.
type Conn struct {
	net.Conn
	r *bufio.Reader
}

// Dial connects to addr (host:port).
func Dial(ctx context.Context, addr string) (*Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	return &Conn{Conn: c, r: bufio.NewReaderSize(c, 8<<10)}, nil
}

// Ask sends one request to addr over a new connection, and reads the response into a. It
// takes at most 20 seconds and ends with ctx.
func Ask(ctx context.Context, addr string, request []byte, a *Response) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := Dial(ctx, addr)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() }) // Do then fails at once
	defer func() {
		stop()
		_ = conn.Close() // the response was read, or has failed already
	}()
	return conn.Do(request, a)
}

// errClosing reports that the server closes the connection, which no measured server does.
var errClosing = errors.New("load: the server closes the connection")

// Do sends request and reads the response into a.
func (c *Conn) Do(request []byte, a *Response) error {
	if _, err := c.Write(request); err != nil {
		return fmt.Errorf("load: send: %w", err)
	}
	if err := a.Read(c.r); err != nil {
		return fmt.Errorf("load: receive: %w", err)
	}
	if a.Close {
		return errClosing
	}
	return nil
}

// Bytes returns the request with its slots filled once, for Conn.Do.
func (r *Request) Bytes(f func(slot []byte, n uint64), n uint64) []byte { return r.clone().fill(f, n) }
