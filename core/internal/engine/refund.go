package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// ErrCaptureNotFound reports that the transaction has no such capture. The request had no effect
// and has no response to store.
var ErrCaptureNotFound = errors.New("engine: capture not found")

// Refund refunds amount of a captured transaction, or with 0 the whole rest. One refund is one
// request to the acquirer, so that it cannot end half-way. So it gives back one capture: the given
// one, or with 0 one that has the amount left. The intent has the capture, and recovery repeats the
// same refund. Refund returns ErrCaptureNotFound if the transaction has no such capture.
func (e *Engine) Refund(
	ctx context.Context, r Request, transaction, capture, amount int64, details []byte,
) (Result, error) {
	defer e.running.enter(ctx, r)()
	account, tag, err := e.follower(ctx, r.Tenant, transaction)
	if err != nil {
		return e.unsent(ctx, r, err)
	}
	f := &payment.Refund{
		Transaction: transaction, Capture: capture, Tenant: r.Tenant, Amount: amount, Details: details, Client: r.client(),
		Account: account.ID, Tag: tag,
	}
	s, w := &refundStep{e, f}, e.inFlight.request()
	defer w.end()
	done, err := e.intent(ctx, r, func(tx *store.Tx, claim int64) (*Result, error) {
		f.Claim, f.Capture, f.Amount = claim, capture, amount
		err := e.beginRefund(tx, f)
		w.of(s.about().StepID)
		if errors.Is(err, store.ErrConflict) {
			return e.refuseRefund(tx, r, f, amount)
		}
		return nil, err
	})
	if err != nil || done != nil {
		return value(done), err
	}
	return e.takeFirst(ctx, r.ID, s, account.Acquirer)
}

// beginRefund reserves the amount, replaces 0 by the rest, and announces the refund.
func (e *Engine) beginRefund(tx *store.Tx, f *payment.Refund) error {
	if f.Amount == 0 {
		t, err := tx.TransactionForUpdate(f.Tenant, f.Transaction)
		if errors.Is(err, payment.ErrNotFound) {
			return store.ErrConflict
		}
		if err != nil {
			return err
		}
		f.Amount = t.Refundable()
		if f.Capture != 0 {
			c, err := tx.Capture(f.Tenant, f.Capture)
			if errors.Is(err, payment.ErrNotFound) {
				return store.ErrConflict
			}
			if err != nil {
				return err
			}
			f.Amount = min(f.Amount, c.Refundable())
		}
	}
	f.ID = e.IDs.Next()
	if err := tx.BeginRefund(f); err != nil {
		return err
	}
	return tx.InsertEvent(e.event("refund.created", f.Tenant, f.ID, 1, e.shown(f)))
}

// refuseRefund returns why the refund is refused: because of the transaction, of the named capture,
// or because no capture has the amount left.
func (e *Engine) refuseRefund(tx *store.Tx, r Request, f *payment.Refund, amount int64) (*Result, error) {
	var ofCapture *payment.Refusal
	if f.Capture == 0 {
		captures, err := tx.StandingCaptures(r.Tenant, f.Transaction)
		if err != nil {
			return nil, err
		}
		ofCapture = whyNoSingle(captures, amount)
	} else {
		c, err := tx.Capture(f.Tenant, f.Capture)
		if errors.Is(err, payment.ErrNotFound) || err == nil && c.Transaction != f.Transaction {
			if _, err := tx.Transaction(r.Tenant, f.Transaction); errors.Is(err, payment.ErrNotFound) {
				return nil, err
			}
			return nil, ErrCaptureNotFound
		}
		if err != nil {
			return nil, err
		}
		ofCapture = c.WhyNoRefund(amount)
	}
	return e.refuse(tx, r, f.Transaction, func(t *payment.Transaction) *payment.Refusal {
		return cmp.Or(t.WhyNoRefund(amount), ofCapture, moved(t, f.Account))
	})
}

// whyNoSingle returns why none of several captures can give back amount (0 for the rests of all).
// It returns nil if one can.
func whyNoSingle(captures []*payment.Capture, amount int64) *payment.Refusal {
	const shown = 10
	var rests []string
	var most, sum int64
	for _, c := range captures {
		if rest := c.Refundable(); rest > 0 {
			most, sum = max(most, rest), sum+rest
			rests = append(rests, fmt.Sprintf("%d of %s", rest, captureReference(c)))
		}
	}
	if len(rests) < 2 || cmp.Or(amount, sum) <= most {
		return nil
	}
	if more := len(rests) - shown; more > 0 {
		rests = append(rests[:shown], fmt.Sprintf("and amounts of %d more", more))
	}
	return &payment.Refusal{
		Code: payment.AmountExceedsRefundable, Param: "amount",
		Message: "No single capture has that much left, and a refund gives back one capture. Refund each separately. " +
			"Refundable are " + strings.Join(rests, ", ") + ".",
	}
}

// refundStep is the step of a linked refund.
type refundStep struct {
	*Engine
	f *payment.Refund
}

func (s *refundStep) about() about {
	return about{
		StepID: refundStepID(s.f), tenant: s.f.Tenant, claim: s.f.Claim,
		account: s.f.Account, tag: s.f.Tag, reference: refundReference(s.f), amount: s.f.Amount, currency: s.f.Currency, drawn: s.f.ID,
	}
}

// refundStepID names the step of a refund.
func refundStepID(f *payment.Refund) payment.StepID {
	return payment.StepID{Kind: payment.RefundStep, Transaction: f.Transaction, ID: f.ID}
}

func (s *refundStep) attempt(
	ctx context.Context, acq acquirer.Acquirer, repeated bool,
) (acquirer.Response, error) {
	t, err := s.Store.Transaction(ctx, s.f.Tenant, s.f.Transaction)
	if err != nil {
		return acquirer.Response{}, unread(err, repeated)
	}
	captures, err := s.captures(ctx, t)
	if err != nil {
		return acquirer.Response{}, unread(err, repeated)
	}
	a, err := acq.Refund(ctx, acquirer.Follow{
		Reference: refundReference(s.f), Tag: s.f.Tag, Again: repeated, Original: sentAuthorization(t),
		Captures: captures, Amount: s.f.Amount, Currency: s.f.Currency, Last4: last4(t.Details),
	})
	if err == nil && a.Released { // by the merchant, at the acquirer
		err = acquirer.ErrNotFound
	}
	return a, err
}

// captures returns the capture that the refund gives back. At the acquirer, a sale has none.
func (s *refundStep) captures(ctx context.Context, t *payment.Transaction) ([]acquirer.Sent, error) {
	if t.AutoCapture {
		return nil, nil
	}
	c, err := s.Store.Capture(ctx, s.f.Tenant, s.f.Capture)
	if err != nil {
		return nil, err
	}
	return []acquirer.Sent{sentCapture(c)}, nil
}

func (s *refundStep) commit(ctx context.Context, from origin, a acquirer.Response) (Result, error) {
	s.f.AcquirerID = a.ID
	return s.commitFollow(ctx, from, s, a, s.write)
}

// write writes and announces the outcome of a pending refund.
func (s *refundStep) write(tx *store.Tx, refused *payment.Refusal) (Result, error) {
	s.f.State = payment.StepSucceeded
	if refused != nil {
		s.f.State, s.f.FailureCode, s.f.FailureMessage = payment.StepFailed, refused.Code, refused.Message
	}
	if err := tx.EndRefund(s.f); err != nil {
		return Result{}, err
	}
	result := s.created(s.f)
	return result, tx.InsertEvent(s.event("refund."+string(s.f.State), s.f.Tenant, s.f.ID, 2, result.Body))
}

func (s *refundStep) cancel(tx *store.Tx) error {
	_, err := s.write(tx, unavailable())
	return err
}

func (s *refundStep) missing(ctx context.Context) error { return s.missingFollow(ctx, s, s.write) }

func (s *refundStep) leave(ctx context.Context) *payment.Transaction {
	return s.transactionOf(ctx, s.about())
}

func (s *refundStep) correct(tx *store.Tx, a acquirer.Response, look *payment.Reversal) (Result, correction, error) {
	f, err := tx.Refund(s.f.Tenant, s.f.ID)
	if err != nil {
		return Result{}, "", err
	}
	return correctFollow(tx, s.about(), f.State, a, look, func() (Result, error) {
		f.AcquirerID = a.ID
		if err := tx.CorrectRefund(f); err != nil {
			return Result{}, err
		}
		result := s.created(f)
		return result, tx.InsertEvent(s.event("refund."+string(f.State), f.Tenant, f.ID, 3, result.Body))
	})
}
