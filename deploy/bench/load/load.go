package load

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
)

// patience is how long a single answer may take before the run fails.
const patience = 20 * time.Second

// Plan is one run.
type Plan struct {
	Addr  string      // host:port
	TLS   *tls.Config // nil for plain HTTP
	Conns int
	// Rate makes the run an open loop: so many requests a second are sent, each when it is due, and its latency counts from then, so that
	// what waits for a free connection is not left out. 0 is a closed loop.
	Rate    float64
	Request *Request
	// Fill writes what goes into the slots of a connection's next request. n is different for every request of the run. It is called
	// from all connections at once. Nil when the request has no slot.
	Fill   func(slot []byte, n uint64)
	Want   Want
	Warmup time.Duration // answers of this first time are checked but not counted; in an open loop, to requests due in it
	For    time.Duration // the counted time
	Clock  clock.Clock
}

// Want is what every answer has to be.
type Want struct {
	Status   int
	Replayed bool
	Contains []byte // in the body; nil for anything
	// Also are statuses of answers that are taken too, whatever they say, but do not count: those of a server that is meant to be full.
	Also []int
}

// Check says what is wrong with an answer. The body is shown: those of the servers measured here hold no secret.
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

// Result is what a run measured.
type Result struct {
	Latencies []time.Duration // ascending, of the counted answers
	For       time.Duration   // the time they were counted in
	Answered  int             // also those that were not counted
	Also      int             // answers with another status that the plan takes
}

// Sort brings the latencies into order.
func (r *Result) Sort() { slices.Sort(r.Latencies) }

// Rate is answers per second.
func (r *Result) Rate() float64 { return float64(len(r.Latencies)) / r.For.Seconds() }

// Percentile is the latency that p percent of the answers did not exceed; 0 when there are none.
func (r *Result) Percentile(p float64) time.Duration { return Percentile(r.Latencies, p) }

// Run carries out the plan. It fails when any answer was wrong, and then says how many were and what the first one was.
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
		c, err := DialTLS(ctx, p.Addr, p.TLS)
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
		workers[i] = worker{plan: &p, conn: conns[i], request: p.Request.clone(), from: start.Add(p.Warmup), next: uint64(i)}
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
	also      int
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

// repeat sends as soon as it has the last answer.
func (w *worker) repeat(ctx context.Context, until time.Time) error {
	var answer Response
	for now := w.plan.Clock.Now(); now.Before(until) && ctx.Err() == nil; {
		request := w.request.fill(w.plan.Fill, w.next)
		sent := w.plan.Clock.Now() // what it takes to make a request is no wait for its answer
		if err := w.ask(request, &answer); err != nil {
			return err
		}
		w.next += uint64(w.plan.Conns) //nolint:gosec // a count is not negative
		now = w.plan.Clock.Now()
		if !now.Before(w.from) && now.Before(until) && answer.Status == w.plan.Want.Status {
			w.latencies = append(w.latencies, now.Sub(sent))
		}
	}
	return ctx.Err()
}

// ask sends a request and checks the answer.
func (w *worker) ask(request []byte, answer *Response) error {
	if err := w.conn.Do(request, answer); err != nil {
		return err
	}
	w.answered++
	if slices.Contains(w.plan.Want.Also, answer.Status) {
		w.also++
		return nil
	}
	return w.plan.Want.Check(answer)
}

func merge(workers []worker, d time.Duration) (*Result, error) {
	r := &Result{For: d}
	wrong := 0
	var first error
	for i := range workers {
		w := &workers[i]
		r.Latencies = append(r.Latencies, w.latencies...)
		r.Answered += w.answered
		r.Also += w.also
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
		return nil, errors.New("load: no answer in time")
	}
	r.Sort()
	return r, nil
}

// Percentile is the smallest element of ascending that at least p percent of the elements do not exceed; 0 when there are none.
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
func Dial(ctx context.Context, addr string) (*Conn, error) { return DialTLS(ctx, addr, nil) }

// DialTLS is Dial by HTTPS, unless policy is nil.
func DialTLS(ctx context.Context, addr string, policy *tls.Config) (*Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", addr)
	if err == nil && policy != nil {
		shaken := tls.Client(c, policy)
		if err = shaken.HandshakeContext(ctx); err != nil {
			err = errors.Join(err, c.Close())
		}
		c = shaken
	}
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	return &Conn{Conn: c, r: bufio.NewReaderSize(c, 8<<10)}, nil
}

// Ask sends one request to addr over a connection of its own, by HTTPS unless policy is nil, and
// reads the response into a. It takes at most 20 seconds and ends with ctx.
func Ask(ctx context.Context, addr string, policy *tls.Config, request []byte, a *Response) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := DialTLS(ctx, addr, policy)
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

// errClosing: the connection cannot be used further, which no server measured here does on its own.
var errClosing = errors.New("load: the server closes the connection")

// Do sends request and reads the answer into a.
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
