package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/vault"
)

// reconcileBatch is how many open steps of a kind one pass reads at a time.
const reconcileBatch = 500

// Patience is how old an open step must be before the running reconciler takes it up: longer than any request that may still be
// working on it.
const Patience = callTimeout + 10*time.Second

// Reconcile finishes what is open since before the given time, one after the other: payments and steps whose process died, or whose answer
// was lost. The running service does so by a Recovery, which takes the same steps in lanes; this is the plain form that tests drive. It
// returns how many remain open because the acquirer could not be asked.
func (e *Engine) Reconcile(ctx context.Context, before time.Time) (open int, err error) {
	cut := before.UnixMilli() + 1
	n, err := drain(ctx, e.Store.OpenTransactions, cut, func(t *payment.Transaction) int64 { return t.ID }, e.reconcileTransaction)
	if err != nil {
		return 0, fmt.Errorf("reconcile transactions: %w", err)
	}
	m, err := drain(ctx, e.Store.OpenCaptures, cut, func(c *payment.Capture) int64 { return c.ID }, e.reconcileCapture)
	if err != nil {
		return 0, fmt.Errorf("reconcile captures: %w", err)
	}
	o, err := drain(ctx, e.Store.OpenRefunds, cut, func(r *payment.Refund) int64 { return r.ID }, e.reconcileRefund)
	if err != nil {
		return 0, fmt.Errorf("reconcile refunds: %w", err)
	}
	return n + m + o, nil
}

// drain takes every open step up once, batch by batch, and returns how many stay open.
func drain[T any](ctx context.Context, next func(ctx context.Context, before, after int64, limit int) ([]T, error), before int64,
	number func(T) int64, one func(context.Context, T) error,
) (int, error) {
	open, after := 0, int64(0)
	for {
		batch, err := next(ctx, before, after, reconcileBatch)
		if err != nil || len(batch) == 0 {
			return open, err
		}
		for _, v := range batch {
			if err := ctx.Err(); err != nil {
				return open, err
			}
			if err := one(ctx, v); err != nil {
				open++
			}
			after = number(v)
		}
	}
}

// errStillOpen: the acquirer could not be asked; the step stays open.
var errStillOpen = errors.New("engine: still open")

func (e *Engine) reconcileTransaction(ctx context.Context, t *payment.Transaction) error {
	acq, err := e.acquirer(t.Tenant)
	if err != nil {
		return err
	}
	if t.Operation == payment.VoidOperation {
		return finished(e.askVoid(ctx, e.again(), acq, t))
	}
	a, err := call(ctx, func(ctx context.Context) (acquirer.Answer, error) {
		return acq.Inquire(ctx, authorizationReference(t))
	})
	switch {
	case err == nil:
		return finished(e.authorized(ctx, e.requestID(), t, a), nil)
	case errors.Is(err, acquirer.ErrNotFound):
		return e.reverse(ctx, acq, t)
	default:
		return fmt.Errorf("%w: %w", errStillOpen, err)
	}
}

// reverse makes sure that a payment the acquirer does not know cannot arrive late, and then closes it: it moved nothing.
func (e *Engine) reverse(ctx context.Context, acq acquirer.Acquirer, t *payment.Transaction) error {
	a, err := call(ctx, func(ctx context.Context) (acquirer.Answer, error) {
		return acq.Void(ctx, acquirer.Follow{
			Reference: reversalReference(t), Authorization: authorizationReference(t), Amount: t.Amount, Currency: t.Currency,
		})
	})
	if err != nil || !a.Approved {
		return errStillOpen
	}
	e.Log.WarnContext(ctx, "reconcile: payment had no effect", slog.String("transaction", authorizationReference(t)),
		slog.String("status", string(t.Status)), slog.Bool("keyed", t.Claim != 0))
	if t.Attempt > 0 {
		// Its merchant knows the transaction, and its payer may still want to pay: it waits, as if this confirmation had not come.
		return e.withdraw(ctx, t, vault.Secrets{})
	}
	if t.Status == payment.Processing && t.Claim != 0 {
		// Nobody was told of it, and whoever asked holds the key: with both gone, asking again is a first time.
		if err := e.takeBack(ctx, t, vault.Secrets{}); !errors.Is(err, ErrAcquirerUnavailable) {
			return err
		}
		return nil
	}
	return e.fail(ctx, t)
}

// reverseLate lets go of what the acquirer approved after the payment had been reversed and closed. A payment that the reconciler found
// approved stays as it is.
func (e *Engine) reverseLate(ctx context.Context, t *payment.Transaction) {
	now, err := e.Store.Transaction(context.WithoutCancel(ctx), t.Tenant, t.ID)
	if !errors.Is(err, store.ErrNotFound) && (err != nil || now.Attempt == t.Attempt && !closed(now.Status)) {
		return
	}
	acq, err := e.acquirer(t.Tenant)
	if err != nil {
		return
	}
	a, err := call(ctx, func(ctx context.Context) (acquirer.Answer, error) {
		return acq.Void(ctx, acquirer.Follow{
			Reference: lateReference(t), Authorization: authorizationReference(t), Amount: t.Authorized, Currency: t.Currency,
		})
	})
	reference := slog.String("transaction", authorizationReference(t))
	if err != nil || !a.Approved {
		e.Log.ErrorContext(ctx, "late approval: money is held for a payment that was closed", reference, slog.Any("error", err))
		return
	}
	e.Log.WarnContext(ctx, "late approval: reversed again", reference)
}

// closed reports whether a payment that was open has ended without money, or waits to be confirmed anew.
func closed(s payment.Status) bool {
	return s == payment.Failed || s == payment.RequiresConfirmation || s == payment.Canceled
}

// fail closes a payment that moved nothing and that somebody may know of. Its key is freed: no answer was stored under it.
func (e *Engine) fail(ctx context.Context, open *payment.Transaction) error {
	t := *open
	next, err := t.Status.Next(payment.Fail)
	if err != nil {
		return err
	}
	t.Status, t.Version, t.UpdatedAt = next, t.Version+1, e.Clock.Now().UTC().Truncate(time.Millisecond)
	t.Result = payment.Result{FailureCode: "not_processed", FailureMessage: "The acquirer never processed this payment; no money was moved."}
	return e.Store.Update(ctx, func(tx *store.Tx) error {
		if err := tx.ResolveTransaction(&t); err != nil {
			return err
		}
		if err := tx.InsertEvent(e.event("transaction.failed", t.Tenant, t.ID, t.Version, e.Present.Transaction(&t).Body)); err != nil {
			return err
		}
		return tx.ReleaseKey(open.Claim)
	})
}

func (e *Engine) reconcileCapture(ctx context.Context, c *payment.Capture) error {
	acq, err := e.acquirer(c.Tenant)
	if err != nil {
		return err
	}
	return finished(e.askCapture(ctx, e.again(), acq, c))
}

func (e *Engine) reconcileRefund(ctx context.Context, r *payment.Refund) error {
	acq, err := e.acquirer(r.Tenant)
	if err != nil {
		return err
	}
	if r.Transaction == 0 {
		return e.reconcileCredit(ctx, acq, r)
	}
	return finished(e.askRefund(ctx, e.again(), acq, r))
}

// again is the origin of the reconciler's requests.
func (e *Engine) again() origin { return origin{request: e.requestID(), again: true} }

// finished tells whether a step that was taken up again came to an end.
func finished(a Answer, err error) error {
	if err == nil && a.open {
		return errStillOpen
	}
	return err
}
