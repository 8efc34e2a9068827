package providerb

import (
	"cmp"
	"net/http"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const statusVoided = "VOIDED"

// void cancels a sale or a capture, or releases an authorization of which nothing is captured.
// Clients use the numbers of payments and captures at either path.
func void(h *Handler, c call) response {
	return h.cancel(c, command.CancelCapture{Target: command.Number(c.id)})
}

// voidNamed is a timeout void: it names the sale or capture by the transactionId of its request.
func voidNamed(h *Handler, c call) response {
	if c.req.ClientReference.TransactionID == "" {
		return missing(fieldTransactionID).response(c.now)
	}
	return h.cancel(c, command.CancelCapture{Name: transactionName(c.caller, string(c.req.ClientReference.TransactionID))})
}

// voidRefund refuses, because v1 cannot void a refund.
func voidRefund(h *Handler, c call) response {
	r := h.execute(c, command.Get{Target: command.Number(c.id)})
	if out, done := c.followUpProblem(r, ""); done {
		return out
	}
	if r.Refund == nil {
		return problem{Reason: reasonInvalid}.response(c.now)
	}
	return problem{Reason: reasonNotVoidable}.response(c.now)
}

func (h *Handler) cancel(c call, do command.CancelCapture) response {
	if f := references(c.req); !f.none() {
		return f.response(c.now)
	}
	r := h.execute(c, do)
	if r.Outcome == command.Done {
		return c.voided(r.Transaction, r.Capture)
	}
	if out, done := c.followUpProblem(r, ""); done {
		return out
	}
	return c.voidRefusal(r).response(c.now)
}

// voidRefusal converts v1's refusal, by the state of the payment.
func (c call) voidRefusal(r command.Result) problem {
	t := r.Transaction
	switch {
	case r.Outcome == command.NotFound && r.Refund == nil && c.id == "":
		return invalid(fieldTransactionID)
	case r.Outcome == command.NotFound && r.Refund == nil:
		return problem{Reason: reasonInvalid}
	case t != nil && captureVoided(t, r.Capture):
		return problem{Reason: reasonCaptureVoided}
	}
	return problem{Reason: reasonNotVoidable}
}

func (c call) voided(t *v1.Transaction, captured *v1.Capture) response {
	number := reversalNumber(numberOf(t), suffixVoid)
	amount := major(t.AmountAuthorized, t.Currency)
	taken := amount
	if captured != nil {
		taken = major(captured.Amount, captured.Currency)
	}
	return response{status: http.StatusCreated, body: wire.Response{
		Links: &wire.Links{Self: link(http.MethodGet, "voids", number)},
		ID:    number, SubmitTimeUTC: stamp(t.UpdatedAt.Time), Status: statusVoided,
		ReconciliationID: reconciliation(t), ClientReference: c.echo(t.UpdatedAt.Time),
		Void: &wire.VoidAmounts{
			Void: taken, Original: amount,
			Currency: currencyText(cmp.Or(c.req.Order.AmountDetails.Currency, c.req.Reversal.AmountDetails.Currency),
				t.Currency),
		},
	}, outcome: statusVoided}
}
