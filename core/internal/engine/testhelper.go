package engine

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// runBatch is how many captures one settlement run of the test helpers reads at most.
const runBatch = 100

// catchUpTime is how long a request that moves a test clock does the work that is due then.
const catchUpTime = 5 * time.Second

// TestTime is a merchant's test clock.
type TestTime struct {
	Now   time.Time
	Ahead time.Duration // of real time
}

// SettlementRun is the result of one settlement run of the test helpers.
type SettlementRun struct {
	Settled int  // transactions
	More    bool // transactions wait for the next run
}

// Settle marks the captured money of a transaction as settled, with a settlement day that ends now.
func (e *Engine) Settle(ctx context.Context, r Request, transaction int64) (Result, error) {
	defer e.running.enter(ctx, r)()
	now, err := e.ReadTestClock(ctx, r.Tenant)
	if err != nil {
		return Result{}, err
	}
	done, err := e.intent(ctx, r, func(tx *store.Tx, _ int64) (*Result, error) {
		totals := store.DayTotals{}
		err := tx.SettleTransaction(r.Tenant, transaction, now.Now, totals)
		if errors.Is(err, store.ErrConflict) {
			return e.refuse(tx, r, transaction, (*payment.Transaction).WhyNoSettle)
		}
		if err != nil {
			return nil, err
		}
		if err := tx.AddToDay(r.Tenant, now.Now, totals); err != nil {
			return nil, err
		}
		result, err := e.announceSettled(tx, r.Tenant, transaction)
		return &result, err
	})
	return value(done), err
}

// RunSettlement settles the tenant's captured money and its refunds as if its day ended now. It
// begins with the oldest captures, reads at most runBatch captures and as many refunds, and stops
// before a background commit would take too long.
func (e *Engine) RunSettlement(ctx context.Context, r Request) (Result, error) {
	defer e.running.enter(ctx, r)()
	page, more, err := e.Store.Settleable(ctx, r.Tenant, runBatch)
	if err != nil {
		return Result{}, err
	}
	refunds, moreRefunds, err := e.Store.SettleableRefunds(ctx, r.Tenant, runBatch)
	if err != nil {
		return Result{}, err
	}
	slices.Sort(page) // a settlement and an expiry lock transactions in this order, too
	now, err := e.ReadTestClock(ctx, r.Tenant)
	if err != nil {
		return Result{}, err
	}
	done, err := e.intent(ctx, r, func(tx *store.Tx, _ int64) (*Result, error) {
		run, err := e.settleAll(tx, r.Tenant, page, refunds, now.Now)
		if err != nil {
			return nil, err
		}
		run.More = run.More || more || moreRefunds
		result := e.existing(&run)
		return &result, nil
	})
	return value(done), err
}

// settleAll settles transactions and refunds with a settlement day that ends now, up to the bounds
// of a background commit.
func (e *Engine) settleAll(
	tx *store.Tx, tenant payment.Tenant, transactions, refunds []int64, now time.Time,
) (run SettlementRun, _ error) {
	totals := store.DayTotals{}
	n, err := store.Each(tx, transactions, func(transaction int64) error {
		err := tx.SettleTransaction(tenant, transaction, now, totals)
		if errors.Is(err, store.ErrConflict) {
			return nil // another command has settled it, or voids it
		}
		if err != nil {
			return err
		}
		run.Settled++
		_, err = e.announceSettled(tx, tenant, transaction)
		return err
	})
	if err != nil {
		return run, err
	}
	refunded := 0
	if n == len(transactions) {
		refunded, err = store.Each(tx, refunds, func(refund int64) error {
			return tx.SettleRefund(tenant, refund, now, totals)
		})
		if err != nil {
			return run, err
		}
	}
	run.More = n < len(transactions) || refunded < len(refunds)
	return run, tx.AddToDay(tenant, now, totals)
}

// Expire ends an authorization, or the wait for a confirmation, before its time.
func (e *Engine) Expire(ctx context.Context, r Request, transaction int64) (Result, error) {
	defer e.running.enter(ctx, r)()
	done, err := e.intent(ctx, r, func(tx *store.Tx, _ int64) (*Result, error) {
		result, err := e.expire(tx, r.Tenant, transaction)
		if errors.Is(err, store.ErrConflict) {
			result, err = e.lapse(tx, r.Tenant, transaction)
		}
		if errors.Is(err, store.ErrConflict) {
			return e.refuse(tx, r, transaction, (*payment.Transaction).WhyNoExpire)
		}
		return &result, err
	})
	return value(done), err
}

// AdvanceTestClock moves the merchant's test clock forward. It settles and expires the transactions
// that are due then, which the background work would otherwise do a little later.
func (e *Engine) AdvanceTestClock(ctx context.Context, r Request, by time.Duration) (Result, error) {
	defer e.running.enter(ctx, r)()
	done, err := e.intent(ctx, r, func(tx *store.Tx, _ int64) (*Result, error) {
		ahead, err := tx.AdvanceTestClock(r.Tenant.Merchant, by)
		if errors.Is(err, store.ErrConflict) {
			result := e.refused(r.ID, &payment.Refusal{
				Code: invalidValue, Param: "seconds", Message: "A test clock can be ahead by at most 3162240000 seconds, about 100 years.",
			}, nil)
			return &result, nil
		}
		if err != nil {
			return nil, err
		}
		result := e.existing(&TestTime{Now: tx.Now.Add(ahead), Ahead: ahead})
		return &result, nil
	})
	if err == nil {
		e.catchUp(context.WithoutCancel(ctx), r.Tenant)
	}
	return value(done), err
}

// catchUp does the tenant's due work. It counts as one of the merchant's lists and reads on the
// connections of the background. It keeps its turn for at most catchUpTime. The background does the
// rest, and work that failed.
func (e *Engine) catchUp(ctx context.Context, tenant payment.Tenant) {
	done, err := e.Store.Turn(ctx, tenant)
	if err != nil {
		e.Log.WarnContext(ctx, "test clock: the background does the due work", slog.Any("error", err))
		return
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, catchUpTime)
	defer cancel()
	days, err := e.Store.DaysOf(ctx, tenant.Merchant)
	for _, d := range days {
		if d.Tenant != tenant {
			continue
		}
		errExpire := e.expireOf(ctx, d)
		errSettle := e.settleDay(ctx, d)
		err = errors.Join(err, errExpire, errSettle)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		e.Log.WarnContext(ctx, "test clock: the background does the due work", slog.Any("error", err))
	case err != nil:
		e.Log.ErrorContext(ctx, "test clock: due work failed; the background retries it", slog.Any("error", err))
	}
}

// ReadTestClock reads the merchant's test clock.
func (e *Engine) ReadTestClock(ctx context.Context, tenant payment.Tenant) (TestTime, error) {
	ahead, err := e.Store.TestClock(ctx, tenant.Merchant)
	if err != nil {
		return TestTime{}, err
	}
	return TestTime{Now: e.Clock.Now().UTC().Truncate(time.Millisecond).Add(ahead), Ahead: ahead}, nil
}
