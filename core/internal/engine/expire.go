package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/pass"
)

// ExpireDue ends each authorization and each wait for a confirmation whose time is over by the
// confirmed time, and returns how many it has ended. It sends the acquirer nothing, because the
// acquirer releases the money at that time. A transaction with a step in flight ends after that
// step.
func (e *Engine) ExpireDue(ctx context.Context) (int, error) {
	traced := tracedPass{tracer: e.Tracer, name: "expiry"}
	expired, err := e.expireDue(ctx, &traced)
	traced.done = expired
	traced.end(err)
	e.Observer.ExpiryEnded(expired, err)
	return expired, err
}

func (e *Engine) expireDue(ctx context.Context, traced *tracedPass) (int, error) {
	now := e.Store.Confirmed()
	x := &expiry{e: e, traced: traced, pass: e.Store.BeginPass(pass.Expiry)}
	err := x.pass.Skip(ctx, "waits for a confirmation", 0, e.Store.CorrectUnconfirmed(ctx))
	if err == nil {
		err = x.all(ctx, func(after store.Lapsed) ([]store.Lapsed, error) {
			return e.Store.Lapsed(ctx, now, after, dueBatch)
		}, e.expire)
	}
	if err == nil {
		err = x.all(ctx, func(after store.Lapsed) ([]store.Lapsed, error) {
			return e.Store.Unconfirmed(ctx, now, after, dueBatch)
		}, e.lapse)
	}
	if err == nil {
		err = x.testClocks(ctx)
	}
	if err != nil {
		return x.expired, fmt.Errorf("expire: %w", err)
	}
	return x.expired, nil
}

// testClocks ends the transactions whose time is over on the test clocks of all merchants. It skips
// a merchant whose transactions cannot be read.
func (x *expiry) testClocks(ctx context.Context) error {
	days, err := x.e.Store.Days(ctx)
	if err != nil {
		return err
	}
	for _, d := range days {
		if d.Ahead == 0 {
			continue
		}
		if err := x.pass.Skip(ctx, "merchant", d.Tenant.Merchant, x.of(ctx, d)); err != nil {
			return err
		}
	}
	return nil
}

// expireOf ends the transactions whose time is over on a tenant's test clock. It makes no span: it
// is part of a request.
func (e *Engine) expireOf(ctx context.Context, d store.Day) error {
	x := &expiry{e: e, traced: &tracedPass{}, pass: e.Store.BeginPass(pass.Expiry)}
	return x.of(ctx, d)
}

// expiry is one pass.
type expiry struct {
	e       *Engine
	traced  *tracedPass
	pass    *pass.Pass
	expired int // transactions so far
}

// of ends the transactions whose time is over on a test clock.
func (x *expiry) of(ctx context.Context, d store.Day) error {
	e, now := x.e, x.e.Store.Confirmed().Add(d.Ahead)
	err := x.all(ctx, func(after store.Lapsed) ([]store.Lapsed, error) {
		return e.Store.LapsedOf(ctx, d.Tenant.Merchant, now, after, dueBatch)
	}, e.expire)
	if err != nil {
		return err
	}
	return x.all(ctx, func(after store.Lapsed) ([]store.Lapsed, error) {
		return e.Store.UnconfirmedOf(ctx, d.Tenant.Merchant, now, after, dueBatch)
	}, e.lapse)
}

// ending ends one transaction and announces it. It returns store.ErrConflict if the transaction has
// ended already.
type ending func(tx *store.Tx, tenant payment.Tenant, id int64) (Result, error)

// all ends all rows of a list, page by page. A transaction that cannot be ended is skipped.
func (x *expiry) all(ctx context.Context, next func(after store.Lapsed) ([]store.Lapsed, error), end ending) error {
	rows := pass.Rows[store.Lapsed]{
		Kind: "transaction", ID: func(l store.Lapsed) int64 { return l.ID },
		Change: func(ctx context.Context, part []store.Lapsed) (int, error) { return x.part(ctx, part, end) },
	}
	for last := (store.Lapsed{}); ; {
		page, err := next(last)
		if err != nil {
			return err
		}
		x.traced.found(ctx, len(page))
		for part := range slices.Chunk(page, commitBatch) {
			if err := rows.Do(ctx, x.pass, part); err != nil {
				return err
			}
		}
		if len(page) < dueBatch {
			return nil
		}
		last = page[len(page)-1]
	}
}

// part ends transactions in one commit, and returns how many it has handled.
func (x *expiry) part(ctx context.Context, part []store.Lapsed, end ending) (n int, err error) {
	expired := 0
	caller := store.Caller{Tenant: part[0].Tenant} // in a client's request, all rows are of its tenant
	err = x.e.Store.UpdateOf(ctx, caller, func(tx *store.Tx) (err error) {
		expired = 0
		n, err = store.Each(tx, part, func(l store.Lapsed) error {
			_, err := end(tx, l.Tenant, l.ID)
			if errors.Is(err, store.ErrConflict) {
				return nil // it is captured, voided or confirmed, or such a step is in progress
			}
			expired++
			return err
		})
		return err
	})
	if err == nil {
		x.expired += expired
	}
	return n, err
}

// expire ends one authorization and announces the transaction: it is expired, or captured if part
// of it was.
func (e *Engine) expire(tx *store.Tx, tenant payment.Tenant, id int64) (Result, error) {
	if err := tx.ExpireTransaction(tenant, id); err != nil {
		return Result{}, err
	}
	return e.became(tx, tenant, id)
}

// lapse cancels one transaction that was not confirmed in time.
func (e *Engine) lapse(tx *store.Tx, tenant payment.Tenant, id int64) (Result, error) {
	err := tx.LapseTransaction(tenant, id, &payment.Result{FailureCode: "not_confirmed", FailureMessage: "The payment was not confirmed in time."})
	if err != nil {
		return Result{}, err
	}
	return e.became(tx, tenant, id)
}

// became writes the event of a transaction's new state, and returns the transaction.
func (e *Engine) became(tx *store.Tx, tenant payment.Tenant, id int64) (Result, error) {
	t, err := tx.Transaction(tenant, id)
	if err != nil {
		return Result{}, err
	}
	result := e.existing(t)
	return result, tx.InsertEvent(e.event("transaction."+string(t.Status), tenant, t.ID, t.Version, result.Body))
}
