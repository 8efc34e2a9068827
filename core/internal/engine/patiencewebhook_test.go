package engine_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
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
)

// mustReceive returns the URL of a receiver that counts its requests and responds with a status.
func mustReceive(t *testing.T, status int, requests *atomic.Int64) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		w.WriteHeader(status)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// mustEndpoint makes an endpoint of a tenant for all events.
func mustEndpoint(t *testing.T, s *coretest.Service, tenant payment.Tenant, url string) {
	t.Helper()
	e := store.Endpoint{URL: url, Types: []string{store.AllTypes}, Details: []byte("{}")}
	a, err := s.Engine.CreateEndpoint(t.Context(), engine.Request{Tenant: tenant}, e, api.Presenter{}.Endpoint)
	if err != nil || a.Status != 200 {
		t.Fatalf("endpoint: %d, %v", a.Status, err)
	}
}

// deliver delivers webhooks from a store until stop is called, and counts how often it encodes an
// event for a request. Time passes on the service's clock.
func deliver(t *testing.T, s *coretest.Service, db *store.DB, encoded *atomic.Int64) (stop func()) {
	t.Helper()
	encode := func(e *store.Event) []byte { encoded.Add(1); return api.Presenter{}.Event(e) }
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
	return stop
}

// TestWebhooksOverASlowNetworkPostgreSQL: leases of all due deliveries take longer than the time
// within which an attempt may begin. All deliveries are attempted, those to the failing endpoints of
// four merchants and the one to the healthy endpoint of a fifth. No lease is given back unused.
func TestWebhooksOverASlowNetworkPostgreSQL(t *testing.T) {
	t.Parallel()
	s, far := onNetwork(t, &network{delay: 20 * time.Millisecond}, "")
	const failing = 64
	var encoded, requests atomic.Int64
	url := mustReceive(t, http.StatusInternalServerError, &requests)
	for range failing / 16 {
		tenant := mustMerchant(t, s)
		for range 16 {
			mustEndpoint(t, s, tenant, url)
		}
		mustPayFor(t, s, tenant)
	}
	s.MustExec(t, "UPDATE webhook_endpoints SET failing_since = ?", coretest.Birth.UnixMilli())
	tenant := mustMerchant(t, s)
	mustEndpoint(t, s, tenant, mustReceive(t, http.StatusOK, &requests))
	mustPayFor(t, s, tenant)
	stop := deliver(t, s, far.Store, &encoded)
	waiting := func() int64 {
		return s.Number(t, "SELECT COUNT(*) FROM webhook_deliveries WHERE attempted_at = 0")
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(15 * time.Second); waiting() > 0; {
		select {
		case <-end:
			t.Fatalf("deliveries that were never attempted: got %d of %d, want none", waiting(), failing+1)
		case <-tick.C:
		}
	}
	stop()
	if got := encoded.Load() - requests.Load(); got != 0 {
		t.Errorf("leases without a request: got %d, want 0", got)
	}
}
