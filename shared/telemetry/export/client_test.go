package export_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// taken is a request that a collector received.
type taken struct {
	mu     sync.Mutex
	bodies [][]byte // guarded by mu
}

// TestCollectorThatCannot: the same batch is sent again while the collector reports an overload. It
// is not sent again after a rejection or a redirect. A redirect would send the headers, which may
// be secret, to another server.
func TestCollectorThatCannot(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ status, want int }{
		"overloaded": {http.StatusServiceUnavailable, 2}, "throttles": {http.StatusTooManyRequests, 2},
		"refuses": {http.StatusBadRequest, 1}, "moved": {http.StatusTemporaryRedirect, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got taken
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got.mu.Lock()
				defer got.mu.Unlock()
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				if got.bodies = append(got.bodies, body); len(got.bodies) == 1 {
					w.Header().Set("Location", "/elsewhere")
					w.WriteHeader(tt.status)
				}
			}))
			t.Cleanup(s.Close)
			p, _ := mustOpen(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": s.URL})
			one(t, p.Tracer("core"))
			p.Close(t.Context())
			got.mu.Lock()
			defer got.mu.Unlock()
			if len(got.bodies) != tt.want || len(got.bodies[0]) == 0 ||
				!bytes.Equal(got.bodies[0], got.bodies[len(got.bodies)-1]) {
				t.Errorf("got %d batches, want %d, the same", len(got.bodies), tt.want)
			}
		})
	}
}
