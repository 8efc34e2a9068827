package engine

import (
	"cmp"
	"context"
	"errors"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// Void releases an authorization, cancels a capture that has not settled, or cancels a payment that
// was not confirmed. It is refused if the transaction has another version than expected. A nil
// expected matches every version.
func (e *Engine) Void(ctx context.Context, r Request, transaction int64, expected *int64) (Result, error) {
	defer e.running.enter(ctx, r)()
	account, tag, err := e.follower(ctx, r.Tenant, transaction)
	if err != nil {
		return e.unsent(ctx, r, err)
	}
	var t *payment.Transaction
	begun, w := &payment.Transaction{
		ID: transaction, Tenant: r.Tenant, OperationID: e.IDs.Next(), Account: account.ID, VoidTag: tag, Voider: r.client(),
	}, e.inFlight.request()
	defer w.end()
	done, err := e.intent(ctx, r, func(tx *store.Tx, claim int64) (*Result, error) {
		w.of(voidStepID(begun))
		begun.Claim = claim
		err := tx.BeginVoid(begun, expected)
		if errors.Is(err, store.ErrConflict) {
			return e.voidOther(tx, r, begun, expected)
		}
		if err != nil {
			return nil, err
		}
		t, err = tx.Transaction(r.Tenant, transaction)
		return nil, err
	})
	if err != nil || done != nil {
		return value(done), err
	}
	return e.takeFirst(ctx, r.ID, &voidStep{e, t}, account.Acquirer)
}

// voidOther returns the response to a void that needs no request to the acquirer. It cancels a
// payment that was not confirmed, and refuses all others.
func (e *Engine) voidOther(tx *store.Tx, r Request, v *payment.Transaction, expected *int64) (*Result, error) {
	done, err := e.cancelWaiting(tx, r, v.ID, expected)
	if errors.Is(err, store.ErrConflict) {
		return e.refuse(tx, r, v.ID, func(t *payment.Transaction) *payment.Refusal {
			return cmp.Or(t.WhyNoVoidOf(expected), moved(t, v.Account))
		})
	}
	return done, err
}

// voidStep is the step of a void, whose id is the transaction's OperationID.
type voidStep struct {
	*Engine
	t *payment.Transaction
}

func (s *voidStep) about() about {
	return about{
		StepID: voidStepID(s.t), tenant: s.t.Tenant, claim: s.t.Claim,
		account: s.t.Account, tag: s.t.VoidTag, reference: voidReference(s.t), amount: s.t.Authorized, currency: s.t.Currency,
	}
}

// voidStepID names the step of the void that a transaction is in.
func voidStepID(t *payment.Transaction) payment.StepID {
	return payment.StepID{Kind: payment.VoidStep, Transaction: t.ID, ID: t.OperationID}
}

func (s *voidStep) attempt(ctx context.Context, acq acquirer.Acquirer, repeated bool) (acquirer.Response, error) {
	captures, err := s.standing(ctx, s.t)
	if err != nil {
		return acquirer.Response{}, unread(err, repeated)
	}
	return acq.Void(ctx, acquirer.Follow{
		Reference: voidReference(s.t), Tag: s.t.VoidTag, Again: repeated, Original: sentAuthorization(s.t),
		Captures: captures, Amount: s.t.Authorized, Currency: s.t.Currency, Last4: last4(s.t.Details),
	})
}

func (s *voidStep) commit(ctx context.Context, from origin, a acquirer.Response) (Result, error) {
	return s.commitFollow(ctx, from, s, a, s.write)
}

func (s *voidStep) write(tx *store.Tx, refused *payment.Refusal) (Result, error) {
	if err := tx.EndVoid(s.t.ID, s.t.OperationID, refused == nil); err != nil || refused != nil {
		return Result{}, err
	}
	return s.became(tx, s.t.Tenant, s.t.ID)
}

func (s *voidStep) cancel(tx *store.Tx) error {
	_, err := s.write(tx, unavailable())
	return err
}

func (s *voidStep) missing(ctx context.Context) error { return s.missingFollow(ctx, s, s.write) }

func (s *voidStep) leave(ctx context.Context) *payment.Transaction {
	return s.transactionOf(ctx, s.about())
}

func (s *voidStep) correct(tx *store.Tx, a acquirer.Response, look *payment.Reversal) (Result, correction, error) {
	t, err := tx.Transaction(s.t.Tenant, s.t.ID)
	if err != nil {
		return Result{}, "", err
	}
	return correctFollow(tx, s.about(), voidState(t, s.t.OperationID), a, look, func() (Result, error) {
		if err := tx.CorrectVoid(s.t.ID); err != nil {
			return Result{}, err
		}
		return s.became(tx, s.t.Tenant, s.t.ID)
	})
}

// voidState returns the state of a void by its transaction.
func voidState(t *payment.Transaction, operation int64) payment.StepState {
	switch {
	case t.Status == payment.Voided, t.Status == payment.Expired: // nothing is held
		return payment.StepSucceeded
	case t.Operation == payment.VoidOperation && t.OperationID == operation:
		return payment.StepPending
	}
	return payment.StepFailed
}
