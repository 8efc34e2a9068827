package trust

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
				s.cfg.Log.ErrorContext(ctx, "history of certificates", slog.Any("error", err))
			}
		}
	}
}

// Deliver sends each due event once, in the order of the changes, until core is unreachable. A
// rejected event is due again later.
func (s *Publisher) Deliver(ctx context.Context) {
	if s.cfg.Port == nil {
		return
	}
	for _, n := range s.due() {
		err := s.send(ctx, announce.Event{Type: n.Type, Name: n.Name, Object: n.Object})
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			s.complain(ctx, n, err)
		}
		if err := s.delivered(ctx, n.Name, err); err != nil { // core recognises the repetition
			s.cfg.Log.ErrorContext(ctx, "history of certificates", slog.Any("error", err))
			return
		}
		var refused *announce.RefusedError
		if err != nil && !errors.As(err, &refused) {
			return // core is unreachable for the next one too
		}
	}
}

// send sends an event with the present token.
func (s *Publisher) send(ctx context.Context, n announce.Event) error {
	port := *s.cfg.Port
	if s.cfg.Token != nil {
		token, err := s.cfg.Token()
		if err != nil {
			return fmt.Errorf("trust: the operator token: %w", err)
		}
		port.Token = token
	}
	return port.AllMerchants(ctx, n)
}

func (s *Publisher) due() []pending {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.cfg.Clock.Now()
	var out []pending
	for _, n := range s.history.Outbox {
		if !n.Due.After(now) {
			out = append(out, n)
		}
	}
	return out
}

// delivered removes an accepted event from the outbox, or postpones a rejected one.
func (s *Publisher) delivered(ctx context.Context, name string, failure error) error {
	return s.update(ctx, func(h *history, now time.Time) {
		for i := range h.Outbox {
			n := &h.Outbox[i]
			switch {
			case n.Name != name:
				continue
			case failure == nil:
				h.Outbox = append(h.Outbox[:i], h.Outbox[i+1:]...)
			default:
				n.Attempts++
				n.Due = now.Add(announce.Gap(n.Attempts))
			}
			return
		}
	})
}

// drop reports events that the full outbox has lost: no merchant will get them. It is called with
// the mutex held.
func (s *Publisher) drop(ctx context.Context, all []pending) {
	for _, n := range all {
		s.dropped++
		s.cfg.Log.ErrorContext(ctx, "event dropped: the outbox is full, because core accepts none",
			slog.String("type", n.Type), slog.String("name", n.Name), slog.Int("attempts", n.Attempts),
			slog.Time("since", n.Since))
	}
}

func (s *Publisher) complain(ctx context.Context, n pending, err error) {
	reason := "core rejected the event; it is sent again"
	var refused *announce.RefusedError
	if errors.As(err, &refused) && refused.BadToken() {
		reason = "core rejects our filter token: merchants get no events until it is core's"
	}
	s.cfg.Log.ErrorContext(ctx, "event not delivered", slog.String("reason", reason), slog.String("type", n.Type),
		slog.String("name", n.Name),
		slog.Int("attempts", n.Attempts+1), slog.Any("error", err))
}
