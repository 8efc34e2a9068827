package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// clients is the number of clients that run scenarios at the same time.
const clients = 16

// Keys are the merchant's, in test mode.
type Keys struct{ Secret, Publishable string }

// Figures are the counts of a run.
type Figures struct {
	Commands int // acknowledged
	ByKind   map[Kind]int
	Lost     int // responses that were lost in a crash
	Stood    int // lost responses whose retry under the key found the effect
	Again    int // lost responses whose retry had the effect
	Unsure   int // lost responses without a key, so without a retry
	Replays  int // responses that were requested a second time, and compared
}

// Harness is a merchant whose service is killed. Its methods are called one at a time; Load runs
// many clients.
type Harness struct {
	seed   uint64
	keys   Keys
	api    *client
	hook   *receiver
	silent net.Listener // accepts connections and never responds

	credits bool // the merchant may make unlinked refunds

	routes []*client // besides api, for the clients of Storm
	storms bool      // there are several processes, of which some live

	mu    sync.Mutex // guards calls, wants and twins while clients run
	calls []*Call    // of this round
	wants []want
	twins []string        // faults of requests that were sent twice at the same time
	live  map[string]bool // API keys by whether they must work

	erased map[string]bool // objects whose events have no personal data any more

	all    []*Call // of all rounds
	base   marks   // the rows before the endpoints, which have no delivery
	since  marks   // the rows at the last inspection
	before marks   // the rows at the inspection before
	fig    Figures
	main   string // id of the endpoint that gets everything

	merchant int64 // number of its id
}

// want is an event of an object that must come to an endpoint.
type want struct{ path, object string }

// marks are the newest ids of each list.
type marks struct{ transaction, refund, customer, key, event string }

// New returns a harness. Close it at the end.
func New(seed uint64, keys Keys) (*Harness, error) {
	silent, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("dead endpoint: %w", err)
	}
	return &Harness{
		seed: seed, keys: keys, api: newClient(keys.Secret), hook: newReceiver(seed, 0.002), silent: silent,
		live: map[string]bool{}, erased: map[string]bool{}, fig: Figures{ByKind: map[Kind]int{}},
	}, nil
}

// AllowCredits lets clients make unlinked refunds. The merchant must be allowed to.
func (h *Harness) AllowCredits() { h.credits = true }

// Close ends the receivers.
func (h *Harness) Close() {
	h.hook.server.Close()
	_ = h.silent.Close()
}

// Attach sets the address of the process that serves now, or the addresses of several processes,
// which it uses in turn.
func (h *Harness) Attach(bases ...string) { h.api.move(bases...) }

// AttachRoute gives some clients of Storm a second route to v1. Retries and lookups may use any
// route.
func (h *Harness) AttachRoute(transport http.RoundTripper, bases ...string) {
	d := newClient(h.keys.Secret)
	d.http.Transport = transport
	d.move(bases...)
	h.routes = append(h.routes, d)
}

// routeOf returns the route of a request. A publishable key is accepted on the first route only. A
// request that is retried without a key uses the first route. Only there does a kill also end the
// request.
func (h *Harness) routeOf(c *Call) *client {
	if c.route == nil || c.Auth != "" || c.Key == "" && c.again() {
		return h.api
	}
	return c.route
}

// mainPath is the path of the endpoint that gets every event.
const mainPath = "/all"

// Prepare creates the permanent endpoints: one that is alive, and two that are dead.
func (h *Harness) Prepare(ctx context.Context) error {
	if err := h.learnMerchant(ctx); err != nil {
		return err
	}
	if err := h.markBase(ctx); err != nil {
		return err
	}
	for i, url := range []string{h.hook.url(mainPath), "http://" + h.silent.Addr().String() + "/", "http://127.0.0.1:1/"} {
		c := &Call{
			Kind: EndpointCreate, Method: http.MethodPost, Path: "/v1/webhook_endpoints", Key: fmt.Sprintf("stays-%d", i),
			Body: fmt.Sprintf(`{"url":%q,"enabled_events":["*"]}`, url),
		}
		a, err := h.api.insist(ctx, c)
		if err != nil {
			return err
		}
		if !a.ok() {
			return fmt.Errorf("endpoint %s: HTTP %d: %s", url, a.Status, a.Body)
		}
		if e := read[v1.WebhookEndpoint](a); i == 0 {
			h.main = e.ID
			h.hook.trust(mainPath, e.Secret.Reveal())
		}
	}
	return nil
}

// markBase excludes the events from before the endpoints, such as the events of API keys.
func (h *Harness) markBase(ctx context.Context) error {
	raw, err := h.api.list(ctx, "/v1/events", "")
	if err != nil {
		return err
	}
	for _, r := range raw {
		h.base.event = max(h.base.event, idOf(r))
	}
	h.since = h.base
	return nil
}

// learnMerchant reads the id of the merchant.
func (h *Harness) learnMerchant(ctx context.Context) error {
	a, err := h.api.get(ctx, "/v1/api_keys/current", "")
	if err != nil {
		return err
	}
	if h.merchant, err = id.Parse(id.Merchant, read[v1.APIKey](a).Merchant); err != nil {
		return fmt.Errorf("merchant: HTTP %d: %s: %w", a.Status, a.Body, err)
	}
	return nil
}

// stop is the panic that ends a scenario or an inspection early.
type stop struct{ error }

// ensure ends the scenario or the inspection if err is not nil.
func ensure(err error) {
	if err != nil {
		panic(stop{err})
	}
}

// must is ensure, and returns the value.
func must[T any](value T, err error) T {
	ensure(err)
	return value
}

// stopped runs fn, and returns the error that ended it early.
func stopped(fn func()) (err error) {
	defer func() {
		switch end := recover().(type) {
		case nil:
		case stop:
			err = end.error
		default:
			panic(end)
		}
	}()
	fn()
	return nil
}

// errGone ends a scenario: the process has ended.
var errGone = errors.New("crash: the process is gone")

// errOver ends a scenario that cannot continue, for example because a payment was declined.
var errOver = errors.New("crash: the scenario is over")

// Load lets every client run scenarios until the process dies. It calls kill at the given request,
// before that is sent or after its response. With several processes, a client without a response
// continues at the others until ctx ends.
func (h *Harness) Load(ctx context.Context, round, at int, before bool, kill func()) {
	h.calls, h.wants, h.twins = nil, nil, nil
	trigger := func(mine bool) func(int) {
		return func(n int) {
			if n == at && mine {
				kill()
			}
		}
	}
	h.runners(ctx, round, []*client{nil}, trigger(before), trigger(!before), func(t *runner) bool {
		gone := errors.Is(t.runNext(), errGone)
		if gone && (h.api.many() == 1 || ctx.Err() != nil) {
			return false
		}
		if gone { // others serve, or will
			<-time.After(50 * time.Millisecond)
		}
		return true
	})
}

// Storm lets every client run scenarios until they have sent the given number of requests, or ctx
// ends. Meanwhile some of the processes that serve are killed and restarted. Storm calls sent with
// the number of each request before it sends it, and returned with the number of each response. A
// client without a response retries immediately at another process, under the same key.
func (h *Harness) Storm(ctx context.Context, round, requests int, sent, returned func(n int)) {
	h.calls, h.wants, h.twins, h.storms = nil, nil, nil, true
	var all atomic.Int64
	count := func(n int) {
		all.Add(1)
		sent(n)
	}
	h.runners(ctx, round, append([]*client{nil, nil}, h.routes...), count, returned, func(t *runner) bool {
		_ = t.runNext() // any end of a scenario is fine
		return all.Load() < int64(requests) && ctx.Err() == nil
	})
}

// runners runs all clients, each as long as next returns true. The clients use the routes in turn.
// sent and returned get the numbers of requests and responses.
func (h *Harness) runners(
	ctx context.Context, round int, routes []*client, sent, returned func(n int), next func(*runner) bool,
) {
	var out, back atomic.Int64
	var running sync.WaitGroup
	for n := range clients {
		running.Go(func() {
			t := &runner{
				h: h, ctx: ctx, name: fmt.Sprintf("r%d-c%d", round, n), route: routes[n%len(routes)],
				rng:    rand.New(rand.NewPCG(h.seed, uint64(round)<<16|uint64(n))), //nolint:gosec // to be repeatable is the point
				before: func() { sent(int(out.Add(1))) }, after: func() { returned(int(back.Add(1))) },
			}
			for next(t) {
			}
		})
	}
	running.Wait()
}

// await waits for a condition, and reports whether it holds in time.
func await(ctx context.Context, holds func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, programtest.Patience)
	defer cancel()
	return programtest.Poll(ctx, holds)
}

// Figures returns the counts.
func (h *Harness) Figures() Figures { return h.fig }
