package edge_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// load sends requests through Envoy until it is stopped, over both versions of HTTP, on kept and on
// new connections.
type load struct {
	done, fresh atomic.Int64
	stop        func()

	mu       sync.Mutex
	failures []string // guarded by mu
}

// paths are the paths of the load: core without mle-filter, core behind mle-filter, and
// compat-proxy.
var paths = []string{"/v1/health", "/v1/transactions?limit=1", "/compat/methods"}

// pace returns the least time from one request of a client to the next. The rotations last as long
// as the machine is busy, and without a pace the load would take all processors for that time.
func pace() time.Duration {
	if programtest.Soak() {
		return time.Nanosecond
	}
	return 25 * time.Millisecond
}

// load starts n clients of each kind.
func (r *deployment) load(t *testing.T, n int) *load {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	l := &load{}
	var all sync.WaitGroup
	l.stop = func() {
		cancel()
		all.Wait()
	}
	for range n {
		for kind := range 3 {
			client := r.client(t, func(tr *http.Transport) {
				tr.DisableKeepAlives = kind == 2
				if kind == 1 {
					onlyHTTP2(tr)
				}
			})
			all.Go(func() {
				next := time.NewTicker(pace())
				defer next.Stop()
				for i := 0; ctx.Err() == nil; i++ {
					l.one(ctx, client, r.key, paths[i%len(paths)], kind == 2)
					select {
					case <-next.C:
					case <-ctx.Done():
					}
				}
			})
		}
	}
	t.Cleanup(l.stop)
	return l
}

// one sends one request. A request in progress when the load is stopped still counts.
func (l *load) one(ctx context.Context, client *http.Client, key, path string, fresh bool) {
	r, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodGet, "https://"+host+path, http.NoBody)
	if err != nil {
		l.fail(err)
		return
	}
	r.Header.Set("Authorization", "Bearer "+key)
	got, err := client.Do(r)
	if err != nil {
		l.fail(err)
		return
	}
	text, err := io.ReadAll(got.Body)
	_ = got.Body.Close() // read to its end
	l.done.Add(1)
	if fresh {
		l.fresh.Add(1)
	}
	if err != nil || got.StatusCode != http.StatusOK {
		l.fail(fmt.Errorf("%s: %d %.200s: %w", path, got.StatusCode, text, err))
	}
}

func (l *load) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failures = append(l.failures, err.Error())
}

// check fails the test unless at least that many requests were sent and none failed.
func (l *load) check(t *testing.T, least int64) {
	t.Helper()
	programtest.WaitFor(t, fmt.Sprint(least, " requests are made"), func() bool { return l.done.Load() >= least })
	l.stop()
	t.Logf("%d requests, %d of them on a new connection, %d failed", l.done.Load(), l.fresh.Load(),
		len(l.failures))
	for i, f := range l.failures {
		if i == 5 {
			break
		}
		t.Error(f)
	}
}
