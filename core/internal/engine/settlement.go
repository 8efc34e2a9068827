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
	"github.com/causeway-pay/causeway/core/internal/store/pass"
	"github.com/causeway-pay/causeway/shared/id"
)

// endedDay is a tenant with captures or refunds to settle.
type endedDay struct {
	tenant payment.Tenant
	cutoff time.Time
	oldest time.Time                              // when the first of the captures was taken, zero for none
	lag    func(captured time.Time) time.Duration // since the end of the day of a capture
	last   store.Unsettled                        // the next page of captures begins after it
	// captured reports that no due captures are left. Refunds settle after them.
	captured   bool
	lastRefund int64 // the next page of refunds begins after it
	settled    bool  // nothing is left to settle
}

// SettleDue settles the captures of test mode and the refunds of both modes, and returns how many
// transactions became settled. Due are those made before the last end of the merchant's day. They
// belong to the day that ended then, also if an earlier pass was missed. Reports settle captures of
// live mode. Due captures follow from the unsettled captures alone, so a pass that is cut short, or
// that ran by a wrong clock, leaves nothing behind. The next pass finds all due captures by its own
// clock. If a capture's time is more than a day in the future, a wrong clock wrote it. The capture
// then belongs to the day of the pass that finds it.
func (e *Engine) SettleDue(ctx context.Context) (int, error) {
	done, err := e.settleDue(ctx)
	e.Observer.SettlementEnded(done, err)
	return done.Transactions, err
}

func (e *Engine) settleDue(ctx context.Context) (Settlement, error) {
	days, err := e.Store.Days(ctx)
	if err != nil {
		return Settlement{}, fmt.Errorf("settle: %w", err)
	}
	skipping := e.Store.BeginPass(pass.Settlement)
	for _, d := range days {
		if err := skipping.Skip(ctx, "merchant", d.Tenant.Merchant, e.Store.CorrectCaptures(ctx, d)); err != nil {
			return Settlement{}, fmt.Errorf("settle: %w", err)
		}
	}
	var done Settlement
	ended := e.endedDays(ctx, days, &done)
	lag := done.Lag
	for _, d := range ended {
		if d.tenant.Live {
			d.oldest, d.captured = time.Time{}, true // reports settle its captures
		}
		if !d.oldest.IsZero() {
			lag = max(lag, d.lag(d.oldest))
		}
	}
	e.Observer.SettlementBegun(lag)
	traced := tracedPass{tracer: e.Tracer, name: "settlement"}
	err = e.settleEnded(ctx, &traced, ended, &done)
	traced.done = done.Transactions
	traced.end(err)
	return done, err
}

// settleDay settles one tenant's day if it has ended.
func (e *Engine) settleDay(ctx context.Context, day store.Day) error {
	var done Settlement
	ended := e.endedDays(ctx, []store.Day{day}, &done)
	return e.settleEnded(ctx, &tracedPass{}, ended, &done) // no span: it is part of a request
}

// settleEnded settles a page of each tenant in turn. It skips a tenant whose captures cannot be
// read.
func (e *Engine) settleEnded(ctx context.Context, traced *tracedPass, ended []*endedDay, done *Settlement) error {
	err := pass.InTurn(ctx, e.Store.BeginPass(pass.Settlement), func(d *endedDay) int64 { return d.tenant.Merchant },
		func() ([]*endedDay, error) {
			ended = slices.DeleteFunc(ended, func(d *endedDay) bool { return d.settled })
			return ended, nil
		},
		func(d *endedDay) (more bool, err error) {
			d.settled, err = e.settlePage(ctx, traced, d, done)
			return !d.settled, err
		})
	if err != nil {
		return fmt.Errorf("settle: %w", err)
	}
	return nil
}

// endedDays finds the tenants with a capture whose day has ended.
func (e *Engine) endedDays(ctx context.Context, days []store.Day, done *Settlement) []*endedDay {
	var ended []*endedDay
	zones := map[string]*time.Location{}
	for _, d := range days {
		if !e.serves(d.Tenant) || d.Oldest.IsZero() && d.OldestRefund.IsZero() {
			continue // a mode that takes no payments, or nothing to settle
		}
		zone, ok := zones[d.TimeZone]
		if !ok {
			zone, _ = time.LoadLocation(d.TimeZone) // nil if it fails
			zones[d.TimeZone] = zone
		}
		now := e.Clock.Now().Add(d.Ahead)
		if zone == nil {
			oldest := cmp.Or(d.Oldest, d.OldestRefund)
			lag := max(0, now.Sub(payment.NextCutoff(oldest, time.UTC, d.Cutoff)))
			done.skip(SkipTimeZone, 1, lag)
			e.Log.ErrorContext(ctx, "settlement: the merchant's time zone cannot be loaded, so its captures stay unsettled: correct it",
				slog.String("merchant", id.Format(id.Merchant, d.Tenant.Merchant)), slog.String("time_zone", d.TimeZone))
			continue
		}
		cutoff := payment.LastCutoff(now, zone, d.Cutoff)
		due := func(at time.Time) bool { return !at.IsZero() && !at.After(cutoff) }
		if !due(d.Oldest) && !due(d.OldestRefund) {
			continue
		}
		lag := func(captured time.Time) time.Duration { return now.Sub(payment.NextCutoff(captured, zone, d.Cutoff)) }
		day := &endedDay{tenant: d.Tenant, cutoff: cutoff, lag: lag, captured: true}
		if due(d.Oldest) {
			day.oldest, day.captured = d.Oldest, false
		}
		ended = append(ended, day)
	}
	return ended
}

// settlePage settles one page of a tenant's captures, or of its refunds once it has no more due
// captures. It reports whether it was the last page.
func (e *Engine) settlePage(ctx context.Context, traced *tracedPass, d *endedDay, done *Settlement) (last bool, err error) {
	if !d.captured {
		d.captured, err = e.settleCaptures(ctx, traced, d, done)
		return false, err
	}
	return e.settleRefunds(ctx, d)
}

// settleRefunds settles one page of a tenant's refunds, and reports whether it was the last.
func (e *Engine) settleRefunds(ctx context.Context, d *endedDay) (last bool, _ error) {
	page, err := e.Store.UnsettledRefunds(ctx, d.tenant, d.cutoff, d.lastRefund, dueBatch)
	if err != nil || len(page) == 0 {
		return true, err
	}
	d.lastRefund = page[len(page)-1]
	rows := pass.Rows[int64]{
		Kind: "refund", ID: func(refund int64) int64 { return refund },
		Change: func(ctx context.Context, part []int64) (n int, err error) {
			err = e.Store.UpdateOf(ctx, store.Caller{Tenant: d.tenant}, func(tx *store.Tx) (err error) {
				n, err = e.settleRefundsIn(tx, d.tenant, part, d.cutoff)
				return err
			})
			return n, err
		},
	}
	for part := range slices.Chunk(page, commitBatch) {
		if err := rows.Do(ctx, e.Store.BeginPass(pass.Settlement), part); err != nil {
			return false, err
		}
	}
	return false, nil
}

// settleRefundsIn settles refunds with a settlement day that ends at a time, as part of a command.
func (*Engine) settleRefundsIn(tx *store.Tx, tenant payment.Tenant, refunds []int64, end time.Time) (int, error) {
	totals := store.DayTotals{}
	n, err := store.Each(tx, refunds, func(refund int64) error {
		return tx.SettleRefund(tenant, refund, end, totals)
	})
	if err != nil {
		return 0, err
	}
	return n, tx.AddToDay(tenant, end, totals)
}

// settleCaptures settles one page of a tenant's captures, and reports whether it was the last.
func (e *Engine) settleCaptures(ctx context.Context, traced *tracedPass, d *endedDay, done *Settlement) (last bool, _ error) {
	page, err := e.Store.UnsettledCaptures(ctx, d.tenant, d.cutoff, d.last, dueBatch)
	if err != nil || len(page) == 0 {
		return true, err
	}
	d.last = page[len(page)-1]
	seen := map[int64]bool{} // one change settles all captures of a transaction
	page = slices.DeleteFunc(page, func(u store.Unsettled) bool {
		again := seen[u.Transaction]
		seen[u.Transaction] = true
		return again
	})
	traced.found(ctx, len(page))
	rows := pass.Rows[store.Unsettled]{
		Kind: "transaction", ID: func(u store.Unsettled) int64 { return u.Transaction },
		Change: func(ctx context.Context, part []store.Unsettled) (int, error) {
			return e.settleTogether(ctx, d, part, done)
		},
		Refused: func(_ context.Context, u store.Unsettled) error {
			done.skip(SkipFailed, 1, d.lag(u.At))
			return nil
		},
	}
	for part := range slices.Chunk(page, commitBatch) {
		// An expiry locks transactions in this order, too.
		slices.SortFunc(part, func(a, b store.Unsettled) int { return cmp.Compare(a.Transaction, b.Transaction) })
		if err := rows.Do(ctx, e.Store.BeginPass(pass.Settlement), part); err != nil {
			return false, err
		}
	}
	return false, nil
}

// settleTogether settles transactions in one commit, and returns how many it has handled.
func (e *Engine) settleTogether(ctx context.Context, d *endedDay, part []store.Unsettled, done *Settlement) (n int, err error) {
	var settled int
	var voided []store.Unsettled
	err = e.Store.UpdateOf(ctx, store.Caller{Tenant: d.tenant}, func(tx *store.Tx) (err error) {
		settled, voided = 0, nil
		totals := store.DayTotals{}
		n, err = store.Each(tx, part, func(u store.Unsettled) error {
			whole, err := tx.SettleThrough(d.tenant, u.Transaction, d.cutoff, totals)
			if errors.Is(err, store.ErrConflict) {
				voided = append(voided, u) // if the void is refused, a later pass settles it
				return nil
			}
			if err == nil && whole {
				settled++
				_, err = e.announceSettled(tx, d.tenant, u.Transaction)
			}
			return err
		})
		if err != nil {
			return err
		}
		return tx.AddToDay(d.tenant, d.cutoff, totals)
	})
	if err != nil {
		return 0, err
	}
	done.Transactions += settled
	for _, u := range voided {
		done.skip(SkipVoid, 1, d.lag(u.At))
	}
	return n, nil
}

// announceSettled announces a transaction that the command has settled, and returns it.
func (e *Engine) announceSettled(tx *store.Tx, tenant payment.Tenant, transaction int64) (Result, error) {
	t, err := tx.Transaction(tenant, transaction)
	if err != nil {
		return Result{}, err
	}
	result := e.existing(t)
	return result, tx.InsertEvent(e.event("transaction.settled", tenant, t.ID, t.Version, result.Body))
}
