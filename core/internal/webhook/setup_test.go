package webhook_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/webhook"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// bundle is a service that deliverers can be added to.
type bundle struct {
	*coretest.Service
	secrets webhook.Secrets
}

func setup(t *testing.T) *bundle {
	t.Helper()
	return &bundle{coretest.Open(t), webhook.NewSecrets([]byte("the webhook key of the tests: 32"))}
}

// deliverer returns a deliverer that may deliver to this machine and polls often, changed by
// options. It does not run yet.
func (b *bundle) deliverer(options ...func(*webhook.Config)) *webhook.Deliverer {
	c := webhook.Config{
		Store: b.DB, Clock: b.Clock, Log: slog.New(slog.NewJSONHandler(b.Log, nil)), Secrets: b.secrets,
		Policy: webhook.Policy{AllowPrivate: true}, Body: api.Event, Disable: b.Engine.DisableEndpoint, Poll: 2 * time.Millisecond,
	}
	for _, o := range options {
		o(&c)
	}
	return webhook.New(c)
}

// run runs deliverers until the test ends or stop is called.
func run(t *testing.T, deliverers ...*webhook.Deliverer) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	for _, d := range deliverers {
		ended.Go(func() { d.Run(ctx) })
	}
	stop = sync.OnceFunc(func() { cancel(); ended.Wait() })
	t.Cleanup(stop)
	return stop
}

// MustEndpoint makes an endpoint for events of the given types, all of them by default.
func (b *bundle) MustEndpoint(t *testing.T, url string, types ...string) *payment.Endpoint {
	t.Helper()
	if len(types) == 0 {
		types = []string{payment.AllEventTypes}
	}
	made := payment.Endpoint{URL: url, Types: types, Details: []byte("{}")}
	if _, err := b.Engine.CreateEndpoint(t.Context(), engine.Request{Tenant: b.Tenant}, made); err != nil {
		t.Fatal(err)
	}
	all, err := b.DB.Endpoints(t.Context(), b.Tenant, "", payment.Page{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	return all.Rows[0]
}

// MustPay makes a captured payment, which is one event.
func (b *bundle) MustPay(t *testing.T) {
	t.Helper()
	if _, err := b.Pay(t.Context(), engine.Request{Tenant: b.Tenant}, 100, true); err != nil {
		t.Fatal(err)
	}
}

// endpoint reads an endpoint again.
func (b *bundle) endpoint(t *testing.T, e *payment.Endpoint) *payment.Endpoint {
	t.Helper()
	got, err := b.DB.Endpoint(t.Context(), b.Tenant, e.ID)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// deliveries lists all deliveries to an endpoint, oldest first.
func (b *bundle) deliveries(t *testing.T, e *payment.Endpoint) []*payment.Delivery {
	t.Helper()
	var out []*payment.Delivery
	got, err := b.DB.Deliveries(t.Context(), b.Tenant, e.ID, payment.Page{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for i := range got.Rows {
		out = append(out, got.Rows[len(got.Rows)-1-i])
	}
	return out
}

// message is a request that a receiver got.
type message struct {
	id, timestamp, signature string
	contentType              string
	body                     string
}

// receiver is an endpoint that records its requests. Its response can be set.
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	got     []message
	handler func(w http.ResponseWriter, r *http.Request) // nil for 200
}

func newReceiver(t *testing.T, handler func(http.ResponseWriter, *http.Request)) *receiver {
	t.Helper()
	r := &receiver{handler: handler}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

// ServeHTTP implements http.Handler.
func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	r.got = append(r.got, message{
		q.Header.Get("webhook-id"), q.Header.Get("webhook-timestamp"), q.Header.Get("webhook-signature"), q.Header.Get("Content-Type"), string(body),
	})
	handler := r.handler
	r.mu.Unlock()
	if handler != nil {
		handler(w, q)
	}
}

// respond changes the response.
func (r *receiver) respond(handler func(http.ResponseWriter, *http.Request)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.handler = handler
}

func (r *receiver) messages() []message {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]message(nil), r.got...)
}

// wait returns the first n messages.
func (r *receiver) wait(t *testing.T, n int) []message {
	t.Helper()
	programtest.WaitFor(t, fmt.Sprintf("%d messages have come", n), func() bool { return len(r.messages()) >= n })
	return r.messages()
}

// status responds with a status and no body.
func status(code int) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}
