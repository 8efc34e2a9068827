package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
)

// runner is one client, which runs one scenario after the other.
type runner struct {
	h             *Harness
	ctx           context.Context //nolint:containedctx // it lives as long as the load
	name          string
	rng           *rand.Rand
	n             int // requests made
	before, after func()
	route         *client
}

// scenarios lists all scenarios, each with its weight. A scenario is a number of requests that
// build on each other. It ends by errGone as soon as one has no response.
var scenarios = []struct {
	weight int
	run    func(*runner)
}{
	{5, (*runner).sale},
	{6, (*runner).authorization},
	{4, (*runner).confirmation},
	{2, (*runner).race},
	{1, (*runner).verification},
	{1, (*runner).trouble},
	{3, (*runner).credit},
	{4, (*runner).tokenScenario},
	{4, (*runner).customerScenario},
	{2, (*runner).keyScenario},
	{2, (*runner).endpointScenario},
	{1, (*runner).day},
}

// runNext runs one scenario, chosen by weight, and returns the error that ended it early.
func (t *runner) runNext() error {
	total := 0
	for _, s := range scenarios {
		total += s.weight
	}
	n := t.rng.IntN(total)
	for _, s := range scenarios {
		if n -= s.weight; n < 0 {
			return stopped(func() { s.run(t) })
		}
	}
	return nil
}

// marker names the next object.
func (t *runner) marker() string {
	t.n++
	return fmt.Sprintf("%s-n%d", t.name, t.n)
}

// chance returns true with a probability of percent.
func (t *runner) chance(percent int) bool { return t.rng.IntN(100) < percent }

// post prepares a POST, mostly with a key. In the body {marker} stands for the marker of the object
// that it makes.
func (t *runner) post(kind Kind, path, format string, args ...any) *Call {
	c := &Call{Kind: kind, Method: http.MethodPost, Path: path, Marker: t.marker()}
	if t.chance(75) {
		c.Key = "key-" + c.Marker
		c.Twin = t.chance(6)
	}
	if format != "" {
		c.Body = strings.ReplaceAll(fmt.Sprintf(format, args...), "{marker}", c.Marker)
	}
	return c
}

// change prepares a PATCH or DELETE, which may be retried without a key.
func (t *runner) change(kind Kind, method, path, body string) *Call {
	return &Call{Kind: kind, Method: method, Path: path, Body: body, Marker: t.marker()}
}

// on sets the object that the request is about.
func (c *Call) on(id string) *Call {
	c.On = id
	return c
}

// keyed gives the request a key.
func keyed(c *Call) *Call {
	c.Key = "key-" + c.Marker
	return c
}

// do sends the request, once.
func (t *runner) do(c *Call) {
	t.h.mu.Lock()
	t.h.calls = append(t.h.calls, c)
	t.h.mu.Unlock()
	c.route = t.route
	t.before()
	a, err := t.send(t.ctx, c)
	// After a lost response net/http sends a request with a key again. A refusal for the load is then
	// no outcome of the first.
	if err != nil || a.lost() || c.Key != "" && a.throttled() {
		c.Lost = true
		t.lost(c)
		return
	}
	c.Response = a
	t.after()
}

// lost handles the loss of a response. With one process it ends the scenario, and Recover retries
// later. With several it retries at another process immediately, if a retry is allowed.
func (t *runner) lost(c *Call) {
	if !t.h.storms {
		ensure(errGone)
	}
	defer t.after()
	if !c.again() {
		ensure(errOver)
	}
	if err := t.h.retry(t.ctx, c); err != nil {
		t.h.mu.Lock()
		defer t.h.mu.Unlock()
		t.h.twins = append(t.h.twins, err.Error())
		ensure(errOver)
	}
}

// send sends the request, and its twin at the same time. Both get the same response, or one gets
// an error that the other is in progress.
func (t *runner) send(ctx context.Context, c *Call) (*Response, error) {
	route := t.h.routeOf(c)
	if !c.Twin || c.Key == "" {
		return route.send(ctx, c)
	}
	var twin *Response
	var lost error
	var running sync.WaitGroup
	running.Go(func() { twin, lost = route.send(ctx, c) }) // by another process if there are several
	a, err := route.send(ctx, c)
	running.Wait()
	if err = errors.Join(err, lost); err != nil {
		return nil, err
	}
	if !a.kept() && (twin.kept() || twin.open()) {
		return twin, nil // the first must be retried later, and had no effect
	}
	// With several processes the transport may have sent a request again at another one after a
	// lost response. Then both responses are replays.
	both := a.Replayed == twin.Replayed && (!t.h.storms || !a.Replayed)
	if a.kept() && twin.kept() && (a.Body != twin.Body || a.Status != twin.Status || both) {
		t.h.mu.Lock()
		defer t.h.mu.Unlock()
		t.h.twins = append(t.h.twins, fmt.Sprintf("%s %s: concurrent responses %d %s and %d %s",
			c.Kind, c.Marker, a.Status, a.Body, twin.Status, twin.Body))
	}
	return a, nil
}

// must is do for a request that the rest of the scenario needs.
func (t *runner) must(c *Call) {
	t.do(c)
	if !c.ok() {
		ensure(errOver)
	}
}

// together sends requests at the same time.
func (t *runner) together(calls ...*Call) { ensure(each(calls, t.do)) }

// pick returns one of several.
func pick[T any](t *runner, of ...T) T { return of[t.rng.IntN(len(of))] }
