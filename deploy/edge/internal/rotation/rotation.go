package rotation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/deploy/edge/internal/trust"
	"github.com/causeway-pay/causeway/shared/announce"
	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/clock"
)

// Publisher publishes the next and the live certificate. Both calls may be repeated. Package trust
// implements it.
type Publisher interface {
	// Next announces pairs; without pairs it cancels the announcement.
	Next(ctx context.Context, at time.Time, pairs ...*certfile.Pair) error
	Live(ctx context.Context, pairs ...*certfile.Pair) error
}

// Fleet is all listeners that serve the certificates.
type Fleet interface {
	// Check returns an error if the fleet cannot serve the pairs. They are then refused.
	Check(pairs []*certfile.Pair) error
	// Serve makes the fleet serve the pairs; it may return before every listener does. Without pairs
	// it makes the fleet ready for the first ones. On an error the previous ones stay.
	Serve(ctx context.Context, pairs []*certfile.Pair) error
	// Served returns nil if every listener serves the pairs of the last Serve. refused reports that a
	// listener rejects them, and that the previous ones must be served again.
	Served(ctx context.Context, pairs []*certfile.Pair) (refused bool, err error)
	// Turnover counts the listeners that came and went.
	Turnover() int
	// Names returns the hosts. A certificate that is not valid for all of them is replaced
	// immediately.
	Names() []string
}

// Alarm monitors the served certificates, and whether the source's last one was refused. Package
// expiry implements it.
type Alarm interface {
	Serve(ctx context.Context, pairs ...*certfile.Pair)
	Refused(is bool)
}

// Config has the settings of a Rotation. Fleet and Publisher are required.
type Config struct {
	Fleet     Fleet
	Publisher Publisher
	Alarm     Alarm             // nil for none
	Folder    string            // of the state for a restart; "" for none
	Ahead     time.Duration     // how long a new certificate is published before it is served
	Count     func(what string) // counts a certificate as pushed, live or refused; nil for none
	Clock     clock.Clock
	Log       *slog.Logger
	Look      time.Duration // interval of the checks of the clock; 0: a second
}

// Rotation makes a fleet serve the certificates of a source.
type Rotation struct {
	cfg Config

	// Only Run uses these.
	live, next []*certfile.Pair
	before     []*certfile.Pair // live before, until live is published; nil after a restart
	at         time.Time        // when next will be served
	published  bool             // live is published
	trouble    string           // last logged reason for a delay of the publication
	unserved   string           // last logged reason why a due certificate is not served
	unrecorded bool             // the disk or the publisher lacks next
	failures   int              // consecutive failures to record it
	again      time.Time        // the next attempt
	bad        bool             // the source refused its last certificate
	dropped    *dropped         // a certificate that was refused later; nil for none
}

// quiet is an alarm without effect.
type quiet struct{}

func (quiet) Serve(context.Context, ...*certfile.Pair) {}
func (quiet) Refused(bool)                             {}

// New reads the certificates of the previous run and serves them: a restart does not wait for the
// source.
func New(ctx context.Context, cfg Config) (*Rotation, error) {
	if cfg.Clock == nil {
		cfg.Clock = clock.System()
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Alarm == nil {
		cfg.Alarm = quiet{}
	}
	if cfg.Count == nil {
		cfg.Count = func(string) {}
	}
	cfg.Look = cmp.Or(cfg.Look, time.Second)
	r := &Rotation{cfg: cfg}
	if err := r.load(); err != nil {
		return nil, err
	}
	if err := cfg.Fleet.Serve(ctx, r.live); err != nil {
		return nil, fmt.Errorf("rotation: serve the certificate of the previous run: %w", err)
	}
	if len(r.live) == 0 {
		return r, nil
	}
	if !r.cfg.Clock.Now().Before(end(r.live)) {
		r.cfg.Log.WarnContext(ctx, "edge: the served certificate has expired")
	}
	r.cfg.Alarm.Serve(ctx, r.live...)
	return r, nil
}

// Run serves first, if there is any, and then the source's certificates until ctx ends.
func (r *Rotation) Run(ctx context.Context, source certfile.Source, first ...*certfile.Pair) error {
	updates, failed := make(chan certfile.Update), make(chan error, 1)
	sourced, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	defer func() { stop(); <-done }()
	go func() {
		defer close(done)
		failed <- source.Run(sourced, func(ctx context.Context, u certfile.Update) {
			select {
			case updates <- u:
			case <-ctx.Done():
			}
		})
	}()
	look := time.NewTicker(r.cfg.Look)
	defer look.Stop()
	if len(first) > 0 {
		r.take(ctx, certfile.Update{Pairs: first})
		r.step(ctx)
	}
	for {
		select {
		case u := <-updates:
			r.take(ctx, u)
		case <-look.C:
		case err := <-failed:
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("rotation: source: %w", err)
		case <-ctx.Done():
			return nil
		}
		r.step(ctx)
	}
}

// take handles an update of the source.
func (r *Rotation) take(ctx context.Context, u certfile.Update) {
	if u.Refusal != nil {
		r.unfit(ctx, u.Refusal)
		return
	}
	r.clearRefused()
	for _, w := range u.Warnings {
		r.cfg.Log.WarnContext(ctx, "edge: the certificate has a fault: see warning", slog.String("warning", w.String()))
	}
	switch {
	case same(u.Pairs, r.live):
		r.withdraw(ctx)
	case same(u.Pairs, r.next):
	case len(r.live) == 0:
		r.next, r.at = u.Pairs, r.cfg.Clock.Now()
	default:
		r.announce(ctx, u.Pairs)
	}
}

// withdraw drops the next certificate.
func (r *Rotation) withdraw(ctx context.Context) {
	if len(r.next) == 0 {
		return
	}
	r.next, r.at = nil, time.Time{}
	r.cfg.Log.InfoContext(ctx, "edge: the next certificate was withdrawn")
	r.record(ctx)
}

// covers reports whether the live certificate is valid for all hosts: a restart may have added
// hosts.
func (r *Rotation) covers() bool {
	for _, name := range r.cfg.Fleet.Names() {
		for _, p := range r.live {
			if p.Leaf().VerifyHostname(name) != nil {
				return false
			}
		}
	}
	return true
}

// announce publishes the next certificate.
func (r *Rotation) announce(ctx context.Context, pairs []*certfile.Pair) {
	now := r.cfg.Clock.Now()
	at := trust.ServedFrom(now, r.cfg.Ahead, end(r.live))
	if !r.covers() {
		at = now
	}
	r.next, r.at = pairs, at
	if r.record(ctx) {
		r.cfg.Log.InfoContext(ctx, "edge: the next certificate is published", slog.Time("served_from", at))
	}
}

// record writes the next certificate to the disk, because a restart must not delay it. Then it
// publishes it, or withdraws the publication without one. step repeats a failed record, with
// growing pauses.
func (r *Rotation) record(ctx context.Context) (recorded bool) {
	err := errors.Join(r.save(), r.cfg.Publisher.Next(ctx, r.at, r.next...))
	if err == nil {
		r.unrecorded, r.failures = false, 0
		return true
	}
	r.unrecorded, r.failures = true, r.failures+1
	r.again = r.cfg.Clock.Now().Add(announce.Gap(r.failures))
	r.cfg.Log.ErrorContext(ctx, "edge: the next certificate was not published; it is retried",
		slog.Int("attempts", r.failures), slog.Time("next", r.again), slog.Any("error", err))
	return false
}

// step serves the next certificate when it is due, and publishes the live one after it is served.
// It repeats failed publications.
func (r *Rotation) step(ctx context.Context) {
	r.retry()
	if r.unrecorded && !r.cfg.Clock.Now().Before(r.again) && r.record(ctx) {
		r.cfg.Log.InfoContext(ctx, "edge: the publication of the next certificate is up to date")
	}
	if len(r.next) > 0 && !r.cfg.Clock.Now().Before(r.at) {
		r.push(ctx)
	}
	if len(r.live) > 0 && !r.published {
		r.confirm(ctx)
	}
}

// push serves the next certificate. The disk has it as live before any listener gets it.
func (r *Rotation) push(ctx context.Context) {
	before, pairs, at := r.live, r.next, r.at
	// the source has checked it, but a push must not fail half-way
	if err := r.cfg.Fleet.Check(pairs); err != nil {
		r.next, r.at = nil, time.Time{}
		r.refuse(ctx, err)
		return
	}
	r.live, r.next, r.at = pairs, nil, time.Time{}
	err := r.save()
	if err == nil {
		err = r.cfg.Fleet.Serve(ctx, pairs)
	}
	if err != nil {
		r.live, r.next, r.at = before, pairs, at // retried at the next check
		if text := err.Error(); text != r.unserved {
			r.unserved = text
			r.cfg.Log.ErrorContext(ctx, "edge: the certificate was not pushed; it is retried", slog.Any("error", err))
		}
		return
	}
	r.unserved, r.unrecorded = "", false
	r.published, r.before = false, before
	r.cfg.Count("pushed")
	r.cfg.Alarm.Serve(ctx, r.live...)
}

// confirm publishes the live certificate if the whole fleet serves it. It waits only briefly,
// because step calls it again.
func (r *Rotation) confirm(ctx context.Context) {
	asked, cancel := context.WithTimeout(ctx, r.cfg.Look)
	defer cancel()
	refused, err := r.cfg.Fleet.Served(asked, r.live)
	if refused && len(r.before) > 0 {
		r.rollBack(ctx, err)
		return
	}
	if err == nil {
		err = r.publish(ctx)
	}
	if err != nil {
		if text := err.Error(); text != r.trouble {
			r.trouble = text
			r.cfg.Log.WarnContext(ctx, "edge: Envoys have not confirmed the certificate yet", slog.String("reason", text))
		}
		return
	}
	r.published, r.before, r.trouble = true, nil, ""
	if r.dropped != nil && same(r.live, r.dropped.pairs) {
		r.dropped = nil
		r.alarm()
	}
	r.cfg.Count("live")
	r.cfg.Log.InfoContext(ctx, "edge: the certificate is live", slog.Time("not_after", end(r.live)))
}

// publish publishes the state again: the process may have died between a step and its publication.
func (r *Rotation) publish(ctx context.Context) error {
	if err := r.cfg.Publisher.Live(ctx, r.live...); err != nil {
		return err
	}
	return r.cfg.Publisher.Next(ctx, r.at, r.next...)
}

// end returns the earliest end of the pairs.
func end(pairs []*certfile.Pair) time.Time {
	out := pairs[0].Leaf().NotAfter
	for _, p := range pairs[1:] {
		if p.Leaf().NotAfter.Before(out) {
			out = p.Leaf().NotAfter
		}
	}
	return out
}

func same(a, b []*certfile.Pair) bool {
	return len(a) > 0 && slices.EqualFunc(a, b, (*certfile.Pair).Equal)
}
