package executor_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/executor"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
)

// schedule runs commands at two proxies. The test lets each call go on.
type schedule struct {
	*scheduledV1

	b         windowBundle
	transport *byCommand
	proxies   []*executor.Executor
	results   map[string]chan command.Result
}

func newSchedule(t *testing.T, at time.Time) *schedule {
	t.Helper()
	b := setupWindow(t, at)
	s := &schedule{
		scheduledV1: &scheduledV1{b.v1, map[string]*scheduled{}}, b: b, results: map[string]chan command.Result{},
	}
	server := goldentest.Serve(t, s.scheduledV1)
	s.transport = &byCommand{server.Client().Transport}
	for range 2 {
		x, err := executor.New(executor.Config{
			V1:                  v1client.Config{URL: server.URL, Transport: s.transport, Backoff: 1, Clock: b.clock},
			DeduplicationSecret: goldentest.Secret(), FollowPause: time.Microsecond,
		})
		if err != nil {
			t.Fatal(err)
		}
		x.Execute(t.Context(), key, sale(0, func(c *command.Authorize) { c.Body.Amount++ }))
		// x now has v1's time and the merchant of the API key, so its next request makes no other calls.
		s.proxies = append(s.proxies, x)
	}
	b.v1.effects, b.v1.keys = nil, nil
	return s
}

// begin begins a payment at a proxy, until its first call.
func (s *schedule) begin(t *testing.T, name string, proxy, window int) {
	t.Helper()
	c := sale(window, func(c *command.Authorize) { c.Body.Description = &name })
	client := &scheduled{
		RoundTripper: s.transport.RoundTripper, name: name, arrived: make(chan bool), step: make(chan turn),
	}
	s.clients[name], s.results[name] = client, make(chan command.Result, 1)
	go func() {
		s.results[name] <- s.proxies[proxy].Execute(withTransport(t.Context(), client), key, c)
		client.arrived <- false
	}()
	<-client.arrived
}

// steps lets a payment go on n times, and reports whether it waits again.
func (s *schedule) steps(name string, n int, at turn) (waits bool) {
	for range n {
		s.clients[name].step <- at
		waits = <-s.clients[name].arrived
	}
	return waits
}

// end lets a payment go on to its end.
func (s *schedule) end(t *testing.T, name string, at turn, want command.Outcome) {
	t.Helper()
	for s.steps(name, 1, at) {
	}
	if r := <-s.results[name]; r.Outcome != want {
		t.Errorf("%s: got %s, want %s", name, r.Outcome, want)
	}
}

// TestDeduplication_gapBehindAReservedEnd: A, M and L run at one proxy, under the first three keys.
// B, at another proxy, finds the third key in use. Then v1 frees the second and the third key, and
// B reserves the third. B also reserves the second, so the duplicate of B's payment finds it behind
// A's refusal.
func TestDeduplication_gapBehindAReservedEnd(t *testing.T) {
	t.Parallel()
	s := newSchedule(t, noon)
	for _, name := range []string{"A", "M", "L"} {
		s.begin(t, name, 0, 0)
		s.steps(name, 1, served) // to the acquirer, with its key claimed
	}
	s.begin(t, "B", 1, 0)
	const toReservation = 5 // a refused payment, and lookups of the keys 1, 2, 4 and 3
	s.steps("B", toReservation, served)
	s.end(t, "L", unavailable, command.Unavailable)
	s.end(t, "M", unavailable, command.Unavailable)
	s.end(t, "B", served, command.Done)
	s.b.v1.response = http.StatusBadRequest
	s.end(t, "A", served, command.Refused)
	s.b.v1.response = http.StatusCreated
	s.b.clock.Advance(2 * time.Second)
	sent := s.b.v1.paid() // B's payment, and A's refused one
	for proxy := range s.proxies {
		if got, want := s.b.execute(t.Context(), proxy, sale(120)), command.Repeated; got != want || s.b.v1.paid() != sent {
			t.Errorf("the duplicate by proxy %d: got %s and %d payments, want %s and %d", proxy, got, s.b.v1.paid(), want, sent)
		}
	}
}
