package drain_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/deploy/edge/internal/drain"
)

// envoy runs an administration that reports a number of requests in progress, one less for each
// query. For a negative number it reports no number.
func envoy(t *testing.T, underWay int64) (admin string, drained *atomic.Bool) {
	t.Helper()
	drained = &atomic.Bool{}
	left := atomic.Int64{}
	left.Store(underWay)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost && r.URL.Path == "/drain_listeners" && r.URL.RawQuery == "graceful&skip_exit":
			drained.Store(true)
		case r.URL.Path == "/stats" && drained.Load() && left.Load() < 0:
			_, _ = w.Write([]byte("http.edge.downstream_rq_active: many\n"))
		case r.URL.Path == "/stats" && drained.Load():
			_, _ = w.Write([]byte("http.edge.downstream_rq_active: " + string(rune('0'+left.Load())) +
				"\nhttp.edge_http.downstream_rq_active: 0\n"))
			left.Add(-1)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://"), drained
}

func TestEnvoy(t *testing.T) {
	t.Parallel()
	for name, underWay := range map[string]int64{"idle": 0, "busy": 2} {
		admin, drained := envoy(t, underWay)
		if err := drain.Envoy(t.Context(), admin, time.Millisecond); err != nil || !drained.Load() {
			t.Errorf("%s: got %v, drained %t", name, err, drained.Load())
		}
	}
}

// TestEnvoyAtSocket checks the administration on a unix socket.
func TestEnvoyAtSocket(t *testing.T) {
	t.Parallel()
	at, drained := envoy(t, 1)
	path := filepath.Join(t.TempDir(), "admin.sock")
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: at}))
	_ = server.Listener.Close() // it is replaced
	server.Listener = l
	server.Start()
	t.Cleanup(server.Close)
	if err := drain.Envoy(t.Context(), "unix:"+path, time.Millisecond); err != nil || !drained.Load() {
		t.Errorf("got %v, drained %t", err, drained.Load())
	}
}

func TestEnvoyRefuses(t *testing.T) {
	t.Parallel()
	admin, _ := envoy(t, 9)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := drain.Envoy(ctx, admin, time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("ErrUnderWay: got %v", err)
	}
	if err := drain.Envoy(ctx, admin, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("ErrQuiet: got %v", err)
	}
	admin, _ = envoy(t, -1)
	if err := drain.Envoy(t.Context(), admin, 0); err == nil {
		t.Error("a text that is not a number was read as no requests")
	}
	if err := drain.Envoy(t.Context(), "127.0.0.1:1", 0); err == nil {
		t.Error("no Envoy was drained")
	}
}
