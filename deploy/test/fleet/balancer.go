//go:build unix

package fleet

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// Balancer forwards each connection to the next instance that accepts it. If the instance breaks
// it, the client sees the break.
type Balancer struct {
	listener  net.Listener
	instances []*Instance
	next      atomic.Uint64
}

// Balance starts a balancer at a free port, until the test ends.
func Balance(tb testing.TB, instances ...*Instance) *Balancer {
	tb.Helper()
	l, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	b := &Balancer{listener: l, instances: instances}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go b.serve(conn)
		}
	})
	tb.Cleanup(func() {
		_ = l.Close()
		running.Wait()
	})
	return b
}

// URL returns the address of the balancer.
func (b *Balancer) URL() string { return "http://" + b.listener.Addr().String() }

// serve forwards in both directions until both connections end.
func (b *Balancer) serve(client net.Conn) {
	defer func() { _ = client.Close() }()
	server := b.dial()
	if server == nil {
		programtest.Reset(client)
		return
	}
	defer func() { _ = server.Close() }()
	var both sync.WaitGroup
	both.Go(func() { pass(server, client) })
	both.Go(func() { pass(client, server) })
	both.Wait()
}

// dial connects to the next instance that accepts the connection. It returns nil if none does.
func (b *Balancer) dial() net.Conn {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	first := b.next.Add(1)
	for n := range uint64(len(b.instances)) {
		i := b.instances[(first+n)%uint64(len(b.instances))]
		if i.standsStill() {
			continue
		}
		if conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", i.listen); err == nil {
			return conn
		}
	}
	return nil
}

// pass copies in one direction. It forwards an end as an end, and a break as a break.
func pass(to, from net.Conn) {
	if _, err := io.Copy(to, from); err != nil && !errors.Is(err, net.ErrClosed) {
		programtest.Reset(to)
		programtest.Reset(from)
		return
	}
	if half, ok := to.(*net.TCPConn); ok {
		_ = half.CloseWrite() // it may be broken already
	}
}
