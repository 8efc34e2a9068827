package trust

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/shared/announce"
)

const (
	look   = 5 * time.Second // interval of the deliveries, in addition to the immediate ones
	replan = time.Minute     // interval of the updates of the planned rotation
)

// Run delivers events to core, repeats failed publications of the policy, and updates the planned
// rotation in the calendar, until ctx ends.
func (s *Publisher) Run(ctx context.Context) {
	tick, late := time.NewTicker(look), time.NewTicker(replan)
	defer tick.Stop()
	defer late.Stop()
	for {
		s.retryPolicy(ctx)
		s.Deliver(ctx)
		select {
		case <-ctx.Done():
			return
		case <-s.queued:
		case <-tick.C:
		case <-late.C:
			if err := s.replan(ctx); err != nil {
				s.cfg.Log.ErrorContext(ctx, "trust: the history of certificates was not written; it is retried",
					slog.Any("error", err))
			}
		}
	}
}

// Deliver sends each due event once, in the order of the changes, until core is unreachable.
func (s *Publisher) Deliver(ctx context.Context) {
	if s.cfg.Port == nil {
		return
	}
	if err := announce.Deliver(ctx, outbox{s}, s.send); err != nil && ctx.Err() == nil {
		s.cfg.Log.ErrorContext(ctx, "trust: an event was not delivered; it is retried", slog.Any("error", err))
	}
}

// send sends an event with the present token.
func (s *Publisher) send(ctx context.Context, p *announce.Pending) error {
	port := *s.cfg.Port
	if s.cfg.Token != nil {
		token, err := s.cfg.Token()
		if err != nil {
			return fmt.Errorf("trust: the operator token: %w", err)
		}
		port.Token = token
	}
	err := port.Send(ctx, p)
	var refused *announce.RefusedError
	if errors.As(err, &refused) && refused.BadToken() {
		return fmt.Errorf("core rejected filter_token, so merchants get no events: set the same on core and the edge: %w",
			err)
	}
	return err
}

// outbox is the outbox of the history, which one program has.
type outbox struct{ *Publisher }

// Claim implements announce.Outbox.
func (o outbox) Claim(context.Context) (*announce.Pending, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.cfg.Clock.Now()
	for _, n := range o.history.Outbox {
		if !n.Due.After(now) {
			event := announce.Event{Type: n.Type, Name: n.Name, Object: n.Object}
			return &announce.Pending{ID: n.Name, Attempts: n.Attempts + 1, Event: event}, nil
		}
	}
	return nil, nil //nolint:nilnil // none is due
}

// Delivered implements announce.Outbox.
func (o outbox) Delivered(ctx context.Context, p *announce.Pending) error {
	return o.update(ctx, func(h *history, _ time.Time) {
		h.Outbox = slices.DeleteFunc(h.Outbox, func(n pending) bool { return n.Name == p.ID })
	})
}

// Postpone implements announce.Outbox.
func (o outbox) Postpone(ctx context.Context, p *announce.Pending, pause time.Duration) error {
	return o.update(ctx, func(h *history, now time.Time) {
		for i := range h.Outbox {
			if n := &h.Outbox[i]; n.Name == p.ID {
				n.Attempts, n.Due = p.Attempts, now.Add(pause)
			}
		}
	})
}

// drop reports events that the full outbox has lost: no merchant will get them. It is called with
// the mutex held.
func (s *Publisher) drop(ctx context.Context, all []pending) {
	for _, n := range all {
		s.dropped++
		s.cfg.Log.ErrorContext(ctx, "trust: an event was dropped, because the outbox is full and core accepts none",
			slog.String("type", n.Type), slog.String("name", n.Name), slog.Int("attempts", n.Attempts),
			slog.Time("since", n.Since))
	}
}
