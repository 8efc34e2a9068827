package webhook_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/webhook"
	"github.com/causeway-pay/causeway/shared/programtest"
)

func TestHTTPS(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var version atomic.Uint32
	server := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { version.Store(uint32(r.TLS.Version)) }))
	t.Cleanup(server.Close)
	trusted := x509.NewCertPool()
	trusted.AddCert(server.Certificate())
	b.Tenant.Live = true
	e := b.MustEndpoint(t, server.URL)
	run(t, b.deliverer(func(c *webhook.Config) { c.TLS = &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12} }))
	err := b.DB.Update(t.Context(), func(tx *store.Tx) error {
		return tx.InsertEvent(&payment.Event{ID: b.IDs.Next(), Tenant: b.Tenant, Type: "transaction.captured", Object: 1, Sequence: 1, Data: []byte("{}")})
	})
	if err != nil {
		t.Fatal(err)
	}
	programtest.WaitFor(t, "it is delivered", func() bool { return b.deliveries(t, e)[0].Status == payment.DeliverySucceeded })
	if got := version.Load(); got < tls.VersionTLS12 {
		t.Errorf("TLS version: got %x", got)
	}
}

func TestEndlessResponseIsCutOff(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := newReceiver(t, func(w http.ResponseWriter, q *http.Request) {
		junk := make([]byte, 4096)
		for q.Context().Err() == nil {
			if _, err := w.Write(junk); err != nil {
				return
			}
		}
	})
	e := b.MustEndpoint(t, r.URL)
	run(t, b.deliverer())
	for range 8 { // more than the window: each attempt must free its slot
		b.MustPay(t)
	}
	r.wait(t, 8)
	programtest.WaitFor(t, "all succeed", func() bool {
		for _, d := range b.deliveries(t, e) {
			if d.Status != payment.DeliverySucceeded {
				return false
			}
		}
		return true
	})
}

// TestSwitchedProtocol: an endpoint that switches protocols and then is silent holds no attempt.
func TestSwitchedProtocol(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		t.Cleanup(func() { _ = c.Close() })
		_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
	})
	e := b.MustEndpoint(t, r.URL)
	run(t, b.deliverer())
	b.MustPay(t)
	r.wait(t, 1)
	programtest.WaitFor(t, "the attempt ends", func() bool {
		return b.deliveries(t, e)[0].Last.Error == webhook.ErrorStatus
	})
}

func TestNoProxyIsUsed(t *testing.T) {
	t.Parallel()
	if setup(t).deliverer().Proxied() {
		t.Error("a proxy would connect past the policy")
	}
}

func TestEventThatCannotBeShownStopsNoOther(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := newReceiver(t, nil)
	e := b.MustEndpoint(t, r.URL)
	b.MustPay(t)
	b.MustPay(t)
	bad := b.deliveries(t, e)[0].Event
	run(t, b.deliverer(func(c *webhook.Config) {
		c.Body = func(e *payment.Event) []byte {
			if e.ID == bad {
				panic("it does not encode")
			}
			return e.Data
		}
	}))
	r.wait(t, 1)
	programtest.WaitFor(t, "the other is over", func() bool { return b.deliveries(t, e)[1].Status == payment.DeliverySucceeded })
	programtest.WaitFor(t, "the attempt is over", func() bool { return !b.deliveries(t, e)[0].Leased })
	got := b.deliveries(t, e)[0]
	if got.Attempts != 1 || got.Status != payment.DeliveryPending || got.Last.Error != webhook.ErrorInternal {
		t.Errorf("got %+v, want a failed attempt", got)
	}
	if wait := got.DueAt.Sub(b.Clock.Now()); wait < 4*time.Second || wait > 6*time.Second {
		t.Errorf("the next attempt is due in %s, want it by the schedule", wait)
	}
	if !b.endpoint(t, e).FailingSince.IsZero() {
		t.Error("a fault of the service counts against the endpoint")
	}
	for n := 2; b.deliveries(t, e)[0].Status == payment.DeliveryPending; n++ { // it ends like any other delivery
		b.Clock.Advance(13 * time.Hour)
		programtest.WaitFor(t, "the next attempt is over", func() bool {
			d := b.deliveries(t, e)[0]
			return !d.Leased && (d.Attempts == int64(n) || d.Status != payment.DeliveryPending)
		})
	}
	if got := b.deliveries(t, e)[0]; got.Status != payment.DeliveryFailed || got.Attempts > 13 {
		t.Errorf("got %+v, want it to have failed", got)
	}
	programtest.WaitFor(t, "the log tells", func() bool { return strings.Contains(b.Log.String(), "an attempt panicked") })
	if strings.Contains(b.Log.String(), "does not encode") {
		t.Error("the log holds what was panicked with")
	}
}
