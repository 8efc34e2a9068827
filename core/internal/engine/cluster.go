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
	// heartbeatEvery is the pause between two heartbeats of a core.
	heartbeatEvery = time.Second
	// leadershipTerm is how long leadership lasts unless it is renewed. No core leads for this long
	// after a leader was killed.
	leadershipTerm = 5 * time.Second
	// A core counts as dead after deadAfter heartbeats of this core without a heartbeat of the other.
	// Heartbeats are counted instead of time, so that no core seems dead after a pause of the server.
	deadAfter = 5
	// forgottenAfter is the number of heartbeats after which a dead core is removed from the members.
	// Patience has ended long before.
	forgottenAfter = 600
)

// Cluster is the cores that share a store. Each carries out requests. One leads, and does all work
// that must be done once: it claims the steps that others left, settles, expires, purges and
// broadcasts. Two leaders at the same time are harmless: commits are conditional, and the acquirer
// deduplicates by reference.
//
// A nil Cluster means that no other core shares the store.
type Cluster struct {
	ID    int64
	Store *store.DB
	Log   *slog.Logger
	Clock clock.Clock // of the core, which must agree with the server's; nil: the system's

	clocks agreement
	mu     sync.Mutex
	until  time.Time         // guarded by mu: until when this core leads, by its own clock
	cores  map[int64]*member // guarded by mu: by id, this core too
}

// member is the state of a core, as the heartbeats show it.
type member struct {
	heartbeat int64 // the number of its last one, 0 if it has left
	unchanged int   // own heartbeats since that number changed
	dropped   bool  // its leases were dropped since its death
}

// dead reports whether it has left or counts as dead.
func (m *member) dead() bool { return m.heartbeat == 0 || m.unchanged >= deadAfter }

// Leads reports whether this core is the leader. It returns false from the moment when this core's
// clock steps. A pass that depends on the time must read the clock first and then call Leads, so
// that the time is right.
func (c *Cluster) Leads() bool {
	if c == nil {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return clock.System().Now().Before(c.until) && c.Agrees()
}

// Offset returns how far this core's clock is ahead of the server's, negative for behind.
func (c *Cluster) Offset() time.Duration {
	if c == nil {
		return 0
	}
	return c.clocks.ahead(read(c.Clock))
}

// Agrees reports whether the clock agrees with the server's. If the clocks disagree, the core
// neither leads nor claims steps.
func (c *Cluster) Agrees() bool { return c.Offset().Abs() <= clockTolerance }

// Trusts reports whether a time that this core's clock has shown within the last seconds was the
// server's time, within a minute.
func (c *Cluster) Trusts(at time.Time) bool {
	return c.clocks.ahead(reading{wall: at.Round(0), monotonic: clock.Monotonic()}).Abs() <= trustedOffset
}

// compareClocks begins a comparison of the clocks and returns the function that ends it with the
// server's time.
func (c *Cluster) compareClocks(ctx context.Context) func(server time.Time) bool {
	before := read(c.Clock)
	return func(server time.Time) bool {
		offset, agreed, agrees := c.clocks.compare(before, read(c.Clock), server)
		switch {
		case agreed && !agrees:
			c.Log.ErrorContext(ctx, "cluster: the clock differs from the database server's: correct NTP. Until then this core "+
				"neither leads nor claims steps", slog.Duration("offset", offset))
		case agrees && !agreed:
			c.Log.InfoContext(ctx, "cluster: the clock agrees with the database server's again", slog.Duration("offset", offset))
		}
		return agrees
	}
}

// Alive returns how many cores share the store: this one, and each with a recent heartbeat.
func (c *Cluster) Alive() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.cores {
		if !m.dead() {
			n++
		}
	}
	return n
}

// dead reports whether a core has ended, so that no request works on the steps that it began.
func (c *Cluster) dead(core int64) bool {
	if core == 0 {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.cores[core]
	return core != c.ID && m != nil && m.dead()
}

// mayClaim reports whether this core may claim a step of another core, and old whether the step is
// older than a request may be.
func (c *Cluster) mayClaim(core int64, old bool) bool { return c.Leads() && (old || c.dead(core)) }

// Heartbeat writes one heartbeat of this core, and reads the heartbeats of the others.
func (c *Cluster) Heartbeat(ctx context.Context) error {
	begun := clock.System().Now()
	leads, heartbeats, err := c.Store.Heartbeat(ctx, c.ID, leadershipTerm, c.compareClocks(ctx))
	if err != nil {
		return err
	}
	forget, dead := c.note(begun, leads, heartbeats)
	if forget != 0 {
		err = c.Store.Forget(ctx, forget)
	}
	for _, core := range dead {
		err = errors.Join(err, c.dropLeases(ctx, core))
	}
	return err
}

// note records the result of a heartbeat. For the leader it returns a core to remove from the
// members, 0 for none, and the dead cores that still have leases.
func (c *Cluster) note(begun time.Time, leads bool, heartbeats map[int64]int64) (forget int64, dead []int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = time.Time{}
	if leads {
		c.until = begun.Add(leadershipTerm)
	}
	now := map[int64]*member{}
	for core, heartbeat := range heartbeats {
		m := c.cores[core]
		switch {
		case m == nil || m.heartbeat != heartbeat:
			m = &member{heartbeat: heartbeat}
		default:
			m.unchanged++
		}
		now[core] = m
		if !leads || core == c.ID || !m.dead() {
			continue
		}
		if m.unchanged >= forgottenAfter {
			forget = core
		}
		if !m.dropped {
			dead = append(dead, core)
		}
	}
	c.cores = now
	return forget, dead
}

// dropLeases makes the deliveries due that a dead core had leased. One call is enough, because a
// dead core takes no lease.
func (c *Cluster) dropLeases(ctx context.Context, core int64) error {
	var n int64
	err := c.Store.Update(ctx, func(tx *store.Tx) (err error) { n, err = tx.DropLeasesOf(core); return err })
	if err != nil {
		return err
	}
	if n > 0 {
		c.Log.InfoContext(ctx, "cluster: deliveries of a dead core are due again", slog.Int64("deliveries", n))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.cores[core]; m != nil {
		m.dropped = true
	}
	return nil
}

// Run writes heartbeats until ctx ends, and then removes this core from the members.
func (c *Cluster) Run(ctx context.Context) {
	tick := time.NewTicker(heartbeatEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			c.leave(context.WithoutCancel(ctx))
			return
		case <-tick.C:
		}
		if err := c.Heartbeat(ctx); err != nil && ctx.Err() == nil {
			c.Log.ErrorContext(ctx, "cluster: heartbeat failed; this core loses leadership until one succeeds",
				slog.Any("error", err))
		}
	}
}

// leave ends this core's leadership and membership. If that fails, the others detect it by missing
// heartbeats.
func (c *Cluster) leave(ctx context.Context) {
	c.mu.Lock()
	c.until = time.Time{}
	c.mu.Unlock()
	if err := c.Store.Leave(ctx, c.ID); err != nil {
		c.Log.ErrorContext(ctx, "cluster: this core could not leave; other cores wait 5 heartbeats before they claim its work",
			slog.Any("error", err))
	}
}
