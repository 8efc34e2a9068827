package background

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/metrics"
	"github.com/causeway-pay/causeway/core/internal/root"
	"github.com/causeway-pay/causeway/shared/panics"
)

const (
	// settleEvery is the pause between two searches for days that ended and authorizations that
	// expired.
	settleEvery = 15 * time.Second
	// reportsEvery is the pause between two searches for accounts whose reports are due.
	reportsEvery = time.Minute
	// broadcastEvery is the pause between two searches for broadcasts that an earlier process, or a
	// failure, left unfinished.
	broadcastEvery = 15 * time.Second
	// sharedBroadcastEvery is that pause if several cores share the store: another core may have
	// accepted a broadcast.
	sharedBroadcastEvery = time.Second
	// usageEvery is the pause between two writes of the last use of keys. A crash loses that much.
	usageEvery = 15 * time.Second
	// sweepEvery is the pause between two passes that wipe and remove expired tokens.
	sweepEvery = time.Minute
	// purgeEvery is the pause between two removals of expired rows. An expired row has no effect even
	// before its removal, which only frees its space.
	purgeEvery = 10 * time.Minute
	// eraseEvery is the pause between two passes that erase personal data.
	eraseEvery = 10 * time.Minute
	day        = 24 * time.Hour
)

// Config holds the parts of a core, and the periods for which it keeps data. The period 0 has no
// end.
type Config struct {
	Engine  *engine.Engine
	Keys    *auth.Authenticator
	Metrics *metrics.Metrics

	KeepEvents    time.Duration
	KeepPersonal  time.Duration // personal data of payments and of their events
	KeepCustomers time.Duration // customers without a payment or a change
	KeepAudit     time.Duration // audit records
}

// Run repeats the work until ctx ends. Then it stores the last use of keys and the state of the
// clock once more. Work on data that all cores share runs only while this core leads.
func Run(ctx context.Context, c Config) {
	eng, erase, reports := c.Engine, eraser{Config: c}, c.Engine.NewReports()
	broadcast := broadcastEvery
	if eng.Cluster != nil {
		broadcast = sharedBroadcastEvery
	}
	var all sync.WaitGroup
	for _, w := range []work{
		{name: "root secret", pause: root.ReadEvery, pass: c.readRoots},
		{name: "settlement", pause: settleEvery, pass: c.settle},
		{name: "expiry", pause: settleEvery, pass: c.leading(c.expire)},
		{name: "settlement reports", pause: reportsEvery, pass: reports.Pass},
		{name: "tokens", pause: sweepEvery, pass: c.leading(c.sweep)},
		{name: "broadcast", pause: broadcast, wake: eng.Broadcasts(), pass: c.leading(c.broadcast)},
		{name: "purge", pause: purgeEvery, pass: c.purge},
		{name: "erasure", pause: eraseEvery, pass: c.leading(erase.pass)},
		{name: "audit", pause: day, pass: c.leading(c.audit)},
	} {
		all.Go(func() { w.repeat(ctx, eng.Log) })
	}
	all.Go(func() { keepConfirming(ctx, eng) })
	all.Go(func() {
		usage := work{name: "usage of keys", pause: usageEvery, pass: c.Keys.FlushUsage}
		usage.repeat(ctx, eng.Log)
		usage.once(context.WithoutCancel(ctx), eng.Log)
	})
	all.Wait()
	reports.Wait()
}

// work is a pass that is repeated.
type work struct {
	name  string // in the log
	pause time.Duration
	wake  <-chan struct{} // ends a pause early
	pass  func(context.Context) error
}

// repeat runs the pass immediately, and again after each pause, until ctx ends.
func (w work) repeat(ctx context.Context, log *slog.Logger) {
	tick := time.NewTicker(w.pause)
	defer tick.Stop()
	for {
		w.once(ctx, log)
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		case <-tick.C:
		}
	}
}

func (w work) once(ctx context.Context, log *slog.Logger) {
	if err := panics.Catch(func() error { return w.pass(ctx) }); err != nil && ctx.Err() == nil {
		log.ErrorContext(ctx, "background work failed; it is retried", slog.String("work", w.name), slog.Any("error", err))
	}
}

// leading returns a pass that does nothing while another core leads.
func (c Config) leading(pass func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if !c.Engine.Cluster.Leads() {
			return nil
		}
		return pass(ctx)
	}
}

// readRoots reads the root secrets again: another process rotates them.
func (c Config) readRoots(ctx context.Context) error {
	_, err := c.Engine.Roots.Read(ctx)
	return err
}

// settle settles the transactions that are due, and checks the clock.
func (c Config) settle(ctx context.Context) error {
	eng := c.Engine
	if !eng.Cluster.Leads() {
		return eng.CheckClock(ctx)
	}
	return errors.Join(c.transactions(ctx, "settled", eng.SettleDue), eng.CheckClock(ctx))
}

// expire ends the transactions whose time is over. It does not wait for settlements: the end of a
// day has many of them.
func (c Config) expire(ctx context.Context) error {
	return c.transactions(ctx, "expired", c.Engine.ExpireDue)
}

func (c Config) transactions(ctx context.Context, what string, pass func(context.Context) (int, error)) error {
	n, err := pass(ctx)
	if n > 0 {
		c.Engine.Log.InfoContext(ctx, "sweep", slog.String("what", what), slog.Int("transactions", n))
	}
	return err
}

// broadcast sends the announcements that were not yet sent to all merchants.
func (c Config) broadcast(ctx context.Context) error {
	n, err := c.Engine.BroadcastDue(ctx)
	if n > 0 {
		c.Engine.Log.InfoContext(ctx, "broadcast", slog.Int("merchants", n))
	}
	return err
}
