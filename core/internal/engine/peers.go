package engine

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/clock"
)

const (
	// beatEvery is the pause between two heartbeats of a core.
	beatEvery = time.Second
	// leadTerm is how long leadership lasts unless it is renewed: for so long no core leads after a
	// leader was killed.
	leadTerm = 5 * time.Second
	// goneAfter is how many heartbeats a core counts, without one of another core in between, until it
	// takes that core for dead. It counts heartbeats and not time, so that no core seems dead after
	// the server stood still.
	goneAfter = 5
	// forgottenAfter is when it forgets it: Patience is long over then.
	forgottenAfter = 600
)

// Peers are the cores that share a store. Each carries out requests. One leads, and does all work
// that must be done once: it claims the steps that others left, settles, expires, purges and
// broadcasts. Two may lead for a moment. Each of these commits is conditional, and each request to
// the acquirer has one reference, so work that is done twice counts once.
//
// A nil Peers means that no other core shares the store.
type Peers struct {
	ID    int64
	Store *store.DB
	Log   *slog.Logger
	Clock clock.Clock // of the core, which must agree with the server's; nil: the system's

	clocks agreement
	mu     sync.Mutex
	until  time.Time       // guarded by mu: until when this core leads, by its own clock
	seen   map[int64]*seen // guarded by mu
}

// seen is the state of another core, as the heartbeats show it.
type seen struct {
	beat    int64
	still   int  // own beats since that one changed
	dropped bool // its leases were dropped since it is gone
}

// gone reports whether it is taken for dead.
func (s *seen) gone() bool { return s.beat == 0 || s.still >= goneAfter }

// Leads reports whether this core does the work that must be done once. It does not from the moment
// at which its clock steps. A pass that works by the time reads the clock first and calls Leads
// then, so that the time is right.
func (p *Peers) Leads() bool {
	if p == nil {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return clock.System().Now().Before(p.until) && p.Agrees()
}

// Offset returns how far this core's clock is ahead of the server's, negative for behind.
func (p *Peers) Offset() time.Duration {
	if p == nil {
		return 0
	}
	return p.clocks.ahead(read(p.Clock))
}

// Agrees reports whether the clock agrees with the server's. A core whose clock does not neither
// leads nor takes anything over.
func (p *Peers) Agrees() bool { return p.Offset().Abs() <= clockTolerance }

// Trusts reports whether a time that this core's clock has shown within the last seconds was the
// server's time, within a minute.
func (p *Peers) Trusts(at time.Time) bool {
	return p.clocks.ahead(reading{wall: at.Round(0), monotonic: clock.Monotonic()}).Abs() <= trustedOffset
}

// compareClocks begins a comparison of the clocks and returns the function that ends it with the
// server's time.
func (p *Peers) compareClocks(ctx context.Context) func(server time.Time) bool {
	before := read(p.Clock)
	return func(server time.Time) bool {
		offset, agreed, agrees := p.clocks.compare(before, read(p.Clock), server)
		switch {
		case agreed && !agrees:
			p.Log.ErrorContext(ctx, "peers: the clock is off; this core neither leads nor takes anything over until it is right",
				slog.Duration("offset", offset))
		case agrees && !agreed:
			p.Log.InfoContext(ctx, "peers: the clock is right again", slog.Duration("offset", offset))
		}
		return agrees
	}
}

// Alive is how many cores share the store: this one, and each with a recent heartbeat.
func (p *Peers) Alive() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.seen {
		if s.beat != 0 && s.still < goneAfter {
			n++
		}
	}
	return n
}

// gone reports whether a core has ended, so that no request works on the steps that it began.
func (p *Peers) gone(core int64) bool {
	if core == 0 {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.seen[core]
	return core != p.ID && s != nil && s.gone()
}

// mayClaim reports whether this core may claim a step of another core, and old whether the step is
// older than a request may be.
func (p *Peers) mayClaim(core int64, old bool) bool { return p.Leads() && (old || p.gone(core)) }

// Beat writes one heartbeat of this core, and reads the heartbeats of the others.
func (p *Peers) Beat(ctx context.Context) error {
	begun := clock.System().Now()
	leads, beats, err := p.Store.Heartbeat(ctx, p.ID, leadTerm, p.compareClocks(ctx))
	if err != nil {
		return err
	}
	forget, dead := p.note(begun, leads, beats)
	if forget != 0 {
		err = p.Store.Forget(ctx, forget)
	}
	for _, core := range dead {
		err = errors.Join(err, p.dropLeases(ctx, core))
	}
	return err
}

// note records the result of a heartbeat. It gives the leader a core to remove from the members, 0
// for none, and the dead cores that still have leases.
func (p *Peers) note(begun time.Time, leads bool, beats map[int64]int64) (forget int64, dead []int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.until = time.Time{}
	if leads {
		p.until = begun.Add(leadTerm)
	}
	now := map[int64]*seen{}
	for core, beat := range beats {
		s := p.seen[core]
		switch {
		case s == nil || s.beat != beat:
			s = &seen{beat: beat}
		default:
			s.still++
		}
		now[core] = s
		if !leads || core == p.ID || !s.gone() {
			continue
		}
		if s.still >= forgottenAfter {
			forget = core
		}
		if !s.dropped {
			dead = append(dead, core)
		}
	}
	p.seen = now
	return forget, dead
}

// dropLeases has the deliveries made that a dead core had begun to make. It is done once: a dead
// core begins none.
func (p *Peers) dropLeases(ctx context.Context, core int64) error {
	var n int64
	err := p.Store.Update(ctx, func(tx *store.Tx) (err error) { n, err = tx.DropLeasesOf(core); return err })
	if err != nil {
		return err
	}
	if n > 0 {
		p.Log.InfoContext(ctx, "peers: deliveries taken over", slog.Int64("deliveries", n))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.seen[core]; s != nil {
		s.dropped = true
	}
	return nil
}

// Run writes heartbeats until ctx ends, and then removes this core from the members.
func (p *Peers) Run(ctx context.Context) {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			p.leave(context.WithoutCancel(ctx))
			return
		case <-tick.C:
		}
		if err := p.Beat(ctx); err != nil && ctx.Err() == nil {
			p.Log.ErrorContext(ctx, "peers: no beat", slog.Any("error", err))
		}
	}
}

// leave hands the lead on. Others find out by themselves where this fails.
func (p *Peers) leave(ctx context.Context) {
	p.mu.Lock()
	p.until = time.Time{}
	p.mu.Unlock()
	if err := p.Store.Leave(ctx, p.ID); err != nil {
		p.Log.ErrorContext(ctx, "peers: not told of the end", slog.Any("error", err))
	}
}
