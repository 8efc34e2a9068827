package bench_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/deploy/bench"
	"github.com/causeway-pay/causeway/shared/clock"
)

// TestAwaitAcceptsASlowFirstPayment: a first payment through Envoy takes milliseconds. E1 failed on
// every machine where it took more than one.
func TestAwaitAcceptsASlowFirstPayment(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		timer := time.NewTimer(20 * time.Millisecond)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
		}
		w.Header().Set("Content-Length", "2")
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte("{}"))
	}))
	t.Cleanup(server.Close)
	b := bench.Bench{Config: bench.Config{Clock: clock.System()}}
	if err := b.Await(t.Context(), server.Listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
}
