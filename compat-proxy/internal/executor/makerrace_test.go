package executor_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// meanwhile runs a function once before the first request of a method, so that another proxy acts
// between two calls of this one.
type meanwhile struct {
	http.RoundTripper

	method string
	once   sync.Once
	run    func()
}

func (m *meanwhile) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == m.method {
		m.once.Do(m.run)
	}
	return m.RoundTripper.RoundTrip(r)
}

// TestCompletedCustomerIsNotDeleted: one proxy finds the customer abandoned. Another completes it
// before the first one deletes it.
func TestCompletedCustomerIsNotDeleted(t *testing.T) {
	t.Parallel()
	b := setupCustomers(t)
	b.make(t, &failing{left: 5}, ana(visa, mastercard)) // one card is attached
	b.v1.clock.Advance(4 * time.Minute)
	between := &meanwhile{method: http.MethodDelete, RoundTripper: b.server.Client().Transport}
	between.run = func() {
		if r := b.whole(t, ana(visa, mastercard)); r.Outcome != command.Done {
			t.Errorf("the other request: got %s, want done", r.Outcome)
		}
	}
	r := b.through(t, key, between, ana(amex))
	if r.Outcome != command.Repeated {
		t.Errorf("got %s %s, want the completed customer", r.Outcome, r.Code)
	}
	b.mustKeep(t, visa, mastercard)
}

// TestRefusedStepKeepsACompletedCustomer: v1 refuses the last step of a request whose customer
// another request has joined and completed.
func TestRefusedStepKeepsACompletedCustomer(t *testing.T) {
	t.Parallel()
	b := setupCustomers(t)
	between := &meanwhile{method: http.MethodPatch, RoundTripper: b.server.Client().Transport}
	between.run = func() {
		if r := b.whole(t, ana()); r.Outcome != command.Done {
			t.Errorf("the other request: got %s, want done", r.Outcome)
		}
		b.v1.mu.Lock()
		b.v1.refused[http.MethodPatch] = "invalid_value"
		b.v1.mu.Unlock()
	}
	if r := b.through(t, key, between, ana()); r.Outcome != command.Refused {
		t.Errorf("got %s, want refused", r.Outcome)
	}
	b.mustKeep(t)
}

// TestAgeIsOfTheClockOfV1: proxies an hour ahead of v1 do not treat a new customer of another
// request as abandoned.
func TestAgeIsOfTheClockOfV1(t *testing.T) {
	t.Parallel()
	b := setupCustomers(t)
	b.make(t, &failing{left: 5}, ana(visa, mastercard))
	if r := b.whole(t, ana(amex)); r.Outcome != command.Unavailable {
		t.Errorf("immediately: got %s, want unavailable", r.Outcome)
	}
	if r := b.whole(t, ana(visa, mastercard)); r.Outcome != command.Done {
		t.Errorf("the first request again: got %s, want done", r.Outcome)
	}
	b.mustKeep(t, visa, mastercard)
}

// attaching is the transport of a proxy whose reservations v1 refuses, because another request with
// the key is running. That request ends then.
type attaching struct {
	http.RoundTripper

	ends func()
}

func (a *attaching) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path != "/v1/idempotency_keys" {
		return a.RoundTripper.RoundTrip(r)
	}
	a.ends()
	w := httptest.NewRecorder()
	w.WriteHeader(http.StatusConflict)
	_, _ = w.WriteString(refusal(v1.CodeKeyInUse))
	return w.Result(), nil
}

// TestWaitsForTheFirstCard: a request without cards meets another one that is attaching its first
// card. It waits for the whole customer.
func TestWaitsForTheFirstCard(t *testing.T) {
	t.Parallel()
	b := setupCustomers(t)
	b.make(t, &failing{left: 4}, ana(visa, mastercard)) // the customer is made
	busy := &attaching{RoundTripper: b.server.Client().Transport}
	busy.ends = sync.OnceFunc(func() {
		if r := b.whole(t, ana(visa, mastercard)); r.Outcome != command.Done {
			t.Errorf("the other request: got %s, want done", r.Outcome)
		}
	})
	if r := b.through(t, key, busy, ana()); r.Outcome != command.Repeated {
		t.Errorf("got %s %s, want the whole customer", r.Outcome, r.Code)
	}
	b.mustKeep(t, visa, mastercard)
}
