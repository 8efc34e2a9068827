package engine

import (
	"cmp"
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
		func() ([]store.TenantClock, error) {
			if err := x.flush(ctx, 1); err != nil {
				return nil, err
			}
			return e.Store.Expiring(ctx)
		},
		func(c store.TenantClock) (bool, error) { return x.page(ctx, c) })
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
	for more := true; more; {
		var err error
		if more, err = x.page(ctx, store.TenantClock{Tenant: d.Tenant, Ahead: d.Ahead}); err != nil {
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
	due     []dueEnd // not ended yet: many tenants have one row, and one commit ends their rows
	expired int      // transactions so far
}

// reachedExpiry has the last rows of a tenant's pages so far, the zero Due for none.
type reachedExpiry struct{ lapsed, unconfirmed store.Due }

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
		err = x.add(ctx, c.Tenant, lapsed, &reached.lapsed, e.expire)
	}
	if err != nil {
		return false, err
	}
	unconfirmed, err := e.Store.Unconfirmed(ctx, c.Tenant, now, reached.unconfirmed, dueBatch)
	if err == nil {
		err = x.add(ctx, c.Tenant, unconfirmed, &reached.unconfirmed, e.lapse)
	}
	return max(len(lapsed), len(unconfirmed)) == dueBatch, err
}

// add adds a page to the rows that are due, and stores its last row in last. It ends all rows but
// those that do not fill a commit.
func (x *expiry) add(ctx context.Context, tenant payment.Tenant, page []store.Due, last *store.Due, end ending) error {
	if len(page) == 0 {
		return nil
	}
	x.traced.found(ctx, len(page))
	for _, d := range page {
		x.due = append(x.due, dueEnd{tenant, d.ID, end})
	}
	*last = page[len(page)-1]
	return x.flush(ctx, commitBatch)
}

// flush ends the rows that are due while there are at least a number of them. It skips a transaction
// that cannot be ended. A commit locks its transactions in the order of their ids, as a settlement
// does: so neither waits for the other in a circle.
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
