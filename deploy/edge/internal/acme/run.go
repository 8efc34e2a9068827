package acme

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/causeway-pay/causeway/shared/certfile"
)

// Run sends an update for the stored certificate, if it is valid, and for each new one. A failed
// attempt is a refusal. Call Run once.
func (s *Source) Run(ctx context.Context, publish func(context.Context, certfile.Update)) error {
	defer s.cache.Stop()
	kept, err := s.store.load(ctx)
	if refusal := (*certfile.RefusalError)(nil); errors.As(err, &refusal) {
		s.Log.WarnContext(ctx, "acme: the stored certificate cannot be read, so another one is ordered",
			slog.Any("error", err))
	} else if err != nil {
		return err
	}
	r := &running{Source: s, publish: publish, by: kept.by, state: kept.state}
	r.resume(ctx, kept.pair)
	look := time.NewTicker(s.Look)
	defer look.Stop()
	for {
		r.step(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
		}
	}
}

// running is the state of Run.
type running struct {
	*Source
	publish func(context.Context, certfile.Update)

	pair  *certfile.Pair // the present one, or nil
	by    string         // the directory of its authority
	state state

	next    time.Time // earliest next attempt
	advised time.Time // last request for renewal information
}

// resume continues with the pair of an earlier run. A pair that has expired, or lacks a host, is
// replaced immediately.
func (r *running) resume(ctx context.Context, pair *certfile.Pair) {
	if !r.state.Tried.IsZero() && r.state.Failures > 0 {
		r.next = r.state.Tried.Add(min(restartWait, pause(r.state.Failures, 0, 0)))
	}
	if pair == nil {
		return
	}
	r.report("", r.Clock.Now()) // until step finds that it fits
	warnings, err := r.examine(pair)
	if err != nil {
		r.Log.WarnContext(ctx, "acme: the stored certificate does not fit the configuration, so another one is ordered",
			slog.Any("error", err))
		return
	}
	r.pair = pair
	r.publish(ctx, certfile.Update{Pairs: []*certfile.Pair{pair}, Warnings: warnings})
}

// step orders a certificate if it is due.
func (r *running) step(ctx context.Context) {
	now := r.Clock.Now()
	if r.pair != nil && r.by == r.Directory {
		r.fetchAdvice(ctx)
		at := newIssued(r.pair.Leaf(), r.state).due(r.RenewAfter)
		r.report(r.pair.Leaf().SerialNumber.String(), at)
		if now.Before(at) {
			return
		}
	}
	if now.Before(r.next) || ctx.Err() != nil {
		return
	}
	pair, err := r.attempt(ctx, now)
	switch {
	case err == nil:
		warnings, _ := r.examine(pair) // accept has checked it
		r.publish(ctx, certfile.Update{Pairs: []*certfile.Pair{pair}, Warnings: warnings})
	case ctx.Err() == nil:
		r.fail(ctx, err)
	default: // the program stops, which is no failure
		r.state.Failures--
		_ = r.store.saveState(ctx, r.state) // then the next start waits a minute
	}
}

// attempt orders once. It first records the attempt, so that a program that dies of it waits as
// well.
func (r *running) attempt(ctx context.Context, now time.Time) (*certfile.Pair, error) {
	r.state.Tried = now
	r.state.Failures++
	if err := r.store.saveState(ctx, r.state); err != nil {
		return nil, err // a new certificate could not be stored either
	}
	pair, err := r.order(ctx)
	if err != nil {
		return nil, err
	}
	r.counts.attempt("issued")
	r.pair, r.by, r.next, r.advised = pair, r.Directory, time.Time{}, time.Time{}
	r.state = state{
		Serial: pair.Leaf().SerialNumber.String(), Obtained: now, Tried: now,
		Jitter: rand.Float64(), //nolint:gosec // it spreads load
	}
	if err := r.store.saveState(ctx, r.state); err != nil { // the pair is stored; only the time of its issue is lost
		r.Log.WarnContext(ctx, "acme: the state was not written to the folder of data; it is retried", slog.Any("error", err))
	}
	at := newIssued(pair.Leaf(), r.state).due(r.RenewAfter)
	r.Log.InfoContext(ctx, "acme: a certificate was issued", slog.String("serial", r.state.Serial),
		slog.Time("not_after", pair.Leaf().NotAfter), slog.Time("renewal", at))
	r.report(r.state.Serial, at)
	return pair, nil
}

// fail delays the next attempt and sends the refusal.
func (r *running) fail(ctx context.Context, err error) {
	now := r.Clock.Now()
	var left time.Duration
	if r.pair != nil {
		left = r.pair.Leaf().NotAfter.Sub(now)
	}
	r.next = now.Add(pause(r.state.Failures, left, rand.Float64())) //nolint:gosec // it spreads load
	r.counts.attempt("failed")
	status := r.Status()
	status.Failures, status.Err, status.Next = r.state.Failures, err, r.next
	r.setStatus(status)
	r.Log.WarnContext(ctx, "acme: no certificate was issued", slog.Any("error", err),
		slog.Int("attempt", r.state.Failures), slog.Time("next", r.next))
	r.publish(ctx, certfile.Update{
		Refusal: fmt.Errorf("the authority issued no certificate (attempt %d; the next one at %s): %w",
			r.state.Failures, r.next.UTC().Format(time.RFC3339), err),
	})
}

// report sets the time of the renewal in the status. Failures stay until an attempt succeeds.
func (r *running) report(serial string, at time.Time) {
	status := Status{Renewal: at, Serial: serial}
	if before := r.Status(); r.state.Failures > 0 {
		status.Failures, status.Err, status.Next = before.Failures, before.Err, before.Next
	}
	r.setStatus(status)
}
