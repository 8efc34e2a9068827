package rollout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/deploy/edge/internal/serve"
	"github.com/causeway-pay/causeway/deploy/edge/internal/trust"
	"github.com/causeway-pay/causeway/shared/announce"
	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/durable"
)

// Publisher publishes the next and the live certificate. Both calls may be repeated. Package trust
// implements it.
type Publisher interface {
	// Next announces pairs; without pairs it cancels the announcement.
	Next(ctx context.Context, at time.Time, pairs ...*certfile.Pair) error
	Live(ctx context.Context, pairs ...*certfile.Pair) error
}

// Alarm monitors the served certificates, and whether the source's last one was refused. Package
// expiry implements it.
type Alarm interface {
	Serve(ctx context.Context, pairs ...*certfile.Pair)
	Refused(is bool)
}

// Config has the settings of a Rollout. All but Probe, Clock, Log, Metrics and Look are required.
type Config struct {
	Plane     *Plane
	Server    *serve.Server
	Publisher Publisher
	Alarm     Alarm
	Folder    string        // of the state for a restart
	Ahead     time.Duration // how long a new certificate is published before it is served
	// Probe makes a handshake with an Envoy, and fails unless it presents one of the pairs. Nil if no
	// Envoy is reachable from here.
	Probe   func(ctx context.Context, pairs []*certfile.Pair) error
	Clock   clock.Clock
	Log     *slog.Logger
	Metrics *Metrics
	Look    time.Duration // interval of the checks of the clock; 0: a second
}

// Rollout distributes certificates from a source to all Envoys.
type Rollout struct {
	cfg Config

	// Only Run uses these.
	live, next []*certfile.Pair
	before     []*certfile.Pair // live before, until live is published; nil after a restart
	change     *serve.Change    // the change that Envoys must acknowledge for it
	at         time.Time        // when next will be served
	published  bool             // live is published
	trouble    string           // last logged reason for a delay of the publication
	unsaved    string           // last logged reason for a failed write of the state
	unrecorded bool             // the disk or the publisher lacks next
	failures   int              // consecutive failures to record it
	again      time.Time        // the next attempt
	bad        bool             // the source refused its last certificate
	dropped    *dropped         // a certificate that was refused later; nil for none
}

// New reads the certificates of the previous run and pushes them: a restart does not wait for the
// source.
func New(ctx context.Context, cfg Config) (*Rollout, error) {
	if cfg.Clock == nil {
		cfg.Clock = clock.System()
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Metrics == nil {
		cfg.Metrics = NewMetrics()
	}
	cfg.Look = cmp.Or(cfg.Look, time.Second)
	if err := durable.MkdirAll(cfg.Folder, 0o700); err != nil {
		return nil, fmt.Errorf("rollout: %w", err)
	}
	r := &Rollout{cfg: cfg}
	if err := r.load(); err != nil {
		return nil, err
	}
	if len(r.live) == 0 {
		return r, r.admit(ctx)
	}
	if !r.cfg.Clock.Now().Before(end(r.live)) {
		r.cfg.Log.WarnContext(ctx, "edge: the certificate that was served has ended")
	}
	var err error
	if r.change, err = cfg.Plane.Certify(ctx, r.live); err != nil {
		return nil, fmt.Errorf("rollout: the certificate that was served: %w", err)
	}
	r.cfg.Alarm.Serve(ctx, r.live...)
	return r, nil
}

// admit pushes resources without a certificate, so that Envoys pass the authority's challenges for
// the first one.
func (r *Rollout) admit(ctx context.Context) error {
	if r.cfg.Plane.Config().Certificates.ACME == nil {
		return nil
	}
	if _, err := r.cfg.Plane.Certify(ctx, nil); err != nil {
		return fmt.Errorf("rollout: before the first certificate: %w", err)
	}
	return nil
}

// Run distributes the source's certificates until ctx ends.
func (r *Rollout) Run(ctx context.Context, source certfile.Source) error {
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
	for {
		select {
		case u := <-updates:
			r.take(ctx, u)
		case <-look.C:
		case err := <-failed:
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("rollout: source: %w", err)
		case <-ctx.Done():
			return nil
		}
		r.step(ctx)
	}
}

// take handles an update of the source.
func (r *Rollout) take(ctx context.Context, u certfile.Update) {
	if u.Refusal != nil {
		r.unfit(ctx, u.Refusal)
		return
	}
	r.forgive()
	for _, w := range u.Warnings {
		r.cfg.Log.WarnContext(ctx, "edge: certificate", slog.String("warning", w.String()))
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
func (r *Rollout) withdraw(ctx context.Context) {
	if len(r.next) == 0 {
		return
	}
	r.next, r.at = nil, time.Time{}
	r.cfg.Log.InfoContext(ctx, "edge: the next certificate was withdrawn")
	r.record(ctx)
}

// covers reports whether the live certificate is valid for all hosts: a restart may have added
// hosts.
func (r *Rollout) covers() bool {
	for _, name := range r.cfg.Plane.Config().Names() {
		for _, p := range r.live {
			if p.Leaf().VerifyHostname(name) != nil {
				return false
			}
		}
	}
	return true
}

// announce publishes the next certificate.
func (r *Rollout) announce(ctx context.Context, pairs []*certfile.Pair) {
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
func (r *Rollout) record(ctx context.Context) (recorded bool) {
	err := errors.Join(r.save(), r.cfg.Publisher.Next(ctx, r.at, r.next...))
	if err == nil {
		r.unrecorded, r.failures = false, 0
		return true
	}
	r.unrecorded, r.failures = true, r.failures+1
	r.again = r.cfg.Clock.Now().Add(announce.Gap(r.failures))
	r.cfg.Log.ErrorContext(ctx, "edge: the next certificate is not published: it is retried",
		slog.Int("attempts", r.failures), slog.Time("next", r.again), slog.Any("error", err))
	return false
}

// step serves the next certificate when it is due, and publishes the live one after it is served.
// It repeats failed publications.
func (r *Rollout) step(ctx context.Context) {
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

// push serves the next certificate. The disk has it as live before any Envoy gets it.
func (r *Rollout) push(ctx context.Context) {
	before, pairs, at := r.live, r.next, r.at
	// the source has checked it, but a push must not fail half-way
	if _, err := Snapshot(r.cfg.Plane.Config(), pairs); err != nil {
		r.next, r.at = nil, time.Time{}
		r.refuse(ctx, err)
		return
	}
	r.live, r.next, r.at = pairs, nil, time.Time{}
	if err := r.save(); err != nil {
		r.live, r.next, r.at = before, pairs, at // retried at the next check
		if text := err.Error(); text != r.unsaved {
			r.unsaved = text
			r.cfg.Log.ErrorContext(ctx, "edge: certificate", slog.Any("error", err))
		}
		return
	}
	r.unsaved, r.unrecorded = "", false
	change, err := r.cfg.Plane.Certify(ctx, pairs)
	if err != nil {
		r.live = before
		r.refuse(ctx, err)
		return
	}
	r.published, r.before, r.change = false, before, change
	r.cfg.Metrics.certificate("pushed")
	r.cfg.Alarm.Serve(ctx, r.live...)
}

// confirm publishes the live certificate if every node has it and a handshake presents it. It waits
// only briefly, because step calls it again.
func (r *Rollout) confirm(ctx context.Context) {
	asked, cancel := context.WithTimeout(ctx, r.cfg.Look)
	defer cancel()
	err := r.cfg.Server.Wait(asked, r.change)
	var refused *serve.RefusedError
	if errors.As(err, &refused) && !refused.Before && len(r.before) > 0 {
		r.rollBack(ctx, err)
		return
	}
	if err == nil && r.cfg.Probe != nil {
		err = r.cfg.Probe(asked, r.live)
	}
	if err == nil {
		err = r.publish(ctx)
	}
	if err != nil {
		if text := err.Error(); text != r.trouble {
			r.trouble = text
			r.cfg.Log.WarnContext(ctx, "edge: certificate not known to be live yet", slog.String("reason", text))
		}
		return
	}
	r.published, r.before, r.trouble = true, nil, ""
	if r.dropped != nil && same(r.live, r.dropped.pairs) {
		r.dropped = nil
		r.alarm()
	}
	r.cfg.Metrics.certificate("live")
	r.cfg.Log.InfoContext(ctx, "edge: certificate is live", slog.Time("not_after", end(r.live)))
}

// publish publishes the state again: the process may have died between a step and its publication.
func (r *Rollout) publish(ctx context.Context) error {
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
