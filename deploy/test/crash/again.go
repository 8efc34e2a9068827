package crash

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Recover retries each request whose response was lost in the crash. It uses the same key, like a
// client that needs the outcome.
func (h *Harness) Recover(ctx context.Context) error {
	lost := make([]*Call, 0, clients)
	for _, c := range h.calls {
		switch {
		case c.Response == nil && !c.again():
			h.fig.Unsure++
		case c.Response == nil || c.Key != "" && c.Response.open():
			lost = append(lost, c)
		}
	}
	if err := each(lost, func(c *Call) { ensure(h.retry(ctx, c)) }); err != nil {
		return err
	}
	h.learn()
	h.Keep()
	return nil
}

// Keep ends a load. Its lost responses stay lost, and its calls are judged later.
func (h *Harness) Keep() {
	for _, c := range h.calls {
		if c.Response != nil {
			h.fig.Commands++
			h.fig.ByKind[c.Kind]++
		}
		switch {
		case !c.Lost:
			continue
		case c.Response == nil: // it stays lost
		case c.Response.Replayed:
			h.fig.Stood++
		default:
			h.fig.Again++
		}
		h.fig.Lost++
	}
	h.all = append(h.all, h.calls...)
}

// Retry sends each request without an outcome once more, under its key. The process may end
// meanwhile.
func (h *Harness) Retry(ctx context.Context) { h.RetryUntil(ctx, 0, nil) }

// RetryUntil is Retry, and calls kill at the given retry.
func (h *Harness) RetryUntil(ctx context.Context, at int, kill func()) {
	var sent atomic.Int64
	_ = each(h.calls, func(c *Call) { // a request without a response stays without
		if !c.again() || c.Response != nil && !c.Response.open() && c.Response.Status != http.StatusServiceUnavailable {
			return
		}
		if sent.Add(1) == int64(at) {
			kill()
		}
		// A refusal of the retry for the load is no outcome of the lost request.
		if a, err := h.routeOf(c).send(ctx, c); err != nil || !a.busy() {
			c.Response = a
		}
	})
}

// retry retries until it has the outcome. A request whose acquirer never responds stays open:
// each 504 was another attempt.
func (h *Harness) retry(ctx context.Context, c *Call) error {
	ctx, cancel := context.WithTimeout(ctx, programtest.Patience)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for hung := 0; ; {
		a, err := h.routeOf(c).send(ctx, c)
		switch {
		case err != nil && !h.storms:
			return fmt.Errorf("%s %s, retried: %w", c.Kind, c.Marker, err)
		case err == nil:
			c.Response = a
			if a.Status == http.StatusGatewayTimeout {
				hung++
			}
			if !a.open() && !a.busy() || c.Hangs && hung == 2 {
				return nil
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%s %s is stuck: %+v, %w", c.Kind, c.Marker, c.Response, errors.Join(err, ctx.Err()))
		}
	}
}

// learn collects the secrets in the responses.
func (h *Harness) learn() {
	paths := map[string]string{h.main: mainPath}
	for _, c := range h.calls {
		if !c.ok() {
			continue
		}
		if c.Kind == EndpointCreate {
			paths[c.Response.id()] = "/" + c.Marker
		}
		e := read[v1.WebhookEndpoint](c.Response)
		if (c.Kind == EndpointCreate || c.Kind == SecretRoll) && e.Secret != nil && paths[e.ID] != "" {
			h.hook.trust(paths[e.ID], e.Secret.Reveal())
		}
	}
	h.learnKeys()
}

// learnKeys determines the API keys that must work from now on. A key is made, then rolled or
// revoked: later responses have precedence.
func (h *Harness) learnKeys() {
	secrets := map[string]string{} // by id
	for _, c := range h.calls {
		k := v1.APIKey{}
		if c.ok() {
			k = read[v1.APIKey](c.Response)
		}
		switch {
		case c.Kind == KeyCreate && c.ok() && k.Secret != nil:
			secrets[k.ID] = k.Secret.Reveal()
			h.live[secrets[k.ID]] = true
		case c.Kind == KeyRoll && c.ok() && k.Secret != nil:
			secrets[k.ID] = k.Secret.Reveal()
			h.live[secrets[k.ID]] = true
			h.live[secrets[c.On]] = c.Body != `{"expires_in":0}`
		case c.Kind == KeyRoll && c.maybe():
			delete(h.live, secrets[c.On]) // unknown
		}
	}
	for _, c := range h.calls {
		if c.Kind == KeyRevoke && c.Response != nil {
			h.live[secrets[c.On]] = false
		}
	}
	delete(h.live, "")
}

// each runs fn on all, several at the same time, and returns the first error.
func each[T any](all []T, fn func(T)) error {
	var running errgroup.Group
	running.SetLimit(clients)
	for _, v := range all {
		running.Go(func() error { return stopped(func() { fn(v) }) })
	}
	return running.Wait()
}
