package upstream_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/upstream"
	"github.com/causeway-pay/causeway/shared/clock"
)

// TestIdle: the configured number of connections is kept for the configured time, and they are
// closed on demand.
func TestIdle(t *testing.T) {
	t.Parallel()
	t.Run("Limit", func(t *testing.T) {
		t.Parallel()
		f := newFar(t, []step{ok}, []step{ok}, []step{ok})
		tr := newTransport(t, upstream.Config{Idle: 2})
		together(t, tr, f, 3)
		<-f.closed // one of three
		select {
		case n := <-f.closed:
			t.Errorf("connection %d was closed, too", n)
		default:
		}
		tr.CloseIdleConnections()
		<-f.closed
		<-f.closed
	})
	t.Run("Time", func(t *testing.T) {
		t.Parallel()
		c := clock.NewFake(time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC))
		f := newFar(t, []step{ok, ok, ok}, []step{ok, ok})
		tr := newTransport(t, upstream.Config{IdleTime: time.Minute, Clock: c})
		for _, pass := range []time.Duration{0, time.Minute - 1, time.Minute} {
			c.Advance(pass)
			mustDo(t, tr, mustRequest(t, "GET", "http://"+f.addr+"/", ""), "200 ok")
		}
		if got, want := f.conns(), 2; got != want {
			t.Errorf("connections: got %d, want %d", got, want)
		}
	})
	t.Run("OldOneClosedWithoutBeingAskedFor", func(t *testing.T) {
		t.Parallel()
		c := clock.NewFake(time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC))
		f := newFar(t, []step{ok, ok, ok}, []step{ok, ok, ok})
		tr := newTransport(t, upstream.Config{IdleTime: time.Minute, Clock: c})
		together(t, tr, f, 2)
		for range 2 {
			c.Advance(time.Minute / 2)
			mustDo(t, tr, mustRequest(t, "GET", "http://"+f.addr+"/", ""), "200 ok")
		}
		<-f.closed
	})
	t.Run("ClosingWhileUnderWay", func(t *testing.T) {
		t.Parallel()
		f := newFar(t, []step{ok})
		var tr *upstream.Transport
		tr = newTransport(t, upstream.Config{Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			tr.CloseIdleConnections()
			return (&net.Dialer{}).DialContext(ctx, network, addr)
		}})
		mustDo(t, tr, mustRequest(t, "GET", "http://"+f.addr+"/", ""), "200 ok")
		<-f.closed
	})
}

// together makes n requests at the same time, each on a separate connection.
func together(t *testing.T, tr http.RoundTripper, f *far, n int) {
	t.Helper()
	var ready sync.WaitGroup
	ready.Add(n)
	var wg sync.WaitGroup
	for range n {
		r := mustRequest(t, "POST", "http://"+f.addr+"/", "")
		r.Body, r.ContentLength = io.NopCloser(readerFunc(func([]byte) (int, error) {
			ready.Done()
			ready.Wait() // until all have a connection
			return 0, io.EOF
		})), -1
		wg.Go(func() {
			if status, _, err := do(tr, r); err != nil || status != http.StatusOK {
				t.Errorf("got %d, %v", status, err)
			}
		})
	}
	wg.Wait()
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }
