package core

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/metrics"
	"github.com/causeway-pay/causeway/core/internal/store"
)

const (
	// purgeEvery is how often rows past their time are removed. They count for nothing before that; this only gives their space back.
	purgeEvery = 10 * time.Minute
	// usageEvery is how often the last use of keys is written, and so how much of it a crash forgets.
	usageEvery = 15 * time.Second
)

// keepPurging removes what has expired, at once and from time to time.
func keepPurging(ctx context.Context, db *store.DB, peers *engine.Peers, series *metrics.Metrics, cfg Config) {
	tick := time.NewTicker(purgeEvery)
	defer tick.Stop()
	for {
		n, err := int64(0), error(nil)
		now := cfg.Clock.Now() // before Leads, which fails once the clock has stepped: it must not forget keys of today
		if peers.Leads() {
			n, err = db.PurgeIdempotencyKeys(ctx, now)
			series.KeysPurged(n, err)
			err = errors.Join(err, db.MakePartitions(ctx), purgeEvents(ctx, db, series, cfg))
		}
		switch {
		case err != nil && ctx.Err() == nil:
			cfg.Log.ErrorContext(ctx, "purge failed", slog.Any("error", err))
		case n > 0:
			cfg.Log.InfoContext(ctx, "purged", slog.Int64("idempotency_keys", n))
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// LeastKeepEvents is the shortest time for which events can be kept: longer than any delivery of one is, and than lists look back for clocks.
const LeastKeepEvents = 60 * 24 * time.Hour

func (cfg Config) checkKept() error {
	if cfg.KeepEvents != 0 && cfg.KeepEvents < LeastKeepEvents {
		return fmt.Errorf("events must be kept for at least %d days, or for good", int(LeastKeepEvents.Hours()/24))
	}
	return nil
}

// purgeEvents removes the events that are not to be kept any longer.
func purgeEvents(ctx context.Context, db *store.DB, series *metrics.Metrics, cfg Config) error {
	if cfg.KeepEvents == 0 {
		return nil
	}
	n, err := db.PurgeEvents(ctx, cfg.Clock.Now(), cfg.KeepEvents)
	series.EventsPurged(n, err)
	return err
}

// keepUsage writes when keys were last used, and once more at the end.
func keepUsage(ctx context.Context, keys *auth.Authenticator, cfg Config) {
	tick := time.NewTicker(usageEvery)
	defer tick.Stop()
	for ended := false; !ended; {
		select {
		case <-ctx.Done():
			ended = true
		case <-tick.C:
		}
		if err := keys.FlushUsage(context.WithoutCancel(ctx)); err != nil {
			cfg.Log.ErrorContext(ctx, "flush failed", slog.Any("error", err))
		}
	}
}
