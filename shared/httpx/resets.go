package httpx

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
)

// mostResets is the number of requests that a client may cancel on one HTTP/2 connection. The bound
// does not apply if most requests of the connection complete. net/http bounds the requests in
// progress and the waiting requests of a connection, but not the cancelled ones.
const mostResets = 200

// resets counts the requests of one HTTP/2 connection.
type resets struct{ requests, cancelled atomic.Int64 }

// end counts the end of a request.
func (c *resets) end(r *http.Request) {
	if ClientGone(r.Context()) {
		c.cancelled.Add(1)
	}
}

type resetsKey struct{}

// withResets is for http.Server.ConnContext.
func withResets(ctx context.Context, _ net.Conn) context.Context {
	return context.WithValue(ctx, resetsKey{}, &resets{})
}

// endResetting ends an HTTP/2 connection whose client cancels most of its requests: it sends GOAWAY
// and closes the connection after the requests under way.
func endResetting(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		count, _ := r.Context().Value(resetsKey{}).(*resets)
		if r.ProtoMajor < 2 || count == nil {
			next.ServeHTTP(w, r)
			return
		}
		requests, cancelled := count.requests.Add(1), count.cancelled.Load()
		if cancelled >= mostResets && 2*cancelled > requests {
			w.Header().Set("Connection", "close")
		}
		defer count.end(r)
		next.ServeHTTP(w, r)
	})
}
