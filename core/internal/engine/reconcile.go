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

// What a Recovery does with one open step of each kind.

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
	case errors.Is(err, acquirer.ErrNotFound), err == nil && a.Released && !unwantedPart(t, a):
		return e.conclude(ctx, t)
	case err == nil:
		return finished(e.authorized(ctx, e.requestID(), t, a), nil)
	default:
		return fmt.Errorf("%w: %w", errStillOpen, err)
	}
}

// conclude closes a payment that the acquirer does not know: it moved nothing, and what it may move yet will be reversed.
func (e *Engine) conclude(ctx context.Context, t *payment.Transaction) error {
	owed := t.Unwanted(e.Clock.Now().UTC().Truncate(time.Millisecond))
	var err error
	switch {
	case t.Attempt > 0:
		// Its merchant knows the transaction, and its payer may still want to pay: it waits, as if this confirmation had not come.
		err = e.withdraw(ctx, t, vault.Secrets{}, owed)
	case t.Status == payment.Processing && t.Claim != 0:
		// Nobody was told of it, and whoever asked holds the key: with both gone, asking again is a first time.
		err = e.takeBack(ctx, t, vault.Secrets{}, owed)
	default:
		err = e.fail(ctx, t, owed)
	}
	if errors.Is(err, store.ErrConflict) {
		return nil // somebody else has finished it
	}
	if err == nil {
		e.Log.WarnContext(ctx, "reconcile: payment had no effect", slog.String("transaction", authorizationReference(t)),
			slog.String("status", string(t.Status)), slog.Bool("keyed", t.Claim != 0))
	}
	return err
}

// fail closes a payment that moved nothing and that somebody may know of. Its key is freed: no answer was stored under it.
func (e *Engine) fail(ctx context.Context, open *payment.Transaction, owed *payment.Reversal) error {
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
		if err := owe(tx, owed); err != nil {
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

// again is the origin of recovery's requests.
func (e *Engine) again() origin { return origin{request: e.requestID(), again: true} }

// finished tells whether a step that was taken up again came to an end.
func finished(a Answer, err error) error {
	if err == nil && a.open {
		return errStillOpen
	}
	return err
}
