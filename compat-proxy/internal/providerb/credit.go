package providerb

import (
	"net/http"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// credit pays money without an earlier payment, if the login and v1 allow it.
func credit(h *Handler, c call) response {
	if !c.caller.Grant.UnlinkedRefunds {
		return h.notPermitted(c, problem{Reason: reasonNoCredit}.response(c.now))
	}
	body, f := decodeCredit(c.req, setting{currency: h.currency(c)})
	switch {
	case f.Declined:
		return h.declinedFollowUp(c, f.Reason)
	case !f.none():
		return f.response(c.now)
	}
	r := h.execute(c, command.Credit{Body: body})
	switch {
	case r.Outcome == command.Done:
		return c.credited(r.Refund)
	case r.Outcome == command.Declined, r.Refund != nil:
		return h.declinedFollowUp(c, reasonProcessorDeclined)
	}
	if out, done := c.followUpProblem(r, fieldTotal); done {
		return out
	}
	f, out := refusedPayment(r, c.now)
	switch {
	case f.Declined:
		return h.declinedFollowUp(c, f.Reason)
	case !f.none():
		return f.response(c.now)
	}
	return out
}

// decodeCredit reads a credit. It is pure.
func decodeCredit(req *wire.Request, set setting) (v1.RefundCreate, problem) {
	d := &decoder{req: req, set: set}
	none := v1.RefundCreate{}
	if f := d.references(); !f.none() {
		return none, f
	}
	currency, f := currencyOf(req.Order.AmountDetails.Currency, set.currency)
	if !f.none() {
		return none, f
	}
	amount, f := total(&req.Order, currency)
	switch {
	case !f.none():
		return none, f
	case amount == 0:
		return none, invalid(fieldTotal)
	}
	payee := v1.TransactionCreate{Currency: currency.Code}
	switch f := d.source(&payee, currency); {
	case !f.none():
		return none, f
	case payee.NetworkToken != nil:
		return none, unsupported("paymentInformation.tokenizedCard.number")
	case payee.Customer != nil: // v1 would not check that it is the caller's
		return none, unsupported("paymentInformation.customer.id")
	}
	if payee.Card != nil {
		payee.Card.Cvc = nil // a credit needs no security code
	}
	return v1.RefundCreate{
		Amount: &amount, Currency: &currency.Code, PaymentMethod: &payee.PaymentMethod, Card: payee.Card,
		BankAccount: payee.BankAccount, Reference: textsOf(req).given(req.ClientReference.Code, maxCode),
	}, problem{}
}

func (c call) credited(given *v1.Refund) response {
	number := decimalOf(id.Refund, given.ID)
	currency := currencyText(c.req.Order.AmountDetails.Currency, given.Currency)
	body := wire.Response{
		Links: &wire.Links{Self: link(http.MethodGet, "credits", number)},
		ID:    number, SubmitTimeUTC: stamp(given.CreatedAt.Time), Status: statusPending,
		ReconciliationID: reconciliationOf(given.ID), ClientReference: c.echo(given.CreatedAt.Time),
		Credit:    &wire.CreditAmounts{Credit: major(given.Amount, given.Currency), Currency: currency},
		Order:     &wire.OrderResponse{AmountDetails: &wire.Amounts{Currency: currency}},
		Processor: &wire.Processor{ResponseCode: "00"},
	}
	if given.Card != nil {
		paid := &wire.CardResponse{Type: typeOf(given.Card.Brand)}
		body.PaymentAccount, body.Payment = &wire.PaymentAccount{Card: paid}, &wire.PaymentResponse{Card: paid}
	}
	return response{status: http.StatusCreated, body: body, outcome: statusPending}
}
