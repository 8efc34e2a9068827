package engine

import (
	"context"
	"errors"
	"log/slog"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// ErrUnlinkedRefunds says that the merchant may not give money to where it took none from.
var ErrUnlinkedRefunds = errors.New("engine: unlinked refunds are not allowed to this merchant")

// Credit is a validated wish to give money to a card or bank account without a payment before it.
type Credit struct {
	Amount          int64 // minor units
	Currency        string
	PaymentMethod   string
	acquirer.Source       // lives as long as the call
	Drawn           Drawn // where the source comes from in the store
	Details         []byte
}

// Credit makes a refund that is of no transaction. Only the one call to the acquirer has the number to pay to: one that is lost is not
// asked for again but looked for, and reversed where it is not found.
func (e *Engine) Credit(ctx context.Context, r Request, c Credit) (Answer, error) {
	acq, err := e.acquirer(r.Tenant)
	if err != nil {
		return Answer{}, err
	}
	defer e.enter(ctx, r)()
	f := &payment.Refund{Tenant: r.Tenant, Amount: c.Amount, Currency: c.Currency, Details: c.Details}
	done, err := e.intent(ctx, r, func(tx *store.Tx, claim int64) (*Answer, error) {
		f.Claim = claim
		return nil, e.beginCredit(tx, f, c.Drawn)
	})
	if err != nil || done != nil {
		return value(done), e.abandon(err, refundReference(f))
	}
	a, err := call(ctx, func(ctx context.Context) (acquirer.Answer, error) {
		return acq.Credit(ctx, acquirer.Credit{Reference: refundReference(f), Amount: f.Amount, Currency: f.Currency, Source: c.Source})
	})
	if errors.Is(err, acquirer.ErrUnavailable) {
		return Answer{}, e.takeBackCredit(ctx, f, c)
	}
	return e.endedCredit(ctx, origin{request: r.ID}, f, a, err)
}

// beginCredit writes the intent of a refund of no transaction, where that is allowed, and announces it.
func (e *Engine) beginCredit(tx *store.Tx, f *payment.Refund, from Drawn) error {
	allowed, err := tx.UnlinkedRefunds(f.Tenant.Merchant)
	if err != nil {
		return err
	}
	if !allowed {
		return ErrUnlinkedRefunds
	}
	if err := e.insertNew(func(id int64) error { f.ID = id; return tx.InsertCredit(f) }); err != nil {
		return err
	}
	if err := e.draw(tx, f.Tenant, from, f.ID); err != nil {
		return err
	}
	return tx.InsertEvent(e.event("refund.created", f.Tenant, f.ID, 1, e.Present.Refund(f).Body))
}

// endedCredit commits the acquirer's word on a refund of no transaction, or leaves it to recovery.
func (e *Engine) endedCredit(ctx context.Context, from origin, f *payment.Refund, a acquirer.Answer, err error) (Answer, error) {
	s := step{tenant: f.Tenant, claim: f.Claim, reference: refundReference(f)}
	return e.ended(ctx, from, s, a, err, func(tx *store.Tx, refused *payment.Refusal) (Answer, error) { return e.refunded(tx, f, refused) })
}

// takeBackCredit closes a refund that the acquirer certainly never saw, and frees its key and its token.
func (e *Engine) takeBackCredit(ctx context.Context, f *payment.Refund, c Credit) error {
	refused := &payment.Refusal{Code: "acquirer_unavailable", Message: "The acquirer could not be asked; nothing was changed."}
	of := &payment.Transaction{Tenant: f.Tenant, PaymentMethod: c.PaymentMethod}
	err := e.returned(of, c.Drawn.secrets, func(token int64, sealed payment.Sealed) error {
		return e.Store.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error {
			if _, err := e.refunded(tx, f, refused); err != nil {
				return err
			}
			if token != 0 {
				if err := tx.ReturnToken(token, f.ID, sealed); err != nil {
					return err
				}
			}
			return tx.ReleaseKey(f.Claim)
		})
	})
	if err != nil {
		return e.abandon(err, refundReference(f))
	}
	return ErrAcquirerUnavailable
}

// reconcileCredit asks the acquirer what became of a refund of no transaction. One that it does not know is reversed, so that it cannot arrive
// late, and then closed: nobody has the number any more to ask for it again.
func (e *Engine) reconcileCredit(ctx context.Context, acq acquirer.Acquirer, f *payment.Refund) error {
	a, err := call(ctx, func(ctx context.Context) (acquirer.Answer, error) { return acq.Inquire(ctx, refundReference(f)) })
	if !errors.Is(err, acquirer.ErrNotFound) {
		return finished(e.endedCredit(ctx, e.again(), f, a, err))
	}
	a, err = call(ctx, func(ctx context.Context) (acquirer.Answer, error) {
		return acq.Void(ctx, acquirer.Follow{
			Reference: "reverse_" + refundReference(f), Authorization: refundReference(f), Amount: f.Amount, Currency: f.Currency,
		})
	})
	if err != nil || !a.Approved {
		return errStillOpen
	}
	e.Log.WarnContext(ctx, "reconcile: refund had no effect", slog.String("refund", refundReference(f)))
	refused := &payment.Refusal{Code: "not_processed", Message: "The acquirer never processed this refund; no money was moved."}
	return e.Store.Update(ctx, func(tx *store.Tx) error {
		if _, err := e.refunded(tx, f, refused); err != nil {
			return err
		}
		return tx.ReleaseKey(f.Claim)
	})
}
