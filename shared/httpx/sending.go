package httpx

import (
	"context"
	"errors"
	"net"
	"net/http/httptrace"
	"sync/atomic"
)

// Sending records the connections that a transport uses for one request. After a kept connection
// breaks, a transport may repeat a request on its own, and then returns only the result of the last
// attempt. The zero value is ready for use, and safe for concurrent use.
type Sending struct{ conns atomic.Int32 }

// Trace returns the context to send the request with. The transport must call the GotConn hook of
// net/http/httptrace for each connection that it takes.
func (s *Sending) Trace(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { s.conns.Add(1) },
	})
}

// NeverSent reports whether err proves that no attempt sent anything: no connection could be
// opened, and the transport took none for the request before.
func (s *Sending) NeverSent(err error) bool {
	var op *net.OpError
	return s.conns.Load() == 0 && errors.As(err, &op) && op.Op == "dial"
}

// Repeated reports whether the transport used more than one connection. Then the response proves
// nothing about earlier attempts.
func (s *Sending) Repeated() bool { return s.conns.Load() > 1 }
