package simulator

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
)

// The disturbances of a request. A real acquirer, or the network before it, causes each on a bad
// day.
const (
	disturbSlow          = "slow"           // the response comes after the delay
	disturbTimeoutBefore = "timeout_before" // no response, and no effect
	disturbTimeoutAfter  = "timeout_after"  // no response, although the effect took place
	disturbLate          = "late"           // no response, and the effect takes place later, even after a void
	disturbUnavailable   = "unavailable"    // refused without an effect, at a repeated request too
	disturbNotFound      = "not_found"      // an inquiry does not find a request that took effect
)

// shareOf is the number of requests that a share counts from.
const shareOf = 1000

type disturbanceEntry struct {
	Kind     string `yaml:"kind"`
	Share    int    `yaml:"share"`
	DelayMS  int64  `yaml:"delay_ms"`
	EffectMS int64  `yaml:"effect_ms"`
}

// disturbance happens to a share of all requests.
type disturbance struct {
	kind          string
	share         int
	delay, effect time.Duration // at most; each request draws its own
}

func (c *catalogue) addDisturbances(entries []disturbanceEntry) error {
	const longest, latest = 600_000, 86_400_000
	var errs []error
	sum := 0
	for i, e := range entries {
		name := fmt.Sprintf("disturbances, entry %d (%s)", i+1, e.Kind)
		waits, isLate := false, false
		switch e.Kind {
		case disturbSlow, disturbTimeoutBefore, disturbTimeoutAfter:
			waits = true
		case disturbLate:
			waits, isLate = true, true
		case disturbUnavailable, disturbNotFound:
		default:
			errs = append(errs, fmt.Errorf("%s: kind: want slow, timeout_before, timeout_after, late, unavailable or not_found", name))
		}
		if sum += e.Share; e.Share < 1 || sum > shareOf {
			errs = append(errs, fmt.Errorf("%s: share: %d: want 1 or more, and at most %d in total", name, e.Share, shareOf))
		}
		if waits != (e.DelayMS >= 1) || e.DelayMS < 0 || e.DelayMS > longest {
			errs = append(errs, fmt.Errorf("%s: delay_ms: %d; want 1 to %d for a kind with a delay, otherwise no value", name, e.DelayMS, longest))
		}
		if isLate != (e.EffectMS >= 1) || e.EffectMS < 0 || e.EffectMS > latest {
			errs = append(errs, fmt.Errorf("%s: effect_ms: %d; want 1 to %d for late, otherwise no value", name, e.EffectMS, latest))
		}
		c.disturbances = append(c.disturbances, disturbance{
			e.Kind, e.Share, time.Duration(e.DelayMS) * time.Millisecond, time.Duration(e.EffectMS) * time.Millisecond,
		})
	}
	return errors.Join(errs...)
}

// draw returns the disturbance of the next request, the zero value for none.
func (c *catalogue) draw() disturbance {
	if len(c.disturbances) == 0 {
		return disturbance{}
	}
	n := rand.IntN(shareOf) //nolint:gosec // not a secret
	for _, d := range c.disturbances {
		if n -= d.share; n < 0 {
			d.delay, d.effect = upTo(d.delay), upTo(d.effect)
			return d
		}
	}
	return disturbance{}
}

func upTo(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return 1 + rand.N(d) //nolint:gosec // not a secret
}

// disturb runs a request under the disturbance that it draws. fn has the effect, late or in time,
// and returns its response.
func (s *Simulator) disturb(
	ctx context.Context, name string, fn func(ctx context.Context, late bool) (acquirer.Response, error),
) (acquirer.Response, error) {
	d := s.catalogue.draw()
	switch d.kind {
	case disturbSlow:
		wait(ctx, d.delay)
		return fn(ctx, false)
	case disturbUnavailable:
		return acquirer.Response{}, fmt.Errorf("simulator: %s: disturbed: %w", name, acquirer.ErrUnavailable)
	case disturbTimeoutBefore:
	case disturbTimeoutAfter:
		_, _ = fn(ctx, false) // the response is lost
	case disturbLate:
		s.delays.later(ctx, d.effect, func(ctx context.Context) { _, _ = fn(ctx, true) })
	case disturbNotFound:
		if name == "inquire" {
			return acquirer.Response{}, fmt.Errorf("simulator: %s: disturbed: %w", name, acquirer.ErrNotFound)
		}
		return fn(ctx, false)
	default:
		return fn(ctx, false)
	}
	wait(ctx, d.delay)
	return acquirer.Response{}, fmt.Errorf("simulator: %s: disturbed: %w", name, acquirer.ErrUnknown)
}

// delays are the effects on their way. A process that ends drops them, as a network does with
// requests.
type delays struct {
	running sync.WaitGroup
	closed  chan struct{}
	once    sync.Once
}

func newDelays() *delays { return &delays{closed: make(chan struct{})} }

// later runs fn after d, also if the request's context has ended, unless the simulator is closed
// before.
func (l *delays) later(ctx context.Context, d time.Duration, fn func(context.Context)) {
	l.running.Go(func() {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			fn(context.WithoutCancel(ctx))
		case <-l.closed:
		}
	})
}

// close drops the effects that have not taken place and waits for the others.
func (l *delays) close() {
	l.once.Do(func() { close(l.closed) })
	l.running.Wait()
}
