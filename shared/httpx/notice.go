package httpx

import (
	"context"
	"net/http"
	"slices"
	"sync/atomic"
	"time"
)

// Notice is what a program gives before it ends, to whoever spreads requests over several of its kind: for a while it serves as ever, but is unwell
// for who asks for its health, and ends each connection with the answer to the next request on it. So nobody has a connection to it any more when it
// stops listening. Without, a request is lost that is sent on a connection in the moment in which the server closes it, and a payment must not be
// sent again by whoever is in between.
//
// One is for all servers of a program. A nil one is never given.
type Notice struct {
	// For is how long: longer than it takes those who ask for health to have noticed. 0 is no notice.
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

// around has next serve as long as no notice is given, and until the end as Notice says.
func (n *Notice) around(next http.Handler) http.Handler {
	if n == nil || n.For <= 0 {
		return next
	}
	unwell := RequestID(SecurityHeaders(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(leaving)) // whoever asked is gone
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
