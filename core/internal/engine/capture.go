package engine

import (
	"cmp"
	"context"
	"errors"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// Capture takes amount (0 for all that is left) of an authorized transaction. With final, the
// acquirer releases the rest in the same request. A capture that leaves no rest is final, too. Each
// capture is final at an account that captures once. Recovery repeats the request with the same
// flag: no other capture can begin before this one ends.
func (e *Engine) Capture(
	ctx context.Context, r Request, transaction, amount int64, final bool, details []byte,
) (Result, error) {
	defer e.running.enter(ctx, r)()
	account, tag, err := e.follower(ctx, r.Tenant, transaction)
	if err != nil {
		return e.unsent(ctx, r, err)
	}
	c := &payment.Capture{
		Transaction: transaction, Tenant: r.Tenant, Amount: amount, Details: details, Client: r.client(),
		Final: final || account.CapturesOnce, Account: account.ID, Tag: tag,
	}
	s, w := &captureStep{e, c}, e.inFlight.request()
	defer w.end()
	done, err := e.intent(ctx, r, func(tx *store.Tx, claim int64) (*Result, error) {
		c.Claim, c.ID, c.Amount = claim, e.IDs.Next(), amount
		w.of(s.about().StepID)
		err := tx.BeginCapture(c)
		if errors.Is(err, store.ErrConflict) {
			return e.refuse(tx, r, transaction, func(t *payment.Transaction) *payment.Refusal {
				return cmp.Or(t.WhyNoCapture(amount), moved(t, c.Account))
			})
		}
		return nil, err
	})
	if err != nil || done != nil {
		return value(done), err
	}
	return e.takeFirst(ctx, r.ID, s, account.Acquirer)
}

// captureStep is the step of a capture.
type captureStep struct {
	*Engine
	c *payment.Capture
}

func (s *captureStep) about() about {
	return about{
		StepID: captureStepID(s.c), tenant: s.c.Tenant, claim: s.c.Claim,
		account: s.c.Account, tag: s.c.Tag, reference: captureReference(s.c), amount: s.c.Amount, currency: s.c.Currency, captured: true,
	}
}

// captureStepID names the step of a capture.
func captureStepID(c *payment.Capture) payment.StepID {
	return payment.StepID{Kind: payment.CaptureStep, Transaction: c.Transaction, ID: c.ID}
}

func (s *captureStep) attempt(
	ctx context.Context, acq acquirer.Acquirer, repeated bool,
) (acquirer.Response, error) {
	t, err := s.Store.Transaction(ctx, s.c.Tenant, s.c.Transaction)
	if err != nil {
		return acquirer.Response{}, unread(err, repeated)
	}
	captures, err := s.standing(ctx, t)
	if err != nil {
		return acquirer.Response{}, unread(err, repeated)
	}
	last := t.Captured+s.c.Amount == t.Authorized
	return acq.Capture(ctx, acquirer.Follow{
		Reference: captureReference(s.c), Tag: s.c.Tag, Again: repeated, Original: sentAuthorization(t), Captures: captures,
		Amount: s.c.Amount, Currency: s.c.Currency, Final: s.c.Final || last, Last4: last4(t.Details),
	})
}

func (s *captureStep) commit(ctx context.Context, from origin, a acquirer.Response) (Result, error) {
	s.c.AcquirerID = a.ID
	return s.commitFollow(ctx, from, s, a, s.write)
}

// write writes the outcome and announces a capture that was taken.
func (s *captureStep) write(tx *store.Tx, refused *payment.Refusal) (Result, error) {
	s.c.State = payment.StepSucceeded
	if refused != nil {
		s.c.State, s.c.FailureCode, s.c.FailureMessage = payment.StepFailed, refused.Code, refused.Message
	}
	if err := tx.EndCapture(s.c); err != nil || refused != nil {
		return Result{}, err
	}
	return s.announceCapture(tx, s.c)
}

// announceCapture writes the events of a capture that was taken, and returns the response to it.
func (e *Engine) announceCapture(tx *store.Tx, c *payment.Capture) (Result, error) {
	t, err := tx.Transaction(c.Tenant, c.Transaction)
	if err != nil {
		return Result{}, err
	}
	result := e.created(c)
	if err := tx.InsertEvent(e.event("capture.created", c.Tenant, c.ID, 1, result.Body)); err != nil {
		return Result{}, err
	}
	return result, tx.InsertEvent(
		e.event("transaction."+string(t.Status), t.Tenant, t.ID, t.Version, e.shown(t)))
}

func (s *captureStep) cancel(tx *store.Tx) error {
	_, err := s.write(tx, unavailable())
	return err
}

func (s *captureStep) missing(ctx context.Context) error { return s.missingFollow(ctx, s, s.write) }

func (s *captureStep) leave(ctx context.Context) *payment.Transaction {
	return s.transactionOf(ctx, s.about())
}

func (s *captureStep) correct(tx *store.Tx, a acquirer.Response, look *payment.Reversal) (Result, correction, error) {
	c, err := tx.Capture(s.c.Tenant, s.c.ID)
	if err != nil {
		return Result{}, "", err
	}
	return correctFollow(tx, s.about(), c.State, a, look, func() (Result, error) {
		c.AcquirerID = a.ID
		if err := tx.CorrectCapture(c); err != nil {
			return Result{}, err
		}
		return s.announceCapture(tx, c)
	})
}
