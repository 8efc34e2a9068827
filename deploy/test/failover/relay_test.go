package failover_test

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
)

// relay forwards connections to an address. A cut relay forwards nothing and closes no connection,
// like a pulled cable.
type relay struct {
	to      string
	address string

	mu    sync.Mutex
	whole *sync.Cond
	cut   bool // guarded by mu
}

// newRelay listens on a free port.
func newRelay(t *testing.T, to string) *relay {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{to: to, address: l.Addr().String()}
	r.whole = sync.NewCond(&r.mu)
	t.Cleanup(func() {
		_ = l.Close()
		r.Mend()
	})
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // the test has ended
			}
			go r.serve(conn)
		}
	}()
	return r
}

// Cut stops all bytes; Mend delivers the bytes sent meanwhile.
func (r *relay) Cut() { r.set(true) }

// Mend ends Cut.
func (r *relay) Mend() { r.set(false) }

func (r *relay) set(cut bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut = cut
	r.whole.Broadcast()
}

// wait waits until the relay is not cut.
func (r *relay) wait() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.cut {
		r.whole.Wait()
	}
}

func (r *relay) serve(from net.Conn) {
	defer func() { _ = from.Close() }()
	r.wait()
	to, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", r.to)
	if err != nil {
		return // like a refused connection
	}
	defer func() { _ = to.Close() }()
	var both sync.WaitGroup
	both.Go(func() { r.pass(to, from) })
	both.Go(func() { r.pass(from, to) })
	both.Wait()
}

// pass copies in one direction. A cut also delays the end of the stream.
func (r *relay) pass(to, from net.Conn) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		r.wait()
		if n > 0 {
			if _, broken := to.Write(buf[:n]); broken != nil {
				_ = from.Close()
				return
			}
		}
		if errors.Is(err, io.EOF) {
			_ = to.(*net.TCPConn).CloseWrite() // the other direction may still have bytes
			return
		}
		if err != nil {
			_ = to.Close()
			return
		}
	}
}
