package engine_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/webhook"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// hooks responds with 200 to webhooks whose path begins with /healthy, and with 500 to others.
type hooks struct {
	*httptest.Server
	mu    sync.Mutex
	paths []string // of the requests so far
}

func newHooks(t *testing.T) *hooks {
	t.Helper()
	h := &hooks{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		h.paths = append(h.paths, r.URL.Path)
		h.mu.Unlock()
		if !strings.HasPrefix(r.URL.Path, "/healthy") {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(h.Close)
	return h
}

// requests returns the paths of the requests so far.
func (h *hooks) requests() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.paths)
}

// mustWait waits until the requests meet a condition, and returns them.
func (h *hooks) mustWait(t *testing.T, what string, holds func([]string) bool) []string {
	t.Helper()
	var got []string
	programtest.WaitFor(t, what, func() bool {
		got = h.requests()
		return holds(got)
	})
	return got
}

// mustEndpoint makes an endpoint of a tenant for all events.
func mustEndpoint(t *testing.T, s *coretest.Service, tenant payment.Tenant, url string) {
	t.Helper()
	e := payment.Endpoint{URL: url, Types: []string{payment.AllEventTypes}, Details: []byte("{}")}
	a, err := s.Engine.CreateEndpoint(t.Context(), engine.Request{Tenant: tenant}, e)
	if err != nil || a.Status != 201 {
		t.Fatalf("endpoint: %d, %v", a.Status, err)
	}
}

// mustEndpoints makes endpoints of new merchants, 16 each, with some deliveries to each. Their URLs
// are numbers below a URL.
func mustEndpoints(t *testing.T, s *coretest.Service, endpoints, deliveries int, url string) {
	t.Helper()
	for n := 0; n < endpoints; {
		tenant := mustMerchant(t, s)
		for range 16 {
			mustEndpoint(t, s, tenant, fmt.Sprintf("%s/%d", url, n))
			n++
		}
		for range deliveries {
			mustPayFor(t, s, tenant)
		}
	}
}

// deliver delivers webhooks from a store until stop is called. encoded returns how often it has
// encoded an event for a request. Time passes on the service's clock.
func deliver(t *testing.T, s *coretest.Service, db *store.DB) (stop func(), encoded func() int) {
	t.Helper()
	var events atomic.Int64
	encode := func(e *payment.Event) []byte { events.Add(1); return api.Event(e) }
	d := webhook.New(webhook.Config{
		Store: db, Clock: s.Clock, Log: slog.New(slog.NewJSONHandler(s.Log, nil)),
		Secrets: webhook.NewSecrets([]byte("the webhook key of the tests: 32")),
		Policy:  webhook.Policy{AllowPrivate: true}, Body: encode, Disable: s.Engine.DisableEndpoint,
	})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { d.Run(ctx) })
	running.Go(func() {
		for last := clock.Monotonic(); ctx.Err() == nil; {
			<-time.After(time.Millisecond)
			now := clock.Monotonic()
			s.Clock.Advance(now - last)
			last = now
		}
	})
	stop = sync.OnceFunc(func() { cancel(); running.Wait() })
	t.Cleanup(stop)
	return stop, func() int { return int(events.Load()) }
}

// TestWebhooksOverASlowNetworkPostgreSQL: to lease all due deliveries takes longer than the time
// within which an attempt may begin. All are delivered, and no lease ends unused.
func TestWebhooksOverASlowNetworkPostgreSQL(t *testing.T) {
	t.Parallel()
	s, far := onNetwork(t, &network{delay: 35 * time.Millisecond}, longer)
	h := newHooks(t)
	const endpoints = 32
	mustEndpoints(t, s, endpoints, 1, h.URL+"/healthy")
	stop, encoded := deliver(t, s, far.Store)
	h.mustWait(t, "all are attempted", func(got []string) bool { return len(distinct(got)) == endpoints })
	stop()
	if got := encoded() - len(h.requests()); got != 0 {
		t.Errorf("leases without a request: got %d, want 0", got)
	}
}

// TestFailingWebhooksOverASlowNetworkPostgreSQL: three merchants have failing endpoints with
// several deliveries each. All these endpoints are attempted in turn. A payment of a fourth
// merchant does not wait for them.
func TestFailingWebhooksOverASlowNetworkPostgreSQL(t *testing.T) {
	t.Parallel()
	s, far := onNetwork(t, &network{delay: 20 * time.Millisecond}, longer)
	h := newHooks(t)
	const failing = 48
	mustEndpoints(t, s, failing, 2, h.URL+"/failing")
	s.MustExec(t, "UPDATE webhook_endpoints SET failing_since = ?", coretest.Birth.UnixMilli())
	tenant := mustMerchant(t, s)
	mustEndpoint(t, s, tenant, h.URL+"/healthy")
	deliver(t, s, far.Store)
	h.mustWait(t, "a failing endpoint is attempted", func(got []string) bool { return len(got) > 0 })
	mustPayFor(t, s, tenant)
	healthy := func(got []string) bool { return slices.Contains(got, "/healthy") }
	if got := len(h.mustWait(t, "the healthy endpoint is attempted", healthy)); got > failing/2 {
		t.Errorf("requests to failing endpoints before that of the healthy one: got %d, want a few", got-1)
	}
	got := h.mustWait(t, "all are attempted", func(got []string) bool { return len(distinct(got)) == failing+1 })
	if repeated := len(got) - failing - 1; repeated > failing/4 {
		t.Errorf("repeated requests before all were attempted: got %d, want none or a few", repeated)
	}
}

// distinct returns the paths without repetitions.
func distinct(paths []string) []string {
	slices.Sort(paths)
	return slices.Compact(paths)
}
