package engine

import (
	"context"
	"errors"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// Refund gives amount (0 for all that is left) of a captured transaction back.
func (e *Engine) Refund(ctx context.Context, r Request, transaction, amount int64, details []byte) (Answer, error) {
	return e.RefundCapture(ctx, r, transaction, 0, amount, details)
}

// RefundCapture is Refund of one capture, whose own remainder is then a limit too. A capture of 0 names none; ErrCaptureNotFound when the
// transaction has no such capture.
func (e *Engine) RefundCapture(ctx context.Context, r Request, transaction, capture, amount int64, details []byte) (Answer, error) {
	acq, err := e.follower(ctx, r.Tenant, transaction)
	if err != nil {
		return Answer{}, err
	}
	defer e.enter(ctx, r)()
	f := &payment.Refund{Transaction: transaction, Capture: capture, Tenant: r.Tenant, Amount: amount, Details: details}
	done, err := e.intent(ctx, r, func(tx *store.Tx, claim int64) (*Answer, error) {
		f.Claim, f.Capture, f.Amount = claim, capture, amount
		err := e.beginRefund(tx, f)
		if errors.Is(err, store.ErrConflict) {
			return e.refuseRefund(tx, r, f, amount)
		}
		return nil, err
	})
	if err != nil || done != nil {
		return value(done), e.abandon(err, refundReference(f))
	}
	return e.askRefund(ctx, origin{request: r.ID}, acq, f)
}

// beginRefund reserves the amount, resolves "all that is left", and announces the refund.
func (e *Engine) beginRefund(tx *store.Tx, f *payment.Refund) error {
	if f.Amount == 0 {
		t, err := tx.TransactionForUpdate(f.Tenant, f.Transaction)
		if errors.Is(err, store.ErrNotFound) {
			return store.ErrConflict
		}
		if err != nil {
			return err
		}
		f.Amount = t.Refundable()
		if f.Capture != 0 {
			c, err := tx.Capture(f.Tenant, f.Capture)
			if errors.Is(err, store.ErrNotFound) {
				return store.ErrConflict
			}
			if err != nil {
				return err
			}
			f.Amount = min(f.Amount, c.Refundable())
		}
	}
	if err := e.insertNew(func(id int64) error { f.ID = id; return tx.BeginRefund(f) }); err != nil {
		return err
	}
	return tx.InsertEvent(e.event("refund.created", f.Tenant, f.ID, 1, e.Present.Refund(f).Body))
}

// refuseRefund says why there is no refund: by the capture it names, or else by the transaction.
func (e *Engine) refuseRefund(tx *store.Tx, r Request, f *payment.Refund, amount int64) (*Answer, error) {
	var ofCapture *payment.Refusal
	if f.Capture != 0 {
		c, err := tx.Capture(f.Tenant, f.Capture)
		if errors.Is(err, store.ErrNotFound) || err == nil && c.Transaction != f.Transaction {
			if _, err := tx.Transaction(r.Tenant, f.Transaction); errors.Is(err, store.ErrNotFound) {
				return nil, ErrNotFound
			}
			return nil, ErrCaptureNotFound
		}
		if err != nil {
			return nil, err
		}
		ofCapture = c.WhyNoRefund(amount)
	}
	return e.refuse(tx, r, f.Transaction, func(t *payment.Transaction) *payment.Refusal {
		if why := t.WhyNoRefund(amount); why != nil {
			return why
		}
		return ofCapture
	})
}

// askRefund asks the acquirer for a pending refund and commits its word. The reference makes asking again safe.
func (e *Engine) askRefund(ctx context.Context, from origin, acq acquirer.Acquirer, f *payment.Refund) (Answer, error) {
	a, err := call(ctx, func(ctx context.Context) (acquirer.Answer, error) {
		authorization, err := e.authorizationOf(ctx, f.Tenant, f.Transaction)
		if err != nil {
			return acquirer.Answer{}, err
		}
		return acq.Refund(ctx, acquirer.Follow{
			Reference: refundReference(f), Authorization: authorization, Amount: f.Amount, Currency: f.Currency,
		})
	})
	return e.ended(ctx, from, step{tenant: f.Tenant, transaction: f.Transaction, claim: f.Claim, reference: refundReference(f)}, a, err,
		func(tx *store.Tx, refused *payment.Refusal) (Answer, error) { return e.refunded(tx, f, refused) })
}

// refunded writes and announces what became of a pending refund.
func (e *Engine) refunded(tx *store.Tx, f *payment.Refund, refused *payment.Refusal) (Answer, error) {
	f.State = payment.StepSucceeded
	if refused != nil {
		f.State, f.FailureCode, f.FailureMessage = payment.StepFailed, refused.Code, refused.Message
	}
	if err := tx.EndRefund(f); err != nil {
		return Answer{}, err
	}
	answer := e.Present.Refund(f)
	return answer, tx.InsertEvent(e.event("refund."+string(f.State), f.Tenant, f.ID, 2, answer.Body))
}
