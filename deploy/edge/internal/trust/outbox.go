package trust

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/causeway-pay/causeway/shared/announce"
)

const (
	look   = 5 * time.Second // interval of the deliveries, in addition to the immediate ones
	replan = time.Minute     // interval of the checks for missed planned rotations
)

// Run delivers events to core, and postpones missed planned rotations in the calendar, until ctx
// ends.
func (s *Publisher) Run(ctx context.Context) {
	tick, late := time.NewTicker(look), time.NewTicker(replan)
	defer tick.Stop()
	defer late.Stop()
	for {
		s.Deliver(ctx)
		select {
		case <-ctx.Done():
			return
		case <-s.queued:
		case <-tick.C:
		case <-late.C:
			if err := s.update(func(h *history, now time.Time) error { s.plan(h, now); return nil }); err != nil {
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
		err := s.cfg.Port.Everybody(ctx, announce.News{Type: n.Type, Name: n.Name, Object: n.Object})
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			s.complain(ctx, n, err)
		}
		if err := s.delivered(n.Name, err); err != nil { // core recognises the repetition
			s.cfg.Log.ErrorContext(ctx, "history of certificates", slog.Any("error", err))
			return
		}
		var refused *announce.RefusedError
		if err != nil && !errors.As(err, &refused) {
			return // core is unreachable for the next one too
		}
	}
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
func (s *Publisher) delivered(name string, failure error) error {
	return s.update(func(h *history, now time.Time) error {
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
			return nil
		}
		return nil
	})
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
