package providerb

import (
	"net/http"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/parity"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/money"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// refund refunds a payment or a capture. Clients use the numbers of both at either path.
func refund(h *Handler, c call) response {
	do, bad := decodeRefund(c.id, c.req)
	if !bad.none() {
		return bad.response(c.now)
	}
	r := h.execute(c, do)
	switch {
	case r.Outcome == command.Done && c.repeatsWhole(r):
		return h.refundedAgain(c, r, r.Refund.Amount)
	case r.Outcome == command.Done:
		return c.refunded(r)
	}
	if out, done := c.followUpProblem(r, fieldTotal); done {
		return out
	}
	refusal := refundRefusal(r)
	if refusal.Reason == reasonInvalidAmount && c.rules.Has(parity.RepeatedRefund) {
		if amount, within := withinCaptured(do.Amount, r); within {
			return h.refundedAgain(c, r, amount)
		}
	}
	return refusal.response(c.now)
}

// repeatsWhole reports whether an equal request with the same signature had refunded all that was
// left before this one. By the rule RepeatedRefund this is another refund: clients sign the second
// one in the same second.
func (c call) repeatsWhole(r command.Result) bool {
	return c.rules.Has(parity.RepeatedRefund) && c.name.final && r.Transaction.AmountRefundable == 0
}

// withinCaptured returns an amount of a refund in minor units, and whether at least as much was
// captured and less is left. If the payment has the amount left, but no single capture has, the
// refund is possible for each capture.
func withinCaptured(amount string, r command.Result) (int64, bool) {
	captured, rest := r.Transaction.AmountCaptured, r.Transaction.AmountRefundable
	if r.Capture != nil {
		captured, rest = r.Capture.Amount, 0
	}
	currency, known := money.Lookup(r.Transaction.Currency)
	minor, err := money.Parse(amount, currency.Exponent)
	return minor, known && err == nil && rest < minor && minor <= captured
}

// refundedAgain returns the response to a refund by the rule RepeatedRefund, although v1 has not
// made it. Its number belongs to no refund.
func (h *Handler) refundedAgain(c call, r command.Result, amount int64) response {
	name, err := id.Decimal(id.Refund, h.cfg.NewNumber())
	if err != nil {
		return serverError(c.now, reasonSystem, textSystem) // not reached: the number is a new one
	}
	r.Refund = &v1.Refund{
		ID: name, Amount: amount, Currency: r.Transaction.Currency, CreatedAt: v1.Timestamp{Time: c.now},
	}
	return c.refunded(r)
}

func decodeRefund(number string, req *wire.Request) (command.Refund, problem) {
	if bad := references(req); !bad.none() {
		return command.Refund{}, bad
	}
	amount, currency, bad := followUpAmount(req.Order.AmountDetails, fieldTotal)
	if !bad.none() {
		return command.Refund{}, bad
	}
	return command.Refund{
		Target: command.Number(number), Captures: true, Amount: amount,
		Reference: v1.Text(textsOf(req).given(req.ClientReference.Code, maxCode)),
		Require:   command.Require{Currency: currency},
	}, problem{}
}

// refundRefusal converts the refusal of v1 or the acquirer. Some clients do not handle declined
// refunds, so none is a decline.
func refundRefusal(r command.Result) problem {
	t := r.Transaction
	switch {
	case t == nil:
		return problem{Reason: reasonInvalid}
	case r.Outcome == command.Declined || r.Refund != nil:
		return problem{Reason: reasonProcessorDeclined}
	case r.Code == v1.CodeExceedsRefundable:
		return problem{Reason: reasonInvalidAmount, Fields: []string{fieldTotal}}
	case r.Code != v1.CodeNotRefundable:
		return invalid(fieldOf(r.Param)...)
	case captureVoided(t, r.Capture):
		return problem{Reason: reasonCaptureVoided}
	case t.AmountCaptured > 0 && (r.Capture == nil || r.Capture.Status == v1.CaptureStatusSucceeded):
		return problem{Reason: reasonInvalidAmount, Fields: []string{fieldTotal}} // all of it was refunded
	}
	return problem{Reason: reasonInvalid}
}

// captureVoided reports whether the money had been captured before the payment was voided.
func captureVoided(t *v1.Transaction, c *v1.Capture) bool {
	if t.Status != v1.TransactionStatusVoided {
		return false
	}
	return t.Capture == v1.CaptureModeAutomatic || c != nil && c.Status == v1.CaptureStatusVoided
}

func (c call) refunded(r command.Result) response {
	given, number := r.Refund, decimalOf(id.Refund, r.Refund.ID)
	currency := currencyText(c.req.Order.AmountDetails.Currency, given.Currency)
	links := &wire.Links{Self: link(http.MethodGet, "refunds", number)}
	if c.rules.Has(parity.RefundVoidLink) {
		links.Void = link(http.MethodPost, "refunds", number, "voids")
	}
	body := wire.Response{
		Links: links, ID: number, SubmitTimeUTC: stamp(given.CreatedAt.Time), Status: statusPending,
		ReconciliationID: reconciliationOf(given.ID), ClientReference: c.echo(given.CreatedAt.Time),
		Refund: &wire.RefundAmounts{Refund: major(given.Amount, given.Currency), Currency: currency},
		Order:  &wire.OrderResponse{AmountDetails: &wire.Amounts{Currency: currency}},
	}
	if a := r.Transaction.Authorization; a != nil {
		body.Processor = &wire.Processor{ApprovalCode: v1.Text(a.Code), ResponseCode: a.ResponseCode}
	}
	return response{status: http.StatusCreated, body: body, outcome: statusPending}
}
