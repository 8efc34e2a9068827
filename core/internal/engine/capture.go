package engine

import (
	"context"
	"errors"
	"log/slog"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// Capture takes amount (0 for all that is left) of an authorized transaction; final releases the rest.
func (e *Engine) Capture(ctx context.Context, r Request, transaction, amount int64, final bool, details []byte) (Answer, error) {
	acq, err := e.follower(ctx, r.Tenant, transaction)
	if err != nil {
		return Answer{}, err
	}
	defer e.enter(ctx, r)()
	c := &payment.Capture{Transaction: transaction, Tenant: r.Tenant, Amount: amount, Final: final, Details: details}
	done, err := e.intent(ctx, r, func(tx *store.Tx, claim int64) (*Answer, error) {
		c.Claim = claim
		err := e.insertNew(func(id int64) error { c.ID, c.Amount = id, amount; return tx.BeginCapture(c) })
		if errors.Is(err, store.ErrConflict) {
			return e.refuse(tx, r, transaction, func(t *payment.Transaction) *payment.Refusal { return t.WhyNoCapture(amount) })
		}
		return nil, err
	})
	if err != nil || done != nil {
		return value(done), e.abandon(err, captureReference(c))
	}
	return e.askCapture(ctx, origin{request: r.ID}, acq, c)
}

// askCapture asks the acquirer for a pending capture and commits its word. The reference makes asking again safe.
func (e *Engine) askCapture(ctx context.Context, from origin, acq acquirer.Acquirer, c *payment.Capture) (Answer, error) {
	a, err := call(ctx, func(ctx context.Context) (acquirer.Answer, error) {
		authorization, err := e.authorizationOf(ctx, c.Tenant, c.Transaction)
		if err != nil {
			return acquirer.Answer{}, err
		}
		return acq.Capture(ctx, acquirer.Follow{
			Reference: captureReference(c), Authorization: authorization, Amount: c.Amount, Currency: c.Currency,
		})
	})
	return e.ended(ctx, from, step{tenant: c.Tenant, transaction: c.Transaction, claim: c.Claim, reference: captureReference(c)}, a, err,
		func(tx *store.Tx, refused *payment.Refusal) (Answer, error) {
			c.State = payment.StepSucceeded
			if refused != nil {
				c.State, c.FailureCode, c.FailureMessage = payment.StepFailed, refused.Code, refused.Message
			}
			if err := tx.EndCapture(c); err != nil {
				return Answer{}, err
			}
			return e.captured(tx, c)
		})
}

// captured announces a capture that was taken.
func (e *Engine) captured(tx *store.Tx, c *payment.Capture) (Answer, error) {
	if c.State != payment.StepSucceeded {
		return Answer{}, nil
	}
	t, err := tx.Transaction(c.Tenant, c.Transaction)
	if err != nil {
		return Answer{}, err
	}
	answer := e.Present.Capture(c)
	if err := tx.InsertEvent(e.event("capture.created", c.Tenant, c.ID, 1, answer.Body)); err != nil {
		return Answer{}, err
	}
	return answer, tx.InsertEvent(
		e.event("transaction."+string(t.Status), t.Tenant, t.ID, t.Version, e.Present.Transaction(t).Body))
}

// origin is who asks for a step: a request, or recovery again.
type origin struct {
	request string
	again   bool
}

// step names a follow-up on a transaction while its outcome is committed.
type step struct {
	tenant      payment.Tenant
	transaction int64 // 0 for none
	claim       int64
	reference   string
}

// acquirerDeclined is the code of a capture, void or refund that the acquirer refused.
const acquirerDeclined = "acquirer_declined"

// ended commits the acquirer's word on a capture, void or refund: write changes the objects and returns the answer of success; a
// refusal is answered here. An answer that did not come leaves the step open for recovery.
func (e *Engine) ended(ctx context.Context, from origin, s step, a acquirer.Answer, err error,
	write func(tx *store.Tx, refused *payment.Refusal) (Answer, error),
) (Answer, error) {
	// When it is asked again, that the acquirer is away says nothing of what it did the first time.
	if err != nil && (from.again || !errors.Is(err, acquirer.ErrUnavailable)) {
		return e.lostStep(ctx, from.request, s, err)
	}
	var refused *payment.Refusal
	if err == nil && !a.Approved {
		refused = &payment.Refusal{Code: acquirerDeclined, Message: "The acquirer declined this step (response code " + a.ResponseCode + ")."}
	}
	unavailable := err != nil
	if unavailable {
		refused = &payment.Refusal{Code: "acquirer_unavailable", Message: "The acquirer could not be asked; nothing was changed."}
	}
	var out Answer
	err = e.Store.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		var err error
		if out, err = write(tx, refused); err != nil {
			return err
		}
		if unavailable {
			return tx.ReleaseKey(s.claim)
		}
		if refused != nil {
			t, err := s.follows(tx.Transaction)
			if err != nil {
				return err
			}
			out = e.Present.Refused(from.request, refused, t)
		}
		return tx.CompleteKey(s.claim, out.Status, out.Body)
	})
	if err != nil {
		return e.lostStep(ctx, from.request, s, err)
	}
	if unavailable {
		return Answer{}, ErrAcquirerUnavailable
	}
	return out, nil
}

// lostStep answers a follow-up whose outcome is not known or not committed; recovery will ask again.
func (e *Engine) lostStep(ctx context.Context, requestID string, s step, cause error) (Answer, error) {
	e.giveUp(s.reference)
	e.Log.ErrorContext(ctx, "follow-up: outcome open", slog.String("reference", s.reference), slog.Any("error", cause))
	t, err := s.follows(func(tenant payment.Tenant, id int64) (*payment.Transaction, error) {
		return e.Store.Transaction(context.WithoutCancel(ctx), tenant, id)
	})
	if err != nil {
		return Answer{}, err
	}
	return e.lostAnswer(requestID, t), nil
}

// follows reads the transaction that a step is on, nil for a step that is on none.
func (s step) follows(read func(payment.Tenant, int64) (*payment.Transaction, error)) (*payment.Transaction, error) {
	if s.transaction == 0 {
		return nil, nil //nolint:nilnil // there is none, and none is shown
	}
	return read(s.tenant, s.transaction)
}
