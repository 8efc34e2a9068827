package engine

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// sentAuthorization returns the present authorization of a transaction as its acquirer may have it.
// While that has no outcome, the stored id is of an earlier attempt. Afterwards the amount is the
// approved one.
func sentAuthorization(t *payment.Transaction) acquirer.Sent {
	s := acquirer.Sent{
		Kind: acquirer.Authorization, Reference: authorizationReference(t), Tag: t.Tag, Amount: t.Amount, Currency: t.Currency,
	}
	if t.AutoCapture {
		s.Kind = acquirer.Sale
	}
	if !t.Status.Open() {
		s.ID, s.Amount = t.Result.AcquirerID, t.Authorized
	}
	return s
}

func sentCapture(c *payment.Capture) acquirer.Sent {
	return acquirer.Sent{
		Kind: acquirer.Capture, Reference: captureReference(c), Tag: c.Tag, ID: c.AcquirerID, Amount: c.Amount, Currency: c.Currency,
	}
}

func sentRefund(f *payment.Refund) acquirer.Sent {
	s := acquirer.Sent{
		Kind: acquirer.Refund, Reference: refundReference(f), Tag: f.Tag, ID: f.AcquirerID, Amount: f.Amount, Currency: f.Currency,
	}
	if f.Transaction == 0 {
		s.Kind = acquirer.UnlinkedRefund
	}
	return s
}

// sentReversed returns the step of a pending reversal. A capture or void has its Follow.
func (e *Engine) sentReversed(ctx context.Context, r *payment.Reversal) (acquirer.Sent, error) {
	s := acquirer.Sent{
		Reference: stepReference(r.Step), Tag: r.Tag, ID: r.AcquirerID, Amount: r.Amount, Currency: r.Currency,
	}
	switch r.Step.Kind {
	case payment.CaptureStep:
		s.Kind = acquirer.Capture
	case payment.VoidStep:
		s.Kind = acquirer.Void
	case payment.RefundStep:
		s.Kind = acquirer.Refund
		if r.Step.Transaction == 0 {
			s.Kind = acquirer.UnlinkedRefund
		}
	case payment.AuthorizeStep, payment.ReversalStep:
		s.Kind = acquirer.Authorization
		if r.Captured {
			s.Kind = acquirer.Sale
		}
		return s, nil
	}
	if s.Kind != acquirer.Capture && s.Kind != acquirer.Void {
		return s, nil
	}
	t, err := e.Store.Transaction(ctx, r.Tenant, r.Step.Transaction)
	if err != nil {
		return s, err
	}
	captures, err := e.standing(ctx, t)
	s.Follow = &acquirer.Follow{
		Reference: s.Reference, Tag: s.Tag, Original: sentAuthorization(t), Captures: captures,
		Amount: s.Amount, Currency: s.Currency, Last4: last4(t.Details),
	}
	return s, err
}

// standing returns the captures of a transaction that stand, oldest first. A sale has none.
func (e *Engine) standing(ctx context.Context, t *payment.Transaction) ([]acquirer.Sent, error) {
	if t.AutoCapture || t.Captured == 0 {
		return nil, nil
	}
	found, err := e.Store.StandingCaptures(ctx, t.Tenant, t.ID)
	if err != nil {
		return nil, err
	}
	out := make([]acquirer.Sent, 0, len(found))
	for _, c := range found {
		out = append(out, sentCapture(c))
	}
	return out, nil
}

// last4 returns the last digits of the payment source that an object's details show, "" if they
// show none.
func last4(details []byte) string {
	type source struct {
		Last4 string `json:"last4"`
	}
	var d struct {
		Card         source `json:"card"`
		NetworkToken source `json:"network_token"`
		BankAccount  source `json:"bank_account"`
	}
	if len(details) == 0 || json.Unmarshal(details, &d) != nil {
		return "" // not the details of an object of the contract
	}
	for _, s := range []source{d.Card, d.NetworkToken, d.BankAccount} {
		if s.Last4 != "" {
			return s.Last4
		}
	}
	return ""
}
