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
	"github.com/causeway-pay/causeway/deploy/bench/serve"
)

// The clients of P12.
const (
	honest     = 50   // payments a second of the measured client
	unfinished = 2000 // connections with an unfinished body, without a login
	besiegers  = 20   // addresses that they come from
)

const (
	// reopenAfter is how long a besieger waits before it opens a connection again that was closed.
	reopenAfter = time.Second
	// opening is the time in which the connections are opened, so that they do not end together. It
	// is the grace period of a body.
	opening = 5 * time.Second
)

// besieged measures P12: the time of a payment while unfinished bodies wait at the same listener,
// from other addresses. A refused payment fails the row.
func besieged(ctx context.Context, b *Bench) (rows []Row, err error) {
	err = b.withServer(ctx, func(s *serve.Standalone) error {
		return b.withProxies(ctx, s, func(p *proxies) error {
			v1 := b.payments(s.Addr, s.Key, conns)
			row, err := b.besiege(ctx, "v1", "/v1/transactions", v1)
			if err != nil {
				return err
			}
			rows = append(rows, row)
			for _, d := range dialects() {
				r, err := d.request(p.compat.Addr, s, b.Clock.Now())
				if err != nil {
					return err
				}
				plan := load.Plan{Addr: p.compat.Addr, Conns: conns, Request: r, Fill: b.freshKey, Want: d.want}
				if row, err = b.besiege(ctx, d.name, d.path, plan); err != nil {
					return err
				}
				rows = append(rows, row)
			}
			return nil
		})
	})
	return rows, err
}

// besiege measures a plan alone, and while unfinished bodies wait for the same path.
func (b *Bench) besiege(ctx context.Context, name, path string, plan load.Plan) (Row, error) {
	plan.Rate = honest
	got, err := b.interleave(
		ctx,
		side{name + ", besieged", func(ctx context.Context) (sample, error) {
			stop, err := siege(ctx, plan.Addr, path)
			if err != nil {
				return sample{}, err
			}
			defer stop()
			return b.load(ctx, plan)
		}},
		side{name + ", alone", func(ctx context.Context) (sample, error) { return b.load(ctx, plan) }},
	)
	if err != nil {
		return Row{}, err
	}
	what := "p99 of a payment at 50/s beside 2,000 unfinished bodies ÷ alone, " + name
	return timesRow("P12", what, 2.0, got[0], got[1], byP99), nil
}

// siege opens all connections and returns when each has sent the start of its request. A connection
// that the server closes is opened again, until stop is called.
func siege(ctx context.Context, addr, path string) (stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	var ended sync.WaitGroup
	stop = func() { cancel(); ended.Wait() }
	first := make(chan error, unfinished)
	next := time.NewTicker(opening / unfinished)
	defer next.Stop()
	for i := range unfinished {
		<-next.C
		ended.Go(func() {
			from := net.IPv4(127, 0, 1, byte(1+i%besiegers)) //nolint:gosec // at most 20
			closed, err := sendUnfinished(ctx, from, addr, path)
			first <- err
			for err == nil { // a server that takes no connection is relieved
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
		return nil, fmt.Errorf("siege: %w", err)
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
