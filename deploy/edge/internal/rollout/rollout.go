package rollout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/deploy/edge/internal/serve"
	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/clock"
)

// Story is told what comes next and what is live; both may be told again. It is package trust's.
type Story interface {
	// Next announces pairs; without pairs it takes that back.
	Next(ctx context.Context, at time.Time, pairs ...*certfile.Pair) error
	Live(ctx context.Context, pairs ...*certfile.Pair) error
}

// Alarm is told what is served, and whether what was found last was refused. It is package expiry's.
type Alarm interface {
	Serve(ctx context.Context, pairs ...*certfile.Pair)
	Refused(is bool)
}

// Config is what a Rollout is made of. All but Probe, Clock, Log, Metrics and Look are required.
type Config struct {
	Plane  *Plane
	Server *serve.Server
	Story  Story
	Alarm  Alarm
	Folder string        // of what must outlive a restart
	Ahead  time.Duration // how long a new certificate is published before it is served
	// Probe shakes hands with an Envoy and fails while it shows none of the pairs. Nil where none can be reached from here.
	Probe   func(ctx context.Context, pairs []*certfile.Pair) error
	Clock   clock.Clock
	Log     *slog.Logger
	Metrics *Metrics
	Look    time.Duration // between two looks at the clock; 0: a second
}

// Rollout takes certificates from a source to all Envoys.
type Rollout struct {
	cfg Config

	// These belong to Run.
	live, next []*certfile.Pair
	before     []*certfile.Pair // live before, until live was told to be; nil after a restart
	change     *serve.Change    // what Envoys must have for that
	at         time.Time        // when next is to be served
	told       bool             // live was told to be
	trouble    string           // what was logged last of why not
	unsaved    string           // what was logged last of why it could not be written
	bad        bool             // the source refused what it found last
	dropped    *dropped         // what was refused later; nil for nothing
}

// margin is how long before its end a certificate is replaced at once, however short its successor was published.
const margin = time.Hour

// New reads what was served before, and pushes it: a restart does not wait for the source.
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
	if err := os.MkdirAll(cfg.Folder, 0o700); err != nil {
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

// admit has Envoys let an authority's challenges in before there is a certificate: there would never be one otherwise.
func (r *Rollout) admit(ctx context.Context) error {
	if r.cfg.Plane.Config().Certificates.ACME == nil {
		return nil
	}
	if _, err := r.cfg.Plane.Certify(ctx, nil); err != nil {
		return fmt.Errorf("rollout: before the first certificate: %w", err)
	}
	return nil
}

// Run takes from the source until ctx ends.
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

// take decides what becomes of an update.
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

// withdraw forgets what was to come.
func (r *Rollout) withdraw(ctx context.Context) {
	if len(r.next) == 0 {
		return
	}
	r.next, r.at = nil, time.Time{}
	r.say(ctx, "edge: the next certificate was taken back", errors.Join(r.save(), r.cfg.Story.Next(ctx, time.Time{})))
}

// covers reports whether what is live is good for all hosts: after a restart there may be more of them.
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

// announce publishes what is next, from the disk on: a restart must not put its time off.
func (r *Rollout) announce(ctx context.Context, pairs []*certfile.Pair) {
	now := r.cfg.Clock.Now()
	at, latest := now.Add(r.cfg.Ahead), end(r.live).Add(-margin)
	if at.After(latest) {
		at = latest
	}
	if at.Before(now) || !r.covers() {
		at = now
	}
	r.next, r.at = pairs, at
	r.say(ctx, "edge: the next certificate is published", errors.Join(r.save(), r.cfg.Story.Next(ctx, at, pairs...)), slog.Time("served_from", at))
}

// step serves what is next when its time has come, and tells what is live once it is.
func (r *Rollout) step(ctx context.Context) {
	r.retry()
	if len(r.next) > 0 && !r.cfg.Clock.Now().Before(r.at) {
		r.push(ctx)
	}
	if len(r.live) > 0 && !r.told {
		r.confirm(ctx)
	}
}

// push serves what is next. It is on the disk as live before any Envoy has it.
func (r *Rollout) push(ctx context.Context) {
	before, pairs := r.live, r.next
	if _, err := Snapshot(r.cfg.Plane.Config(), pairs); err != nil { // it is the source's to check, but a push must not fail half-way
		r.refuse(ctx, err)
		return
	}
	r.live, r.next, r.at = pairs, nil, time.Time{}
	if err := r.save(); err != nil {
		r.live, r.next = before, pairs // once more at the next look
		if text := err.Error(); text != r.unsaved {
			r.unsaved = text
			r.say(ctx, "", err)
		}
		return
	}
	r.unsaved = ""
	change, err := r.cfg.Plane.Certify(ctx, pairs)
	if err != nil {
		r.live = before
		r.refuse(ctx, errors.Join(err, r.save()))
		return
	}
	r.told, r.before, r.change = false, before, change
	r.cfg.Metrics.certificate("pushed")
	r.cfg.Alarm.Serve(ctx, r.live...)
}

// confirm looks whether every node has what is live and a handshake shows it, and tells so. It waits for little: it is asked again.
func (r *Rollout) confirm(ctx context.Context) {
	asked, cancel := context.WithTimeout(ctx, r.cfg.Look)
	defer cancel()
	err := r.cfg.Server.Wait(asked, r.change)
	var refused *serve.RefusedError
	if errors.As(err, &refused) && !refused.Before && len(r.before) > 0 {
		r.takeBack(ctx, err)
		return
	}
	if err == nil && r.cfg.Probe != nil {
		err = r.cfg.Probe(asked, r.live)
	}
	if err == nil {
		err = r.tell(ctx)
	}
	if err != nil {
		if text := err.Error(); text != r.trouble {
			r.trouble = text
			r.cfg.Log.WarnContext(ctx, "edge: certificate not known to be live yet", slog.String("reason", text))
		}
		return
	}
	r.told, r.before, r.trouble = true, nil, ""
	if r.dropped != nil && same(r.live, r.dropped.pairs) {
		r.dropped = nil
		r.alarm()
	}
	r.cfg.Metrics.certificate("live")
	r.say(ctx, "edge: certificate is live", nil, slog.Time("not_after", end(r.live)))
}

// tell has the story say what is: a restart may have come between what was done and what was told.
func (r *Rollout) tell(ctx context.Context) error {
	if err := r.cfg.Story.Live(ctx, r.live...); err != nil {
		return err
	}
	return r.cfg.Story.Next(ctx, r.at, r.next...)
}

// say logs how something went.
func (r *Rollout) say(ctx context.Context, what string, err error, more ...any) {
	if err != nil {
		r.cfg.Log.ErrorContext(ctx, "edge: certificate", slog.Any("error", err))
		return
	}
	r.cfg.Log.InfoContext(ctx, what, more...) //nolint:sloglint // the words are those of this package
}

// end is when the first of the pairs ends.
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
