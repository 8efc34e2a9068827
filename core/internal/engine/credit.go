package engine

import (
	"context"
	"errors"
	"log/slog"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// ErrUnlinkedRefunds reports that the merchant may not make unlinked refunds.
var ErrUnlinkedRefunds = errors.New("engine: unlinked refunds are not allowed to this merchant")

// Credit is a validated request to pay money to a card or bank account without a payment before it.
type Credit struct {
	Amount          int64 // minor units
	Currency        string
	PaymentMethod   string
	acquirer.Source       // lives as long as the call
	Drawn           Drawn // where the source comes from in the store
	Order           acquirer.Order
	Details         []byte
}

// Credit makes a refund without a transaction. Only the first attempt has the account number, so
// recovery cannot send it again. A lost refund stays pending for payment.LateWindow, while its
// pending reversal looks for it.
func (e *Engine) Credit(ctx context.Context, r Request, c Credit) (Result, error) {
	defer e.running.enter(ctx, r)()
	routes, tag, err := e.route(ctx, r.Tenant, c.Currency, c.Source)
	if err != nil {
		return e.unsent(ctx, r, err)
	}
	f := &payment.Refund{
		Tenant: r.Tenant, Amount: c.Amount, Currency: c.Currency, Details: c.Details, Client: r.client(),
		Account: routes[0].ID, Tag: tag,
	}
	s, w := &creditStep{refundStep{e, f}, c}, e.inFlight.request()
	defer w.end()
	done, err := e.intent(ctx, r, func(tx *store.Tx, claim int64) (*Result, error) {
		f.Claim = claim
		err := e.beginCredit(tx, f, c.Drawn)
		w.of(s.about().StepID)
		return nil, err
	})
	if err != nil || done != nil {
		return value(done), err
	}
	sent := acquirer.Credit{
		Reference: refundReference(f), Tag: tag, Amount: f.Amount, Currency: f.Currency, Source: c.Source, Order: c.Order,
	}
	return e.take(ctx, r.ID, s, func(ctx context.Context) (acquirer.Response, error) { return routes[0].Credit(ctx, sent) })
}

// beginCredit writes the intent of a refund of no transaction, where that is allowed, and announces
// it.
func (e *Engine) beginCredit(tx *store.Tx, f *payment.Refund, from Drawn) error {
	allowed, err := tx.UnlinkedRefunds(f.Tenant.Merchant)
	if err != nil {
		return err
	}
	if !allowed {
		return ErrUnlinkedRefunds
	}
	f.ID = e.IDs.Next()
	if err := tx.InsertCredit(f); err != nil {
		return err
	}
	if err := e.draw(tx, f.Tenant, from, f.ID); err != nil {
		return err
	}
	return tx.InsertEvent(e.event("refund.created", f.Tenant, f.ID, 1, e.shown(f)))
}

// creditStep is the step of a refund without a transaction. Only the first attempt has the account
// number, so recovery inquires.
type creditStep struct {
	refundStep
	c Credit // the zero Credit in recovery
}

func (s *creditStep) about() about {
	o := s.refundStep.about()
	o.method, o.secrets, o.details = s.c.PaymentMethod, s.c.Drawn.secrets, s.f.Details
	return o
}

func (s *creditStep) attempt(ctx context.Context, acq acquirer.Acquirer, _ bool) (acquirer.Response, error) {
	a, err := acq.Inquire(ctx, sentRefund(s.f))
	if err == nil && a.Released {
		err = acquirer.ErrNotFound
	}
	return a, err
}

// missing writes a pending reversal of a refund that the acquirer does not have. The refund stays
// pending and keeps its idempotency key: it may still arrive, and a retry must not give the money a
// second time.
func (s *creditStep) missing(ctx context.Context) error {
	s.Log.WarnContext(ctx, "recovery: no effect at the acquirer of the unlinked refund", slog.String("refund", refundReference(s.f)))
	return s.Store.Update(ctx, func(tx *store.Tx) error {
		f, err := tx.Refund(s.f.Tenant, s.f.ID)
		if err != nil || f.State != payment.StepPending {
			return err
		}
		return tx.InsertReversal(s.about().reversal(tx.Now))
	})
}

// newRefundStep returns the step of a stored refund.
func (e *Engine) newRefundStep(f *payment.Refund) step {
	if f.Transaction == 0 {
		return &creditStep{refundStep: refundStep{e, f}}
	}
	return &refundStep{e, f}
}
