package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// ExpireDue ends each authorization and each wait for a confirmation whose time is over by the
// confirmed time, and returns how many it has ended. It sends the acquirer nothing, which releases
// the money by itself at that time. A transaction with a step in flight ends after that step.
func (e *Engine) ExpireDue(ctx context.Context) (int, error) {
	pass := tracedPass{tracer: e.Tracer, name: "expiry"}
	expired, err := e.expireDue(ctx, &pass)
	pass.done = expired
	pass.end(err)
	e.Observer.ExpiryEnded(expired, err)
	return expired, err
}

func (e *Engine) expireDue(ctx context.Context, pass *tracedPass) (int, error) {
	now := e.Store.Confirmed()
	expired, err := e.expireAll(ctx, pass, func() ([]store.Lapsed, error) { return e.Store.Lapsed(ctx, now, dueBatch) }, e.expire)
	if err != nil {
		return expired, fmt.Errorf("expire: %w", err)
	}
	n, err := e.expireAll(ctx, pass, func() ([]store.Lapsed, error) { return e.Store.Unconfirmed(ctx, now, dueBatch) }, e.lapse)
	expired += n
	if err != nil {
		return expired, fmt.Errorf("expire: %w", err)
	}
	days, err := e.Store.Days(ctx)
	if err != nil {
		return expired, fmt.Errorf("expire: %w", err)
	}
	for _, d := range days {
		if d.Ahead == 0 {
			continue
		}
		n, err := e.expireOf(ctx, pass, d)
		expired += n
		if err != nil {
			return expired, fmt.Errorf("expire: %w", err)
		}
	}
	return expired, nil
}

// expireOf ends what is over on a test clock.
func (e *Engine) expireOf(ctx context.Context, pass *tracedPass, d store.Day) (int, error) {
	now := e.Store.Confirmed().Add(d.Ahead)
	expired, err := e.expireAll(ctx, pass, func() ([]store.Lapsed, error) { return e.Store.LapsedOf(ctx, d.Tenant, now, dueBatch) }, e.expire)
	if err != nil {
		return expired, err
	}
	n, err := e.expireAll(ctx, pass, func() ([]store.Lapsed, error) { return e.Store.UnconfirmedOf(ctx, d.Tenant, now, dueBatch) }, e.lapse)
	return expired + n, err
}

// ending ends one transaction and announces it. store.ErrConflict when there is nothing to end any more.
type ending func(tx *store.Tx, tenant payment.Tenant, id int64) (Answer, error)

// expireAll works through a list that shrinks by what is done.
func (e *Engine) expireAll(ctx context.Context, pass *tracedPass, next func() ([]store.Lapsed, error), end ending) (int, error) {
	expired := 0
	for {
		batch, err := next()
		if err != nil {
			return expired, err
		}
		pass.found(ctx, len(batch))
		n, err := e.expireBatch(ctx, batch, end)
		expired += n
		if err != nil || n == 0 || len(batch) < dueBatch {
			return expired, err
		}
	}
}

func (e *Engine) expireBatch(ctx context.Context, batch []store.Lapsed, end ending) (int, error) {
	expired := 0
	for part := range slices.Chunk(batch, commitBatch) {
		n := 0
		err := e.Store.Update(ctx, func(tx *store.Tx) error {
			n = 0
			for _, l := range part {
				_, err := end(tx, l.Tenant, l.ID)
				if errors.Is(err, store.ErrConflict) {
					continue // captured, voided or confirmed, or being so
				}
				if err != nil {
					return err
				}
				n++
			}
			return nil
		})
		if err != nil {
			return expired, err
		}
		expired += n
	}
	return expired, nil
}

// expire ends one authorization and announces what became of the transaction: expired, or captured where part of it was.
func (e *Engine) expire(tx *store.Tx, tenant payment.Tenant, id int64) (Answer, error) {
	if err := tx.ExpireTransaction(tenant, id); err != nil {
		return Answer{}, err
	}
	return e.became(tx, tenant, id)
}

// lapse cancels one transaction that nobody confirmed in time.
func (e *Engine) lapse(tx *store.Tx, tenant payment.Tenant, id int64) (Answer, error) {
	err := tx.LapseTransaction(tenant, id, &payment.Result{FailureCode: "not_confirmed", FailureMessage: "Nobody confirmed this payment in time."})
	if err != nil {
		return Answer{}, err
	}
	return e.became(tx, tenant, id)
}

// became announces what became of a transaction.
func (e *Engine) became(tx *store.Tx, tenant payment.Tenant, id int64) (Answer, error) {
	t, err := tx.Transaction(tenant, id)
	if err != nil {
		return Answer{}, err
	}
	answer := e.Present.Transaction(t)
	return answer, tx.InsertEvent(e.event("transaction."+string(t.Status), tenant, t.ID, t.Version, answer.Body))
}
