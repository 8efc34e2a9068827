package httpx

import (
	"context"
	"net/http"
	"slices"
	"sync/atomic"
	"time"
)

// Notice is a time before the end of a program in which load balancers take it out of service. The
// program still serves, but its health reports that it is leaving. It ends each connection with the
// response to the next request, so no client has a connection when the server stops listening.
// Without notice, a request is lost if it is sent while the server closes the connection, and a
// balancer must not repeat a payment.
//
// All servers of a program share one Notice. A nil Notice has no effect.
type Notice struct {
	// For is the duration. It must be longer than balancers need to notice a failed health check. 0
	// means no notice.
	For time.Duration
	// Health are the paths of health.
	Health []string

	given atomic.Bool
}

// Give gives notice, and returns when its time is over or ctx ends.
func (n *Notice) Give(ctx context.Context) {
	if n == nil || n.For <= 0 || n.given.Swap(true) {
		return
	}
	timer := time.NewTimer(n.For)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// leaving is health while notice is given.
const leaving = `{"checks":{"drain":"failing"},"status":"failing"}`

// around makes next serve as usual until notice is given, and from then on as Notice describes.
func (n *Notice) around(next http.Handler) http.Handler {
	if n == nil || n.For <= 0 {
		return next
	}
	unwell := RequestID(SecurityHeaders(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(leaving)) // the client is gone
	})))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !n.given.Load() {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Connection", "close")
		if slices.Contains(n.Health, r.URL.Path) {
			unwell.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}
