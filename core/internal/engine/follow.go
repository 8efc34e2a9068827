package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// followWriter changes the objects of a capture, void or refund, and returns the response to a
// success; refused is nil for one.
type followWriter func(tx *store.Tx, refused *payment.Refusal) (Result, error)

// commitFollow writes the acquirer's result of a capture, void or refund. A decline is the result
// of one attempt. If another attempt may still be in progress, the same commit writes a pending
// look for its effect.
func (e *Engine) commitFollow(
	ctx context.Context, from origin, s step, a acquirer.Response, write followWriter,
) (Result, error) {
	o := s.about()
	var refused *payment.Refusal
	if !a.Approved {
		refused = e.declinedStep(ctx, o, a)
	}
	var out Result
	var dropped bool
	err := e.Store.Finish(ctx, o.tenant, func(tx *store.Tx) (err error) {
		look := false
		if err := stillFirst(tx, from, o, a); err != nil {
			return err
		}
		if dropped, err = mayBeDropped(tx, from, o, a); err != nil || dropped {
			return err
		}
		if refused != nil {
			if look, err = contested(tx, from, o); err != nil {
				return err
			}
		}
		if out, err = write(tx, refused); err != nil {
			return err
		}
		if refused != nil {
			if out, err = e.declined(tx, from.request, o, refused, look); err != nil {
				return err
			}
		}
		if err := endLook(tx, from, o, refused == nil); err != nil {
			return err
		}
		return tx.CompleteKey(o.claim, out.Status, out.Body)
	})
	if err == nil && dropped {
		err = errMayBeDropped
	}
	return out, err
}

// declinedStep returns the refusal of a step that the acquirer declined, and logs the decline: no
// field of v1 has the acquirer's own code.
func (e *Engine) declinedStep(ctx context.Context, o about, a acquirer.Response) *payment.Refusal {
	codes := "response code " + a.ResponseCode
	if a.OwnCode != "" {
		codes += ", the acquirer's own code " + a.OwnCode
	}
	e.Log.InfoContext(ctx, "step: the acquirer declined it", slog.String("reference", o.reference),
		slog.String("account", accountName(o.account)), slog.String("response_code", a.ResponseCode),
		slog.String("own_code", a.OwnCode))
	return &payment.Refusal{Code: acquirerDeclined, Message: "The acquirer declined this step (" + codes + ")."}
}

// missingFollow closes a repeated capture, void or refund that certainly had no effect at the
// acquirer. It has failed, and its amount and its key are free. A first attempt may still run, so
// the same commit writes a pending look for its effect. The proof can be that the acquirer has
// undone the step. So the look has a release request: an approval of the first attempt proves
// nothing.
func (e *Engine) missingFollow(ctx context.Context, s step, write followWriter) error {
	o := s.about()
	err := e.undo(ctx, o, func(tx *store.Tx) error {
		if _, err := write(tx, unprocessed()); err != nil {
			return err
		}
		look := o.reversal(tx.Now)
		look.Acknowledge(tx.Now) // there is nothing to release
		look.Requested = true
		return tx.InsertReversal(look)
	})
	if err == nil {
		e.Log.WarnContext(ctx, "recovery: no effect at the acquirer of the step", slog.String("reference", o.reference))
	}
	return unlessChanged(err)
}

// errReclaimed: recovery has reclaimed the step. An acquirer's connector that undoes repeated
// requests may have reversed it after it approved the first attempt, so only an inquiry decides.
var errReclaimed = errors.New("engine: recovery has reclaimed the approved step; an inquiry decides")

// stillFirst returns errReclaimed for the approval of a first attempt whose step recovery has
// reclaimed and not ended. Else recovery cannot reclaim the step before the commit. Test mode needs
// no such check, because an inquiry at the simulator undoes nothing.
func stillFirst(tx *store.Tx, from origin, o about, a acquirer.Response) error {
	if from.recovery || !a.Approved || !o.tenant.Live {
		return nil
	}
	err := tx.LockUnreclaimed(o.StepID, o.account)
	if !errors.Is(err, store.ErrConflict) {
		return err
	}
	if err := tx.LockUnfinished(o.StepID); !errors.Is(err, store.ErrConflict) {
		return errors.Join(errReclaimed, err)
	}
	return nil // it has ended, and the write finds that
}

// errMayBeDropped: the acquirer approved the step and may have dropped it since.
var errMayBeDropped = errors.New("engine: the acquirer may have dropped the step that it approved; an inquiry decides")

// mayBeDropped reports whether the acquirer was requested to drop an open step that a response
// approved. Then the step's look decides. Only an unlinked refund can be dropped while it is open.
func mayBeDropped(tx *store.Tx, from origin, o about, a acquirer.Response) (bool, error) {
	if !a.Approved || from.look != nil || o.Transaction != 0 {
		return false, nil
	}
	return mustLook(tx, o, a, false)
}

// endLook ends the pending reversal of a step that was open until this command. Only an unlinked
// refund can have one. An approval ends it, whichever attempt received the approval. Otherwise
// recovery would request that the acquirer drop the refund. A decline ends only the look that found
// it.
func endLook(tx *store.Tx, from origin, o about, approved bool) error {
	switch {
	case approved && o.Transaction == 0:
		_, err := tx.RemoveReversal(o.StepID)
		return err
	case from.look != nil:
		return tx.EndReversal(from.look)
	}
	return nil
}

// contested reports whether an attempt at an open step other than from may still be under way. It
// locks a step that recovery has not reclaimed, so that recovery cannot reclaim it before the
// commit.
func contested(tx *store.Tx, from origin, o about) (bool, error) {
	if from.recovery {
		return from.look == nil, nil
	}
	err := tx.LockUnreclaimed(o.StepID, o.account)
	if errors.Is(err, store.ErrConflict) { // it was reclaimed, or has ended: then the write fails
		return true, nil
	}
	return false, err
}

// declined returns the response to a declined capture, void or refund. With look it writes a
// pending look for an effect of another attempt.
func (e *Engine) declined(tx *store.Tx, request string, o about, refused *payment.Refusal, look bool) (Result, error) {
	if look {
		r := o.reversal(tx.Now)
		r.Acknowledge(tx.Now) // there is nothing to release
		if err := tx.InsertReversal(r); err != nil {
			return Result{}, err
		}
	}
	if o.Transaction == 0 {
		return e.refused(request, refused, nil), nil
	}
	t, err := tx.Transaction(o.tenant, o.Transaction)
	if err != nil {
		return Result{}, err
	}
	return e.refused(request, refused, t), nil
}

// transactionOf reads the transaction of a capture, void or refund that stays open. Recovery claims
// the step once its request has returned. It returns nil for an unlinked refund, and if the
// transaction cannot be read.
func (e *Engine) transactionOf(ctx context.Context, o about) *payment.Transaction {
	if o.Transaction == 0 {
		return nil
	}
	t, err := e.Store.Transaction(context.WithoutCancel(ctx), o.tenant, o.Transaction)
	if err != nil {
		e.Log.ErrorContext(ctx, "step: the response does not show the transaction, because it could not be read",
			slog.String("reference", o.reference), slog.Any("error", err))
		return nil
	}
	return t
}

// correctFollow is step.correct of a capture, void or refund in a state. record writes the step and
// its events; store.ErrConflict if the amount is no longer available.
func correctFollow(
	tx *store.Tx, o about, state payment.StepState, a acquirer.Response, look *payment.Reversal,
	record func() (Result, error),
) (Result, correction, error) {
	if state != payment.StepFailed {
		return Result{}, notClosed, nil
	}
	if look == nil {
		if must, err := mustLook(tx, o, a, true); err != nil || must {
			return Result{}, leftToLook, err
		}
	}
	out, err := record()
	if !errors.Is(err, store.ErrConflict) {
		return out, recorded, err
	}
	if look != nil {
		if err := noOtherStep(tx, o); err != nil {
			return Result{}, "", err
		}
	}
	return Result{}, notRecordable, nil
}

// errOtherStep: the transaction has another step in progress. The effect that a look has found can
// be of that step. Only its end shows whether the effect can be recorded.
var errOtherStep = fmt.Errorf("%w: another step of the transaction is in progress", errStillOpen)

// noOtherStep returns errOtherStep if a transaction has a step in progress. The caller's step is
// closed.
func noOtherStep(tx *store.Tx, o about) error {
	if o.Transaction == 0 {
		return nil
	}
	t, err := tx.TransactionForUpdate(o.tenant, o.Transaction)
	if err == nil && t.Operation != "" {
		err = errOtherStep
	}
	return err
}
