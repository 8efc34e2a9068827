package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/id"
)

const (
	// dueBatch is how many rows a background pass reads at a time.
	dueBatch = 500
	// commitBatch is how many objects it changes in one commit, so that no payment waits long for the writer.
	commitBatch = 50
	// settleSlack is how long before a cut-off the next pass looks for captures whose commit was under way: longer than any.
	settleSlack = time.Hour
)

// due is a tenant whose day has ended.
type due struct {
	cutoff time.Time
	from   int64         // where the next pass begins
	lag    time.Duration // since its first day ended that is not settled
}

// SettleDue settles what was captured before the last cut-off of every merchant whose day has ended since it was settled last, and
// returns how many transactions that was. A pass that is cut short is made again: what it settled is not settled twice.
func (e *Engine) SettleDue(ctx context.Context) (int, error) {
	settled, err := e.settleDue(ctx)
	e.Observer.SettlementEnded(settled, err)
	return settled, err
}

func (e *Engine) settleDue(ctx context.Context) (int, error) {
	days, err := e.Store.Days(ctx)
	if err != nil {
		return 0, fmt.Errorf("settle: %w", err)
	}
	ended, from := e.endedDays(ctx, days)
	lag := time.Duration(0)
	for _, d := range ended {
		lag = max(lag, d.lag)
	}
	e.Observer.SettlementBegun(lag)
	pass := tracedPass{tracer: e.Tracer, name: "settlement"}
	pass.done, err = e.settleEnded(ctx, &pass, ended, from)
	pass.end(err)
	return pass.done, err
}

func (e *Engine) settleDays(ctx context.Context, days []store.Day) (int, error) {
	ended, from := e.endedDays(ctx, days)
	return e.settleEnded(ctx, &tracedPass{}, ended, from) // no span: it is part of a request
}

func (e *Engine) settleEnded(ctx context.Context, pass *tracedPass, ended map[payment.Tenant]*due, from int64) (int, error) {
	if len(ended) == 0 {
		return 0, nil
	}
	settled := 0
	for after := from - 1; ; {
		batch, err := e.Store.UnsettledCaptures(ctx, after, dueBatch)
		if err != nil {
			return settled, fmt.Errorf("settle: %w", err)
		}
		n, err := e.settleBatch(ctx, pass, batch, ended)
		settled += n
		if err != nil {
			return settled, fmt.Errorf("settle: %w", err)
		}
		if len(batch) < dueBatch {
			return settled, e.markSettled(ctx, ended)
		}
		after = batch[len(batch)-1].ID
	}
}

// endedDays finds the tenants whose day has ended, and the capture to begin with.
func (e *Engine) endedDays(ctx context.Context, days []store.Day) (map[payment.Tenant]*due, int64) {
	now := e.Clock.Now()
	ended, from := map[payment.Tenant]*due{}, int64(0)
	zones := map[string]*time.Location{}
	for _, d := range days {
		if _, err := e.acquirer(d.Tenant); err != nil {
			continue // a mode that takes no payments
		}
		zone, ok := zones[d.TimeZone]
		if !ok {
			var err error
			if zone, err = time.LoadLocation(d.TimeZone); err != nil {
				e.Log.ErrorContext(ctx, "settle: time zone", slog.String("time_zone", d.TimeZone), slog.Any("error", err))
				continue
			}
			zones[d.TimeZone] = zone
		}
		cutoff := payment.LastCutoff(now.Add(d.Ahead), zone, d.Cutoff)
		if !cutoff.After(d.Through) {
			continue
		}
		begin := cmp.Or(d.From, id.At(d.Since.Add(-settleSlack)))
		if from == 0 || begin < from {
			from = begin
		}
		// A test clock is ahead of the ids, which know only real time.
		next := cutoff
		if now.Before(next) {
			next = now
		}
		ended[d.Tenant] = &due{cutoff: cutoff, from: id.At(next.Add(-settleSlack)), lag: now.Add(d.Ahead).Sub(firstMissed(d, zone, cutoff))}
	}
	return ended, from
}

// firstMissed is the first cut-off after the one that was run last. The next one is a day away, give or take a change of the clocks.
func firstMissed(d store.Day, zone *time.Location, last time.Time) time.Time {
	if d.Through.IsZero() {
		return last
	}
	if first := payment.LastCutoff(d.Through.Add(26*time.Hour), zone, d.Cutoff); first.After(d.Through) && first.Before(last) {
		return first
	}
	return last
}

// settleBatch settles those of the captures whose day has ended, and remembers where the ones begin that stay.
func (e *Engine) settleBatch(ctx context.Context, pass *tracedPass, batch []store.Unsettled, ended map[payment.Tenant]*due) (int, error) {
	ready := make([]store.Unsettled, 0, len(batch))
	for _, u := range batch {
		d := ended[u.Tenant]
		switch {
		case d == nil:
		case u.Pending || u.At.After(d.cutoff):
			d.from = min(d.from, u.ID)
		default:
			ready = append(ready, u)
		}
	}
	pass.found(ctx, len(ready))
	settled := 0
	for part := range slices.Chunk(ready, commitBatch) {
		n := 0
		err := e.Store.Update(ctx, func(tx *store.Tx) error {
			n = 0
			for _, u := range part {
				whole, err := e.settleOne(tx, u, ended[u.Tenant])
				if err != nil {
					return err
				}
				if whole {
					n++
				}
			}
			return nil
		})
		if err != nil {
			return settled, err
		}
		settled += n
	}
	return settled, nil
}

// settleOne settles one transaction's captures up to the cut-off, and announces it when nothing waits any more.
func (e *Engine) settleOne(tx *store.Tx, u store.Unsettled, d *due) (bool, error) {
	whole, err := tx.SettleThrough(u.Tenant, u.Transaction, d.cutoff)
	if errors.Is(err, store.ErrConflict) {
		// Settled with an earlier capture of the batch, or being voided: if the void is refused, the next pass must find it.
		d.from = min(d.from, u.ID)
		return false, nil
	}
	if err != nil || !whole {
		return false, err
	}
	return true, e.announceSettled(tx, u.Tenant, u.Transaction)
}

func (e *Engine) announceSettled(tx *store.Tx, tenant payment.Tenant, transaction int64) error {
	t, err := tx.Transaction(tenant, transaction)
	if err != nil {
		return err
	}
	return tx.InsertEvent(e.event("transaction.settled", tenant, t.ID, t.Version, e.Present.Transaction(t).Body))
}

func (e *Engine) markSettled(ctx context.Context, ended map[payment.Tenant]*due) error {
	tenants := make([]payment.Tenant, 0, len(ended))
	for t := range ended {
		tenants = append(tenants, t)
	}
	for part := range slices.Chunk(tenants, dueBatch) {
		err := e.Store.Update(ctx, func(tx *store.Tx) error {
			for _, t := range part {
				if err := tx.MarkSettled(t, ended[t].cutoff, ended[t].from); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("settle: %w", err)
		}
	}
	return nil
}
