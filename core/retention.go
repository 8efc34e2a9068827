package core

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/metrics"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// LeastKeepPersonal is the shortest time for which personal data can be kept: refunds and disputes
// of recent payments need it.
const LeastKeepPersonal = payment.LeastKeepPersonal

const (
	// eraseEvery is the pause between two passes that erase personal data.
	eraseEvery = 10 * time.Minute
	// daily is the pause between two passes over all customers, and over the events of erased objects.
	daily = 24 * time.Hour
	day   = 24 * time.Hour
)

func (cfg Config) checkKeepPersonal() error {
	for _, period := range []struct {
		of   string
		kept time.Duration
	}{{"personal data", cfg.KeepPersonal}, {"inactive customers", cfg.KeepCustomers}} {
		if period.kept != 0 && period.kept < LeastKeepPersonal {
			return fmt.Errorf("%s: kept for %s: want %d days or more, or 0 for no end", period.of, period.kept, LeastKeepPersonal/day)
		}
	}
	return nil
}

// checkKeepDays checks the period of a merchant in days; nil and 0 are the period of the service.
func checkKeepDays(name string, days *int) error {
	if days != nil && !payment.ValidKeepDays(*days) {
		return fmt.Errorf("%s %d: want 60 to 36525 days, or 0 for the period of the service", name, *days)
	}
	return nil
}

// keepErasing erases personal data that is past its time, and that of deleted customers, at the
// start and then regularly.
func keepErasing(ctx context.Context, eng *engine.Engine, peers *engine.Peers, series *metrics.Metrics, cfg Config) {
	tick := time.NewTicker(eraseEvery)
	defer tick.Stop()
	passes := 0
	for {
		if peers.Leads() {
			long := passes%int(daily/eraseEvery) == 0
			if long {
				n, err := eng.DeleteInactiveCustomers(ctx, int(cfg.KeepCustomers/day))
				cfg.logErased(ctx, series, "customers", n, err)
			}
			n, err := eng.Store.ErasePersonal(ctx, cfg.Clock.Now(), int(cfg.KeepPersonal/day), api.Impersonal)
			cfg.logErased(ctx, series, "payments", n, err)
			n, err = eng.Store.EraseCustomerEvents(ctx, cfg.Clock.Now(), api.Erased)
			cfg.logErased(ctx, series, "events of deleted customers", n, err)
			if long {
				n, err := eng.Store.ErasePersonalEvents(ctx, cfg.Clock.Now(), api.Impersonal)
				cfg.logErased(ctx, series, "events", n, err)
			}
			passes++
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (cfg Config) logErased(ctx context.Context, series *metrics.Metrics, of string, n int64, err error) {
	series.PersonalErased(n, err)
	if err != nil && ctx.Err() == nil {
		cfg.Log.ErrorContext(ctx, "personal data not erased", slog.Any("error", err))
	}
	if n > 0 {
		cfg.Log.InfoContext(ctx, "personal data erased", slog.String("of", of), slog.Int64("rows", n))
	}
}
