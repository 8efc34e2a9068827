package core

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/metrics"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// LeastKeepPersonal is the shortest time for which personal data can be kept: refunds and disputes of recent payments need it.
const LeastKeepPersonal = 60 * 24 * time.Hour

// eraseEvery is how often personal data is looked for that is older than it is kept.
const eraseEvery = 10 * time.Minute

func (cfg Config) checkKeepPersonal() error {
	if cfg.KeepPersonal != 0 && cfg.KeepPersonal < LeastKeepPersonal {
		return fmt.Errorf("personal data must be kept for at least %d days, or for good", int(LeastKeepPersonal.Hours()/24))
	}
	return nil
}

// keepErasing erases personal data that is older than it is kept, at once and from time to time. It does nothing unless a time was set.
func keepErasing(ctx context.Context, db *store.DB, peers *engine.Peers, series *metrics.Metrics, cfg Config) {
	if cfg.KeepPersonal == 0 {
		return
	}
	tick := time.NewTicker(eraseEvery)
	defer tick.Stop()
	for {
		if peers.Leads() {
			n, err := db.ErasePersonal(ctx, cfg.Clock.Now().Add(-cfg.KeepPersonal), api.Presenter{}.Impersonal)
			series.PersonalErased(n, err)
			if err != nil && ctx.Err() == nil {
				cfg.Log.ErrorContext(ctx, "personal data not erased", slog.Any("error", err))
			}
			if n > 0 {
				cfg.Log.InfoContext(ctx, "personal data erased", slog.Int64("rows", n))
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
