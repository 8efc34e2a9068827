package providera

import (
	"context"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// profileFromTransaction serves a createCustomerProfileFromTransactionRequest. v1 keeps no number
// of a card after its payment, so the request makes nothing: it finds what exists already, and
// otherwise the nearest refusal.
func (h *Handler) profileFromTransaction(ctx context.Context, c call) (*wire.Document, problem) {
	c.name = ""
	return profileResponse(c.req.RefID, profileNumbers{}, nil, h.fromTransaction(ctx, c))
}

// fromTransaction returns the refusal of a request to make a profile from a transaction.
func (h *Handler) fromTransaction(ctx context.Context, c call) problem {
	req := c.req.Root
	stored, given := number(req.Get("customerProfileId")), identifying(req.Child("customer"))
	if stored != "" && req.Has("customer") {
		return refuse(apiProfileIDWithCustomer)
	}
	r := h.execute(ctx, c, command.Get{Target: number(req.Get("transId"))})
	if p := sourceProblem(r); !p.none() {
		return p
	}
	if stored != "" {
		return existingMethod(r.Transaction, h.execute(ctx, c, command.GetCustomer{Customer: stored}))
	}
	if given == (v1.CustomerInput{}) {
		given.Reference = nonEmpty(r.Transaction.Metadata["customer_reference"])
		given.Email = nonEmpty(r.Transaction.Metadata["customer_email"])
	}
	if given == (v1.CustomerInput{}) {
		return refuse(apiNoCustomerInfo)
	}
	found := h.execute(ctx, c, command.FindCustomer{Body: given})
	if found.Outcome == command.NotFound {
		return refuse(apiNotStorable)
	}
	return judgeProfile(found)
}

// sourceProblem returns the refusal of a transaction from which no profile can be made.
func sourceProblem(r command.Result) problem {
	switch {
	case r.Outcome == command.NotFound, r.Outcome == command.Done && isUnconfirmed(r.Transaction):
		return refuse(apiNoSource)
	case r.Outcome != command.Done:
		return judgeProfile(r)
	case r.Refund != nil, status(r.Transaction) == v1.TransactionStatusVoided:
		return refuse(apiSourceType)
	}
	switch status(r.Transaction) {
	case v1.TransactionStatusAuthorized, v1.TransactionStatusCaptured, v1.TransactionStatusPartiallyCaptured:
		return problem{}
	default:
		return refuse(apiNoCreation)
	}
}

// existingMethod returns the refusal of a payment profile that would be made from a payment for a
// stored customer.
func existingMethod(t *v1.Transaction, r command.Result) problem {
	if p := recordProblem(r); !p.none() {
		return p
	}
	for i := range r.Methods {
		m := &r.Methods[i]
		sameCard := m.Card != nil && t.Card != nil && m.Card.Fingerprint != "" &&
			m.Card.Fingerprint == t.Card.Fingerprint && m.Card.ExpMonth == t.Card.ExpMonth &&
			m.Card.ExpYear == t.Card.ExpYear
		if m.ID == t.PaymentMethod || sameCard {
			return problem{API: apiDuplicate, Text: textDuplicateMethod}
		}
	}
	if len(r.Methods) >= maxPaymentProfiles {
		return refuse(apiTooManyPayments)
	}
	return refuse(apiNotStorable)
}
