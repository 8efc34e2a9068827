package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/pass"
)

// ExpireDue ends each authorization and each wait for a confirmation whose time is over by the
// confirmed time, and returns how many it has ended. It ends a page of each tenant in turn. Each
// round also finds the tenants of which a transaction has ended since the last one. It sends the
// acquirer nothing, because the acquirer releases the money at that time. A transaction with a step
// in flight ends after that step.
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
	err := pass.InTurn(ctx, x.pass, store.ExpiringTenant.Merchant,
		func() ([]store.ExpiringTenant, error) {
			if err := x.flush(ctx, 1); err != nil {
				return nil, err
			}
			return e.Store.Expiring(ctx)
		},
		func(t store.ExpiringTenant) (bool, error) { return x.page(ctx, t) })
	if err == nil {
		err = x.flush(ctx, 1)
	}
	if err != nil {
		return x.expired, fmt.Errorf("expire: %w", err)
	}
	return x.expired, nil
}

// expireOf ends the transactions whose time is over on a tenant's test clock. It makes no span: it
// is part of a request.
func (e *Engine) expireOf(ctx context.Context, d store.Day) error {
	x := e.newExpiry(&tracedPass{})
	all := store.ExpiringTenant{Tenant: d.Tenant, Ahead: d.Ahead, Lapsed: true, Unconfirmed: true, TooLong: true}
	for more := true; more; {
		var err error
		if more, err = x.page(ctx, all); err != nil {
			return err
		}
	}
	return x.flush(ctx, 1)
}

// expiry is one pass.
type expiry struct {
	e       *Engine
	traced  *tracedPass
	pass    *pass.Pass
	reached map[payment.Tenant]*reachedExpiry
	due     []dueEnd // to end in the next commit, of several tenants
	expired int      // transactions so far
}

// reachedExpiry is the progress of a pass with one tenant.
type reachedExpiry struct {
	by                  time.Time // of the tenant's first turn; rows that end later are left to the next pass
	lapsed, unconfirmed store.Due // the last rows so far, the zero Due for none
}

// dueEnd is a transaction whose time is over.
type dueEnd struct {
	tenant payment.Tenant
	id     int64
	end    ending
}

// ending ends one transaction and announces it. It returns store.ErrConflict if the transaction has
// ended already.
type ending func(tx *store.Tx, tenant payment.Tenant, id int64) (Result, error)

func (e *Engine) newExpiry(traced *tracedPass) *expiry {
	return &expiry{
		e: e, traced: traced, pass: e.Store.BeginPass(pass.Expiry), reached: map[payment.Tenant]*reachedExpiry{},
	}
}

// page ends a page of the tenant's authorizations, and one of its waits for a confirmation. It
// reports whether more of either are left.
func (x *expiry) page(ctx context.Context, t store.ExpiringTenant) (more bool, err error) {
	reached := x.reached[t.Tenant]
	if reached == nil {
		reached = &reachedExpiry{by: x.e.Store.Confirmed().Add(t.Ahead)}
		x.reached[t.Tenant] = reached
		if t.TooLong {
			err = x.e.Store.CorrectUnconfirmed(ctx, t)
		}
		if err = x.pass.Skip(ctx, "waits for a confirmation of merchant", t.Tenant.Merchant, err); err != nil {
			return false, err
		}
	}
	moreLapsed, moreUnconfirmed := false, false
	if t.Lapsed {
		moreLapsed, err = x.rows(ctx, t.Tenant, reached.by, x.e.Store.Lapsed, &reached.lapsed, x.e.expire)
	}
	if err == nil && t.Unconfirmed {
		moreUnconfirmed, err = x.rows(ctx, t.Tenant, reached.by, x.e.Store.Unconfirmed, &reached.unconfirmed, x.e.lapse)
	}
	return moreLapsed || moreUnconfirmed, err
}

// rowsOf returns a page of a tenant's rows that ended by a time, after a row.
type rowsOf func(ctx context.Context, tenant payment.Tenant, by time.Time, after store.Due, limit int) ([]store.Due, error)

// rows adds the page after the row last to the rows that are due, and moves last. It ends all rows
// but the last ones, which do not fill a commit. It reports whether more may be left.
func (x *expiry) rows(
	ctx context.Context, tenant payment.Tenant, by time.Time, of rowsOf, last *store.Due, end ending,
) (more bool, err error) {
	page, err := of(ctx, tenant, by, *last, dueBatch)
	if err != nil || len(page) == 0 {
		return false, err
	}
	x.traced.found(ctx, len(page))
	for _, d := range page {
		x.due = append(x.due, dueEnd{tenant, d.ID, end})
	}
	*last = page[len(page)-1]
	return len(page) == dueBatch, x.flush(ctx, commitBatch)
}

// flush ends the rows that are due while there are at least a number of them. It skips a
// transaction that cannot be ended. A commit locks its transactions in the order of their ids, as
// a settlement does. So the two cannot wait for each other in a circle.
func (x *expiry) flush(ctx context.Context, least int) error {
	rows := pass.Rows[dueEnd]{Kind: "transaction", ID: func(d dueEnd) int64 { return d.id }, Change: x.part}
	for len(x.due) >= least {
		part := x.due[:min(commitBatch, len(x.due))]
		x.due = x.due[len(part):]
		slices.SortFunc(part, func(a, b dueEnd) int { return cmp.Compare(a.id, b.id) })
		if err := rows.Do(ctx, x.pass, part); err != nil {
			return err
		}
	}
	return nil
}

// part ends transactions in one commit, and returns how many it has handled.
func (x *expiry) part(ctx context.Context, part []dueEnd) (n int, err error) {
	expired := 0
	caller := store.Caller{Tenant: part[0].tenant} // in a client's request, all rows are of its tenant
	err = x.e.Store.UpdateOf(ctx, caller, func(tx *store.Tx) (err error) {
		expired = 0
		n, err = store.Each(tx, part, func(d dueEnd) error {
			_, err := d.end(tx, d.tenant, d.id)
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
