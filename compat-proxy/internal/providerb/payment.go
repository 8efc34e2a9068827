package providerb

import (
	"net/http"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// createPayment authorizes, and takes the money where that is asked for.
func createPayment(h *Handler, c call) answer {
	p := decode(c.req, setting{currency: h.currency(c), steps: c.maySteps()})
	if c.caller.Grant.NoReview {
		p.Review.IgnoreAVS, p.Review.IgnoreCV = true, true
	}
	if !p.Problem.none() {
		return h.refuse(c, p)
	}
	if scope := c.cannotStore(); p.Store && scope != "" {
		return h.notPermitted(c, forbidden(scope))
	}
	r := h.one(c, command.Authorize{Body: p.Body})
	if r.Outcome != command.Done {
		return h.unpaid(c, p, r)
	}
	t := r.Transaction
	if p.Review.holds(t) != "" || !p.Steps {
		return h.finish(c, p, t)
	}
	return h.take(c, p, t)
}

// currency is that of amounts that name none.
func (h *Handler) currency(c call) string {
	if c.caller.Grant.Currency != "" {
		return c.caller.Grant.Currency
	}
	return h.cfg.Currency
}

// maySteps reports whether a payment may be captured in a step of its own: the key can, and somebody looks at the checks.
func (c call) maySteps() bool {
	return !c.caller.Grant.NoReview && slices.Contains(c.scopes, "payments:capture")
}

// one executes one command under the request's name.
func (h *Handler) one(c call, do command.Command) command.Result {
	r := h.cfg.Executor.Execute(c.ctx, c.caller.Grant.APIKey, []command.Command{c.named(do)})[0]
	return r
}

// take captures an authorized payment that no check holds. If v1 refuses the capture, take releases
// the authorization, because the client requested a sale. Another capture in between stands: of the
// whole amount it is the sale, of a part it makes the outcome of the sale uncertain.
func (h *Handler) take(c call, p plan, t *v1.Transaction) answer {
	number := command.Number(numberOf(t))
	c.name.final = true // two at once must not see the one capture refused, and so take back what the other has captured
	r := h.one(c, command.Capture{Target: number, Final: true, Seen: true})
	switch {
	case r.Outcome == command.Done, captured(r.Transaction):
		return h.finish(c, p, t)
	case r.Outcome != command.Refused && r.Outcome != command.Declined, r.Code == command.CodeOperationInProgress:
		return unsure(c.now)
	}
	back := h.one(c, command.Void{Target: number, Expected: &t.Version})
	switch {
	case captured(back.Transaction):
		return h.finish(c, p, t)
	case back.Outcome != command.Done:
		return unsure(c.now)
	}
	return h.declined(c, p, reasonGeneralDecline, t)
}

// finish answers a payment that was approved, when what it leaves to do is done.
func (h *Handler) finish(c call, p plan, t *v1.Transaction) answer {
	body := paid(p, t)
	if p.Store {
		body.Token = h.keep(c, p, t)
	}
	return answer{status: http.StatusCreated, body: body, outcome: body.Status}
}

// captured reports whether all that was authorized is captured. A capture of a part is not the
// sale.
func captured(t *v1.Transaction) bool {
	return t != nil && t.Status == v1.TransactionStatusCaptured && t.AmountCaptured == t.AmountAuthorized
}

// refuse answers what never reached v1. A decline has a number too, though nothing is behind it.
func (h *Handler) refuse(c call, p plan) answer {
	if p.Problem.Declined {
		return h.declined(c, p, p.Problem.Reason, nil)
	}
	return p.Problem.answer(c.now)
}

// unpaid answers a payment that v1 did not make.
func (h *Handler) unpaid(c call, p plan, r command.Result) answer {
	switch r.Outcome {
	case command.Declined:
		return h.declined(c, p, declineReason(r.Transaction), r.Transaction)
	case command.Unavailable:
		return unavailable(r, c.now)
	case command.Refused, command.NotFound, command.Unmet:
		if takesName(r) {
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
		return bad.answer(c.now)
	case command.Done, command.Uncertain, command.Repeated:
	}
	return unsure(c.now)
}

// declined is the answer to a payment that was declined; t is nil when v1 was not asked for it.
func (h *Handler) declined(c call, p plan, reason string, t *v1.Transaction) answer {
	body := wire.Answer{
		ID: h.cfg.NewNumber(), SubmitTimeUTC: stamp(c.now), Status: statusDeclined,
		ErrorInformation: &wire.ErrorInformation{Reason: reason, Message: declineTexts[reason]},
	}
	made := c.now
	if t != nil {
		made = t.CreatedAt.Time
		body.ID, body.SubmitTimeUTC, body.ReconciliationID = numberOf(t), stamp(made), reconciliation(t)
		body.Links = &wire.Links{Self: link(http.MethodGet, "payments", body.ID)}
		if t.Status == v1.TransactionStatusDeclined { // else the acquirer said yes to what we took back
			body.Processor = processor(t)
		}
		body.Order = &wire.OrderAnswer{AmountDetails: &wire.Amounts{Currency: p.Echo.Currency}}
		body.PaymentAccount, body.Payment = account(p.Echo, t)
	}
	body.ClientReference = p.Echo.reference(made)
	return answer{status: http.StatusCreated, body: body, outcome: reason}
}

// reference echoes the client's name for the payment, or the one that it has by when it was made.
func (e echo) reference(made time.Time) *wire.ClientReferenceAnswer {
	code := e.Code
	if code == "" {
		code = milliseconds(made)
	}
	return &wire.ClientReferenceAnswer{Code: code, TransactionID: e.TransactionID}
}
