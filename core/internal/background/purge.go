package background

import (
	"context"
	"errors"
	"log/slog"

	"github.com/causeway-pay/causeway/core/internal/audit"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// purge removes expired idempotency keys, old attempts at cards and old events. It also creates the
// next partitions.
func (c Config) purge(ctx context.Context) error {
	eng := c.Engine
	now := eng.Clock.Now() // before Leads, which fails once the clock has stepped: keys of today must stay
	if !eng.Cluster.Leads() {
		return nil
	}
	n, err := eng.Store.PurgeIdempotencyKeys(ctx, now)
	c.Metrics.KeysPurged(n, err)
	if n > 0 {
		eng.Log.InfoContext(ctx, "purged", slog.Int64("idempotency_keys", n))
	}
	_, attempts := eng.Store.PurgeCardAttempts(ctx, now)
	return errors.Join(err, attempts, eng.Store.PurgeMissing(ctx, now), eng.Store.MakePartitions(ctx), c.purgeEvents(ctx))
}

// purgeEvents removes the events that are older than their period.
func (c Config) purgeEvents(ctx context.Context) error {
	if c.KeepEvents == 0 {
		return nil
	}
	n, err := c.Engine.Store.PurgeEvents(ctx, c.Engine.Clock.Now(), c.KeepEvents)
	c.Metrics.EventsPurged(n, err)
	return err
}

// sweep wipes and removes tokens that have expired, and destroys the keys of their security codes.
func (c Config) sweep(ctx context.Context) error {
	return errors.Join(c.Engine.DestroyCodeKeys(ctx), c.Engine.SweepTokens(ctx))
}

// audit removes audit records that are older than their period, and logs the head of the rest.
func (c Config) audit(ctx context.Context) error {
	if err := c.purgeAudit(ctx); err != nil {
		return err
	}
	return c.logHead(ctx)
}

func (c Config) logHead(ctx context.Context) error {
	head, err := c.Engine.Store.AuditHead(ctx)
	if err != nil || head.Sequence == 0 {
		return err
	}
	c.Engine.Log.InfoContext(ctx, "audit head", slog.String("head", head.String()))
	return nil
}

// purgeAudit removes old records, and writes a record of that.
func (c Config) purgeAudit(ctx context.Context) error {
	if c.KeepAudit == 0 {
		return nil
	}
	return c.Engine.Store.Update(ctx, func(tx *store.Tx) error {
		_, err := tx.PurgeAudit(c.Engine.AuditKey, tx.Confirmed().Add(-c.KeepAudit), &audit.Record{Actor: "core"})
		return err
	})
}
