package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// What the acquirer does not know is closed first, and what it may then hold for it is a reversal owed, written in the same commit. So the store
// has decided before the acquirer is told to let go, and an approval that comes after that cannot become the payment's.

// owe writes down, in the commit that closes a payment, that the acquirer must let go of it. nil is for one that it certainly never saw.
func owe(tx *store.Tx, r *payment.Reversal) error {
	if r == nil {
		return nil
	}
	return tx.InsertReversal(r)
}

// oweLate writes down that the acquirer approved a payment after it had been closed. A payment that recovery found approved stays as it is.
func (e *Engine) oweLate(ctx context.Context, approved *payment.Transaction) {
	late := false
	err := e.Store.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		now, err := tx.Transaction(approved.Tenant, approved.ID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if late = err != nil || now.Attempt != approved.Attempt || closed(now.Status); !late {
			return nil
		}
		r := approved.Unwanted(tx.Now)
		r.Held = approved.Authorized
		return tx.InsertReversal(r)
	})
	reference := slog.String("transaction", authorizationReference(approved))
	switch {
	case err != nil: // its reversal was written when it was closed, and will find it
		e.Log.ErrorContext(ctx, "late approval: not written down", reference, slog.Any("error", err))
	case late:
		e.Log.WarnContext(ctx, "late approval: to be reversed", reference)
	}
}

// closed reports whether a payment that was open has ended without money, or waits to be confirmed anew.
func closed(s payment.Status) bool {
	return s == payment.Failed || s == payment.RequiresConfirmation || s == payment.Canceled
}

// reconcileReversal finds out whether anything is held, and has the acquirer let go of it.
func (e *Engine) reconcileReversal(ctx context.Context, r *payment.Reversal) error {
	acq, err := e.acquirer(r.Tenant)
	if err != nil {
		return err
	}
	a, err := call(ctx, func(ctx context.Context) (acquirer.Answer, error) { return acq.Inquire(ctx, unwantedReference(r)) })
	switch {
	case errors.Is(err, acquirer.ErrNotFound) && r.Asked > 0 && r.Refused == 0 && r.Held == 0:
		return e.lookAgain(ctx, r)
	case errors.Is(err, acquirer.ErrNotFound):
		return e.letGo(ctx, acq, r, false)
	case err != nil:
		return fmt.Errorf("%w: %w", errStillOpen, err)
	case !a.Approved || a.Released || a.Amount == 0:
		return e.endReversal(ctx, r) // the acquirer has had its last word on this reference
	}
	r.Held = a.Amount
	return e.letGo(ctx, acq, r, true)
}

// letGo asks the acquirer to give back what it holds, or to take nothing when it does not know of the authorization yet.
func (e *Engine) letGo(ctx context.Context, acq acquirer.Acquirer, r *payment.Reversal, known bool) error {
	ask := acq.Void
	if known && r.ByRefund() {
		ask = acq.Refund
	}
	a, err := call(ctx, func(ctx context.Context) (acquirer.Answer, error) {
		return ask(ctx, acquirer.Follow{
			Reference: reversalReference(r, known), Authorization: unwantedReference(r), Amount: cmp.Or(r.Held, r.Amount), Currency: r.Currency,
		})
	})
	if err != nil {
		return fmt.Errorf("%w: %w", errStillOpen, err) // asked again under the same reference
	}
	what := []any{slog.String("transaction", unwantedReference(r)), slog.Int64("held", r.Held)}
	switch {
	case !a.Approved:
		r.Refuse(e.Clock.Now())
		e.Log.ErrorContext(ctx, "reversal: the acquirer does not let go of a payment that was closed", append(what,
			slog.String("response_code", a.ResponseCode), slog.Int64("refused", r.Refused), slog.Time("again", r.DueAt))...)
	case known:
		e.Log.WarnContext(ctx, "reversal: late approval reversed", what...)
		return e.endReversal(ctx, r)
	default:
		r.Told(e.Clock.Now())
	}
	return e.changeReversal(ctx, r, (*store.Tx).PostponeReversal)
}

// lookAgain puts off what was not found, until its time is over.
func (e *Engine) lookAgain(ctx context.Context, r *payment.Reversal) error {
	if !r.LookAgain(e.Clock.Now()) {
		return e.endReversal(ctx, r)
	}
	return e.changeReversal(ctx, r, (*store.Tx).PostponeReversal)
}

func (e *Engine) endReversal(ctx context.Context, r *payment.Reversal) error {
	return e.changeReversal(ctx, r, (*store.Tx).EndReversal)
}

// changeReversal commits what became of a reversal. When another recovery was faster, or more was learned meanwhile, that stands.
func (e *Engine) changeReversal(ctx context.Context, r *payment.Reversal, change func(*store.Tx, *payment.Reversal) error) error {
	err := e.Store.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error { return change(tx, r) })
	if errors.Is(err, store.ErrConflict) {
		return nil
	}
	return err
}

// unwantedReference is the name that the acquirer knows the authorization by.
func unwantedReference(r *payment.Reversal) string {
	return authorizationReference(&payment.Transaction{ID: r.Transaction, Attempt: r.Attempt})
}

// reversalReference names the next request to let go. One that was answered is not asked again, for the answer would be the same; nor is one
// for what the acquirer did not know the one for what it holds, for it may have had its effect before there was anything to release.
func reversalReference(r *payment.Reversal, known bool) string {
	name := "reverse_"
	if known {
		name = "late_"
	}
	name += unwantedReference(r)[4:]
	if r.Asked == 0 {
		return name
	}
	return name + "_r" + strconv.FormatInt(r.Asked, 10)
}
