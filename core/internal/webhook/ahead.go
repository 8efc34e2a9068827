package webhook

import (
	"context"
	"log/slog"
	"time"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/pass"
)

// hastenEvery is the interval of the search for deliveries of a clock that was ahead by more than
// store.ClockSlack.
const hastenEvery = time.Minute

// keepHastening looks for deliveries of a clock that was ahead. It runs outside of the rounds,
// because its duration grows with the number of waiting retries.
func (d *Deliverer) keepHastening(ctx context.Context) {
	look := time.NewTicker(d.Poll)
	defer look.Stop()
	for looked := (time.Time{}); ; {
		now := d.Clock.Now()
		if now.Sub(looked).Abs() >= hastenEvery && d.mayHasten() && d.hasten(ctx, now) {
			looked = now
		}
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
	}
}

// mayHasten reports whether this process leads and has the right time.
func (d *Deliverer) mayHasten() bool {
	return (d.Agrees == nil || d.Agrees()) && (d.Leads == nil || d.Leads())
}

// hasten makes due the deliveries that a clock wrote while it was ahead. Without it they would wait
// until the clock reaches that wrong time. It returns false if the store failed.
func (d *Deliverer) hasten(ctx context.Context, now time.Time) bool {
	latest := now.Add(store.ClockSlack)
	skipping := d.Store.BeginPass(pass.Webhooks)
	rows := pass.Rows[int64]{
		Kind: "webhook_delivery", ID: func(id int64) int64 { return id },
		Change: func(ctx context.Context, part []int64) (int, error) { return d.hastenAll(ctx, part) },
	}
	err := d.Store.EachDeliveryAhead(ctx, latest, func(found []int64) error { return rows.Do(ctx, skipping, found) })
	if err != nil && ctx.Err() == nil {
		d.Log.ErrorContext(ctx, "webhooks: deliveries that a fast clock delayed were not made due; it is retried", slog.Any("error", err))
	}
	return err == nil
}

// hastenAll makes deliveries due in one commit, and returns how many it has handled. It compares
// them with the current time, because the search may have begun long ago. Compared with the time of
// the search, a new delivery of the right clock would seem ahead.
func (d *Deliverer) hastenAll(ctx context.Context, deliveries []int64) (n int, err error) {
	err = d.Store.Update(ctx, func(tx *store.Tx) (err error) {
		latest := tx.Now.Add(store.ClockSlack)
		n, err = store.Each(tx, deliveries, func(one int64) error { return tx.HastenDelivery(one, latest) })
		return err
	})
	return n, err
}
