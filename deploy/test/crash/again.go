package crash

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Recover asks again, under the same key, for what the crash left without an answer, as a client does that wants to know.
func (h *Harness) Recover(ctx context.Context) error {
	lost := make([]*Call, 0, clients)
	for _, c := range h.calls {
		switch {
		case c.Answer == nil && !c.again():
			h.fig.Unsure++
		case c.Answer == nil || c.Key != "" && c.Answer.open():
			lost = append(lost, c)
		}
	}
	if err := each(lost, func(c *Call) error { return h.askAgain(ctx, c) }); err != nil {
		return err
	}
	for _, c := range h.calls {
		if c.Lost {
			h.fig.Lost++
		}
		if c.Answer != nil {
			h.fig.Commands++
			h.fig.ByKind[c.Kind]++
		}
		if c.Lost && c.Answer != nil {
			if c.Answer.Replayed {
				h.fig.Stood++
			} else {
				h.fig.Again++
			}
		}
	}
	h.learn()
	h.all = append(h.all, h.calls...)
	return nil
}

// RecoverInVain asks once for each answer that the crash took, and has the process killed at the given one.
func (h *Harness) RecoverInVain(ctx context.Context, at int, kill func()) {
	var lost []*Call
	for _, c := range h.calls {
		if c.Answer == nil && c.again() {
			lost = append(lost, c)
		}
	}
	var sent atomic.Int64
	_ = each(lost, func(c *Call) error {
		if sent.Add(1) == int64(at) {
			kill()
		}
		if a, err := h.api.send(ctx, c); err == nil && !a.busy() && !a.open() {
			c.Answer = a
		}
		return nil
	})
}

// askAgain asks until it is told the outcome. One whose answer never comes stays open: each time it is told so, another attempt was made.
func (h *Harness) askAgain(ctx context.Context, c *Call) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for hung := 0; ; {
		a, err := h.way(c).send(ctx, c)
		switch {
		case err != nil && !h.storms:
			return fmt.Errorf("%s %s, asked again: %w", c.Kind, c.Marker, err)
		case err == nil:
			c.Answer = a
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
			return fmt.Errorf("%s %s is stuck: %+v, %w", c.Kind, c.Marker, c.Answer, errors.Join(err, ctx.Err()))
		}
	}
}

// learn takes in the secrets that answers showed.
func (h *Harness) learn() {
	paths := map[string]string{h.main: mainPath}
	for _, c := range h.calls {
		if !c.ok() {
			continue
		}
		if c.Kind == EndpointCreate {
			paths[c.Answer.id()] = "/" + c.Marker
		}
		if e := read[v1.WebhookEndpoint](c.Answer); (c.Kind == EndpointCreate || c.Kind == SecretRoll) && e.Secret != nil && paths[e.ID] != "" {
			h.hook.trust(paths[e.ID], e.Secret.Reveal())
		}
	}
	h.learnKeys()
}

// learnKeys finds out which API keys must work from now on. A key is made, then rolled or revoked: the later answers win.
func (h *Harness) learnKeys() {
	secrets := map[string]string{} // by id
	for _, c := range h.calls {
		k := v1.APIKey{}
		if c.ok() {
			k = read[v1.APIKey](c.Answer)
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
			delete(h.live, secrets[c.On]) // nobody knows
		}
	}
	for _, c := range h.calls {
		if c.Kind == KeyRevoke && c.Answer != nil {
			h.live[secrets[c.On]] = false
		}
	}
	delete(h.live, "")
}

// each runs fn on all, some at a time, and returns the first error.
func each[T any](all []T, fn func(T) error) error {
	var mu sync.Mutex
	var first error
	var running sync.WaitGroup
	next := make(chan T)
	for range clients {
		running.Go(func() {
			for v := range next {
				if err := fn(v); err != nil {
					mu.Lock()
					if first == nil {
						first = err
					}
					mu.Unlock()
				}
			}
		})
	}
	for _, v := range all {
		next <- v
	}
	close(next)
	running.Wait()
	return first
}
