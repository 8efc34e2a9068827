package trust

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/causeway-pay/causeway/shared/announce"
)

const (
	look   = 5 * time.Second // how often it is looked for what is due, beside what is told at once
	replan = time.Minute     // how often it is looked whether what was planned came
)

// Run tells core what there is to tell, and has the calendar put off what did not come, until ctx ends.
func (s *Story) Run(ctx context.Context) {
	tick, late := time.NewTicker(look), time.NewTicker(replan)
	defer tick.Stop()
	defer late.Stop()
	for {
		s.Deliver(ctx)
		select {
		case <-ctx.Done():
			return
		case <-s.news:
		case <-tick.C:
		case <-late.C:
			if err := s.update(func(h *history, now time.Time) error { s.plan(h, now); return nil }); err != nil {
				s.cfg.Log.ErrorContext(ctx, "history of certificates", slog.Any("error", err))
			}
		}
	}
}

// Deliver tries all that is due, each once, in the order in which it happened, as long as core can be reached. What core does not take is due
// again later.
func (s *Story) Deliver(ctx context.Context) {
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
		if err := s.told(n.Name, err); err != nil { // it is sent again, and core knows it
			s.cfg.Log.ErrorContext(ctx, "history of certificates", slog.Any("error", err))
			return
		}
		var refused *announce.RefusedError
		if err != nil && !errors.As(err, &refused) {
			return // core cannot be reached: not for the next one either
		}
	}
}

func (s *Story) due() []news {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.cfg.Clock.Now()
	var out []news
	for _, n := range s.history.News {
		if !n.Due.After(now) {
			out = append(out, n)
		}
	}
	return out
}

// told takes what core took off the list, and puts off what it did not.
func (s *Story) told(name string, failure error) error {
	return s.update(func(h *history, now time.Time) error {
		for i := range h.News {
			n := &h.News[i]
			switch {
			case n.Name != name:
				continue
			case failure == nil:
				h.News = append(h.News[:i], h.News[i+1:]...)
			default:
				n.Attempts++
				n.Due = now.Add(announce.Gap(n.Attempts))
			}
			return nil
		}
		return nil
	})
}

func (s *Story) complain(ctx context.Context, n news, err error) {
	reason := "core did not take the event; it is sent again"
	var refused *announce.RefusedError
	if errors.As(err, &refused) && refused.BadToken() {
		reason = "core does not take our filter token: merchants are not told until it is the one that core has"
	}
	s.cfg.Log.ErrorContext(ctx, "event not told", slog.String("reason", reason), slog.String("type", n.Type), slog.String("name", n.Name),
		slog.Int("attempts", n.Attempts+1), slog.Any("error", err))
}
