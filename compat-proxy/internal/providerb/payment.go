package providerb

import (
	"net/http"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// createPayment authorizes a payment, and captures it if the request is a sale.
func createPayment(h *Handler, c call) response {
	p := decode(c.req, setting{currency: h.currency(c), twoStep: !c.caller.Grant.NoReview})
	if c.caller.Grant.NoReview {
		p.Review.IgnoreAVS, p.Review.IgnoreCV = true, true
	}
	if !p.Problem.none() {
		return h.refuse(c, p)
	}
	if p.Store && !slices.Contains(c.scopes, storeScope) {
		return h.notPermitted(c, forbidden(storeScope))
	}
	r := h.execute(c, command.Authorize{Body: p.Body, ShipTo: p.ShipTo})
	if r.Outcome != command.Done {
		return h.notMade(c, p, r)
	}
	t := r.Transaction
	if p.Review.holds(t) != "" || !p.TwoStep {
		return h.finish(c, p, t)
	}
	return h.captureSale(c, p, t)
}

// currency returns the default for amounts without a currency.
func (h *Handler) currency(c call) string {
	if c.caller.Grant.Currency != "" {
		return c.caller.Grant.Currency
	}
	return h.cfg.Currency
}

// execute executes one command under the request's name.
func (h *Handler) execute(c call, do command.Command) command.Result {
	return h.cfg.Executor.Execute(c.ctx, c.caller.Grant.APIKey, c.named(do))
}

// captureSale captures an authorized payment that no check holds. If v1 refuses the capture,
// captureSale releases the authorization, because the client requested a sale. It does so, too, if
// v1 could not take the capture, and the request has no name by which a retry would find the
// authorization. Another capture in between remains. If it is of the whole amount, it is the sale;
// if of a part, the outcome of the sale is uncertain.
func (h *Handler) captureSale(c call, p plan, t *v1.Transaction) response {
	number := command.Number(numberOf(t))
	c.name.final = true // else a concurrent retry could see a refused capture, and void the first one's payment
	r := h.execute(c, command.Capture{Target: number, Final: true, Seen: true})
	lost := r.Outcome == command.Unavailable && c.name.text == ""
	switch {
	case r.Outcome == command.Done, captured(r.Transaction):
		return h.finish(c, p, t)
	case r.Code == v1.CodeOperationInProgress, r.Outcome != command.Refused && r.Outcome != command.Declined && !lost:
		return c.uncertainSale(t)
	}
	back := h.execute(c, command.Void{Target: number, Expected: &t.Version})
	switch {
	case captured(back.Transaction):
		return h.finish(c, p, t)
	case back.Outcome != command.Done:
		return c.uncertainSale(t)
	case lost:
		return unavailable(r, c.now)
	}
	return h.declined(c, p, reasonGeneralDecline, t)
}

// uncertainSale returns the response to a sale whose authorization may remain. It has the payment's
// number if the request has no name, because the client can find the payment in no other way.
func (c call) uncertainSale(t *v1.Transaction) response {
	if c.name.text != "" {
		return outcomeUnknown(c.now)
	}
	return numbered(outcomeUnknown(c.now), numberOf(t))
}

// numbered returns the response with the number of a payment.
func numbered(a response, number string) response {
	if body, plain := a.body.(wire.Response); plain {
		body.ID = number
		a.body = body
	}
	return a
}

// finish responds to an approved payment, after storing its payment source if requested.
func (h *Handler) finish(c call, p plan, t *v1.Transaction) response {
	body := approvedResponse(p, t)
	if p.Store {
		h.storeSource(c, p, t, &body)
	}
	return response{status: http.StatusCreated, body: body, outcome: body.Status}
}

// captured reports whether the whole authorized amount is captured. A partial capture is not the
// sale.
func captured(t *v1.Transaction) bool {
	return t != nil && t.Status == v1.TransactionStatusCaptured && t.AmountCaptured == t.AmountAuthorized
}

// refuse responds to a payment that never reached v1. A decline has a number too, without a v1
// object.
func (h *Handler) refuse(c call, p plan) response {
	if p.Problem.Declined {
		return h.declined(c, p, p.Problem.Reason, nil)
	}
	return p.Problem.response(c.now)
}

// notMade responds to a payment that v1 did not make.
func (h *Handler) notMade(c call, p plan, r command.Result) response {
	switch r.Outcome {
	case command.Declined:
		return h.declined(c, p, declineReason(r.Transaction), r.Transaction)
	case command.Unavailable:
		return unavailable(r, c.now)
	case command.Refused, command.NotFound, command.Unmet:
		if nameTaken(r) {
			return c.reused(r)
		}
		bad, out := refusedPayment(r, c.now)
		switch {
		case bad.none():
			return out
		case bad.Declined:
			p.Problem = bad
			return h.refuse(c, p)
		}
		return bad.response(c.now)
	case command.Done, command.Uncertain, command.Repeated:
	}
	return outcomeUnknown(c.now)
}

// declined returns the response to a payment that was declined; t is nil if it never reached v1.
func (h *Handler) declined(c call, p plan, reason string, t *v1.Transaction) response {
	body := wire.Response{
		ID: h.cfg.NewNumber(), SubmitTimeUTC: stamp(c.now), Status: statusDeclined,
		ErrorInformation: &wire.ErrorInformation{Reason: reason, Message: declineTexts[reason]},
	}
	made := c.now
	if t != nil {
		made = t.CreatedAt.Time
		body.ID, body.SubmitTimeUTC, body.ReconciliationID = numberOf(t), stamp(made), reconciliation(t)
		body.Links = &wire.Links{Self: link(http.MethodGet, "payments", body.ID)}
		if t.Status == v1.TransactionStatusDeclined { // else the acquirer approved the payment, and it was voided here
			body.Processor = processor(t)
		}
		body.Order = &wire.OrderResponse{AmountDetails: &wire.Amounts{Currency: p.Echo.Currency}}
		body.PaymentAccount, body.Payment = account(p.Echo, t)
	}
	body.ClientReference = p.Echo.reference(made)
	return response{status: http.StatusCreated, body: body, outcome: reason}
}

// reference returns the client's reference of the payment. The default is the time of the payment.
func (e echo) reference(made time.Time) *wire.ClientReferenceResponse {
	code := e.Code
	if code == "" {
		code = milliseconds(made)
	}
	return &wire.ClientReferenceResponse{Code: code, TransactionID: e.TransactionID}
}
