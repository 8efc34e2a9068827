package core

import (
	"context"
	"log/slog"
	"time"
	_ "time/tzdata" // merchants' days end in their own time zone, also where the machine knows none

	"github.com/causeway-pay/causeway/core/internal/engine"
)

// settleEvery is how often the service looks for days that ended and authorizations that lapsed.
const settleEvery = 15 * time.Second

// keepSettling settles and expires the transactions that are due, and checks the clock, at once and
// every settleEvery. A pass that fails is repeated.
func keepSettling(ctx context.Context, eng *engine.Engine, cfg Config) {
	tick := time.NewTicker(settleEvery)
	defer tick.Stop()
	for {
		if eng.Peers.Leads() {
			sweep(ctx, cfg.Log, "settled", eng.SettleDue)
			sweep(ctx, cfg.Log, "expired", eng.ExpireDue)
		}
		sweep(ctx, cfg.Log, "clock", func(ctx context.Context) (int, error) { return 0, eng.CheckClock(ctx) })
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// confirmEvery is how long a step of the clock stays unstored at most.
const confirmEvery = time.Second

// keepConfirming stores the state of the clock's guard when it has changed, or its step alone while
// another core leads, or none does. It does so once more after the end of ctx. After a failure it
// pauses for settleEvery.
func keepConfirming(ctx context.Context, eng *engine.Engine, cfg Config) {
	for {
		last := ctx.Err() != nil // before the state is read: the clock may step during a write
		pause, keep := confirmEvery, eng.Store.KeepStep
		if eng.Peers.Leads() {
			keep = eng.Store.KeepConfirmed
		}
		if err := keep(context.WithoutCancel(ctx)); err != nil {
			cfg.Log.ErrorContext(ctx, "confirmed time not stored", slog.Any("error", err))
			pause = settleEvery
		}
		if last {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

func sweep(ctx context.Context, log *slog.Logger, what string, pass func(context.Context) (int, error)) {
	n, err := pass(ctx)
	if n > 0 {
		log.InfoContext(ctx, "sweep", slog.String("what", what), slog.Int("transactions", n))
	}
	if err != nil && ctx.Err() == nil {
		log.ErrorContext(ctx, "sweep failed", slog.String("what", what), slog.Any("error", err))
	}
}

// broadcastEvery is how often it is looked for a broadcast that an earlier process, or a failure, left open.
const broadcastEvery = 15 * time.Second

// peersEvery is how often that is where another core may have accepted it.
const peersEvery = time.Second

// keepBroadcasting tells merchants what all are to be told: what is left open at once, then whenever it is woken.
func keepBroadcasting(ctx context.Context, eng *engine.Engine, cfg Config) {
	every := broadcastEvery
	if eng.Peers != nil {
		every = peersEvery
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		n, err := 0, error(nil)
		if eng.Peers.Leads() {
			n, err = eng.BroadcastDue(ctx)
		}
		if n > 0 {
			cfg.Log.InfoContext(ctx, "broadcast", slog.Int("merchants", n))
		}
		if err != nil && ctx.Err() == nil {
			cfg.Log.ErrorContext(ctx, "broadcast failed", slog.Any("error", err))
		}
		select {
		case <-ctx.Done():
			return
		case <-eng.Broadcasts():
		case <-tick.C:
		}
	}
}
