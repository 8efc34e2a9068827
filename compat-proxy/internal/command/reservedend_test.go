package command_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
)

// TestDeduplication_gapBehindAReservedEnd: A, M and L run at one proxy, under the first three keys.
// B, at another proxy, finds the third key in use. Then v1 frees the second and the third key, and
// B reserves the third. B also reserves the second, so the duplicate of B's payment finds it behind
// A's refusal.
func TestDeduplication_gapBehindAReservedEnd(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, noon)
	f := &scheduledV1{b.v1, map[string]*scheduled{}}
	server := goldentest.Serve(t, f)
	transport := &byCommand{server.Client().Transport}
	results := map[string]chan command.Result{}
	var proxies []*command.Executor
	for range 2 {
		x, err := command.New(command.Config{
			DeduplicationSecret: goldentest.Secret(), V1: server.URL, Transport: transport,
			Backoff: time.Microsecond, FollowPause: time.Microsecond, Clock: b.clock,
		})
		if err != nil {
			t.Fatal(err)
		}
		x.Execute(t.Context(), key, []command.Command{sale(0, func(c *command.Authorize) { c.Body.Amount++ })})
		proxies = append(proxies, x)
	}
	begin := func(name string, proxy int) {
		c := sale(0, func(c *command.Authorize) { c.Body.Description = &name })
		s := &scheduled{
			RoundTripper: transport.RoundTripper, name: name, arrived: make(chan bool), step: make(chan turn),
		}
		f.clients[name], results[name] = s, make(chan command.Result, 1)
		go func() {
			results[name] <- proxies[proxy].Execute(withTransport(t.Context(), s), key, []command.Command{c})[0]
			s.arrived <- false
		}()
		<-s.arrived
	}
	// steps lets a client go on n times, and reports whether it waits again.
	steps := func(name string, n int, at turn) (waits bool) {
		for range n {
			f.clients[name].step <- at
			waits = <-f.clients[name].arrived
		}
		return waits
	}
	end := func(name string, at turn, want command.Outcome) {
		t.Helper()
		for steps(name, 1, at) {
		}
		if r := <-results[name]; r.Outcome != want {
			t.Errorf("%s: got %s, want %s", name, r.Outcome, want)
		}
	}
	b.v1.effects, b.v1.keys = nil, nil
	for _, name := range []string{"A", "M", "L"} {
		begin(name, 0)
		steps(name, 1, served) // to the acquirer, with its key claimed
	}
	begin("B", 1)
	const toReservation = 5 // a refused payment, and lookups of the keys 1, 2, 4 and 3
	steps("B", toReservation, served)
	end("L", unavailable, command.Unavailable)
	end("M", unavailable, command.Unavailable)
	end("B", served, command.Done)
	b.v1.response = http.StatusBadRequest
	end("A", served, command.Refused)
	b.v1.response = http.StatusCreated
	b.clock.Advance(2 * time.Second)
	sent := b.v1.paid() // B's payment, and A's refused one
	for proxy := range b.proxies {
		if got, want := b.execute(t.Context(), proxy, sale(120)), command.Repeated; got != want || b.v1.paid() != sent {
			t.Errorf("the duplicate by proxy %d: got %s and %d payments, want %s and %d", proxy, got, b.v1.paid(), want, sent)
		}
	}
}
