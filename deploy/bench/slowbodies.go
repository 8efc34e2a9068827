package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/deploy/bench/load"
)

// The clients of P12.
const (
	paymentRate = 50   // payments per second of the measured client
	unfinished  = 2000 // connections with an unfinished body, without a login
	slowHosts   = 20   // addresses that they come from
)

const (
	// reopenAfter is how long a client waits before it reopens a connection that the server closed.
	reopenAfter = time.Second
	// opening is the time in which the connections are opened, so that they do not end together. It
	// is the grace period of a body.
	opening = 5 * time.Second
)

// slowBodies measures P12: the time of a payment while unfinished bodies wait at the same listener,
// from other addresses. A refused payment fails the row.
func slowBodies(b *Bench) {
	p := b.proxies()
	b.measureSlowBodies("v1", "/v1/transactions", b.payments(p.core.addr, p.core.key, conns))
	for _, d := range dialects() {
		b.measureSlowBodies(d.name, d.path, load.Plan{
			Addr: p.compat.addr, Conns: conns, Request: d.request(p, b.Clock.Now()), Fill: b.freshKey, Want: d.want,
		})
	}
}

// measureSlowBodies measures a plan alone, and while unfinished bodies wait for the same path.
func (b *Bench) measureSlowBodies(name, path string, plan load.Plan) {
	plan.Rate = paymentRate
	got := b.interleave(
		side{name + ", with slow bodies", func() sample {
			b.Cleanup(must(openSlowBodies(b.ctx, plan.Addr, path)))
			return b.load(plan)
		}},
		side{name + ", alone", func() sample { return b.load(plan) }},
	)
	what := "p99 of a payment at 50/s during 2,000 unfinished bodies ÷ alone, " + name
	b.timesRow("P12", what, 2.0, got[0], got[1], byP99)
}

// openSlowBodies opens all connections and returns when each has sent the start of its request. A
// connection that the server closes is opened again, until stop is called.
func openSlowBodies(ctx context.Context, addr, path string) (stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	var ended sync.WaitGroup
	stop = func() { cancel(); ended.Wait() }
	first := make(chan error, unfinished)
	next := time.NewTicker(opening / unfinished)
	defer next.Stop()
	for i := range unfinished {
		<-next.C
		ended.Go(func() {
			from := net.IPv4(127, 0, 1, byte(1+i%slowHosts)) //nolint:gosec // at most 20
			closed, err := sendUnfinished(ctx, from, addr, path)
			first <- err
			for err == nil { // after an error it stops: the server accepts no connection
				closed()
				select {
				case <-ctx.Done():
					return
				case <-time.After(reopenAfter):
				}
				closed, err = sendUnfinished(ctx, from, addr, path)
			}
		})
	}
	for range unfinished {
		err = errors.Join(err, <-first)
	}
	if err != nil {
		stop()
		return nil, fmt.Errorf("open the slow bodies: %w", err)
	}
	return stop, nil
}

// sendUnfinished sends the start of a request. The function that it returns waits until the server
// has closed the connection, or ctx has ended.
func sendUnfinished(ctx context.Context, from net.IP, addr, path string) (closed func(), err error) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: from}}
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	head := "POST " + path + " HTTP/1.1\r\nHost: " + addr + "\r\nContent-Type: application/json\r\n" +
		"Content-Length: 1000\r\n\r\n{"
	if _, err := io.WriteString(conn, head); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return func() {
		unhook := context.AfterFunc(ctx, func() { _ = conn.Close() }) // nothing is lost
		_, _ = io.Copy(io.Discard, conn)                              // until the server closes it
		unhook()
		_ = conn.Close()
	}, nil
}
