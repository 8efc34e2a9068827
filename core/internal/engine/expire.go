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
// confirmed time, and returns how many it has ended. It ends a page of each tenant in turn. Each
// round also finds the transactions whose time has ended since the last one. It sends the acquirer
// nothing, because the acquirer releases the money at that time. A transaction with a step in
// flight ends after that step.
func (e *Engine) ExpireDue(ctx context.Context) (int, error) {
	traced := tracedPass{tracer: e.Tracer, name: "expiry"}
	expired, err := e.expireDue(ctx, &traced)
	traced.done = expired
	traced.end(err)
	e.Observer.ExpiryEnded(expired, err)
	return expired, err
}

func (e *Engine) expireDue(ctx context.Context, traced *tracedPass) (int, error) {
	x := e.newExpiry(traced)
	err := pass.InTurn(ctx, x.pass, store.TenantClock.Merchant,
		func() ([]store.TenantClock, error) { return e.Store.Expiring(ctx) },
		func(c store.TenantClock) (bool, error) { return x.page(ctx, c) })
	if err != nil {
		return x.expired, fmt.Errorf("expire: %w", err)
	}
	return x.expired, nil
}

// expireOf ends the transactions whose time is over on a tenant's test clock. It makes no span: it
// is part of a request.
func (e *Engine) expireOf(ctx context.Context, d store.Day) error {
	x := e.newExpiry(&tracedPass{})
	for {
		more, err := x.page(ctx, store.TenantClock{Tenant: d.Tenant, Ahead: d.Ahead})
		if err != nil || !more {
			return err
		}
	}
}

// expiry is one pass.
type expiry struct {
	e       *Engine
	traced  *tracedPass
	pass    *pass.Pass
	reached map[payment.Tenant]*reachedExpiry
	expired int // transactions so far
}

// reachedExpiry has the last rows of a tenant's pages so far, the zero Due for none.
type reachedExpiry struct{ lapsed, unconfirmed store.Due }

func (e *Engine) newExpiry(traced *tracedPass) *expiry {
	return &expiry{
		e: e, traced: traced, pass: e.Store.BeginPass(pass.Expiry), reached: map[payment.Tenant]*reachedExpiry{},
	}
}

// page ends a page of the tenant's authorizations, and one of its waits for a confirmation. It
// reports whether more of either are left.
func (x *expiry) page(ctx context.Context, c store.TenantClock) (more bool, err error) {
	e, now, reached := x.e, x.e.Store.Confirmed().Add(c.Ahead), x.reached[c.Tenant]
	if reached == nil {
		reached = &reachedExpiry{}
		x.reached[c.Tenant] = reached
		err := e.Store.CorrectUnconfirmed(ctx, c)
		if err := x.pass.Skip(ctx, "waits for a confirmation of merchant", c.Tenant.Merchant, err); err != nil {
			return false, err
		}
	}
	lapsed, err := e.Store.Lapsed(ctx, c.Tenant, now, reached.lapsed, dueBatch)
	if err == nil {
		err = x.all(ctx, c.Tenant, lapsed, &reached.lapsed, e.expire)
	}
	if err != nil {
		return false, err
	}
	unconfirmed, err := e.Store.Unconfirmed(ctx, c.Tenant, now, reached.unconfirmed, dueBatch)
	if err == nil {
		err = x.all(ctx, c.Tenant, unconfirmed, &reached.unconfirmed, e.lapse)
	}
	return max(len(lapsed), len(unconfirmed)) == dueBatch, err
}

// ending ends one transaction and announces it. It returns store.ErrConflict if the transaction has
// ended already.
type ending func(tx *store.Tx, tenant payment.Tenant, id int64) (Result, error)

// all ends all rows of a page and stores the last one in last. It skips a transaction that cannot
// be ended.
func (x *expiry) all(ctx context.Context, tenant payment.Tenant, page []store.Due, last *store.Due, end ending) error {
	x.traced.found(ctx, len(page))
	rows := pass.Rows[store.Due]{
		Kind: "transaction", ID: func(d store.Due) int64 { return d.ID },
		Change: func(ctx context.Context, part []store.Due) (int, error) { return x.part(ctx, tenant, part, end) },
	}
	for part := range slices.Chunk(page, commitBatch) {
		if err := rows.Do(ctx, x.pass, part); err != nil {
			return err
		}
		*last = part[len(part)-1]
	}
	return nil
}

// part ends transactions in one commit, and returns how many it has handled.
func (x *expiry) part(ctx context.Context, tenant payment.Tenant, part []store.Due, end ending) (n int, err error) {
	expired := 0
	err = x.e.Store.UpdateOf(ctx, store.Caller{Tenant: tenant}, func(tx *store.Tx) (err error) {
		expired = 0
		n, err = store.Each(tx, part, func(d store.Due) error {
			_, err := end(tx, tenant, d.ID)
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
