package providerb

import (
	"net/http"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func reverse(h *Handler, c call) response {
	do, bad := decodeReversal(c.req)
	if !bad.none() {
		return bad.response(c.now)
	}
	do.Target = command.Number(c.id)
	return h.reversal(c, h.execute(c, do))
}

// reverseNamed is a timeout reversal: it names the payment by the transactionId of its request.
func reverseNamed(h *Handler, c call) response {
	if c.req.ClientReference.TransactionID == "" {
		return missing(fieldTransactionID).response(c.now)
	}
	do, bad := decodeReversal(c.req)
	if !bad.none() && bad.Reason != reasonMissing { // a client without a response may omit the amount
		return bad.response(c.now)
	}
	do.Name = transactionName(c.caller, string(c.req.ClientReference.TransactionID))
	return h.reversal(c, h.execute(c, do))
}

// decodeReversal reads a reversal, except its target.
func decodeReversal(req *wire.Request) (command.Reverse, problem) {
	if bad := references(req); !bad.none() {
		return command.Reverse{}, bad
	}
	amount, currency, bad := followUpAmount(req.Reversal.AmountDetails, fieldReversal)
	return command.Reverse{Amount: amount, Require: command.Require{Currency: currency}}, bad
}

func (h *Handler) reversal(c call, r command.Result) response {
	if r.Outcome == command.Done {
		return c.reversed(r.Transaction)
	}
	if r.Outcome == command.Unmet && r.Unmet == command.ConditionAmount {
		return problem{Reason: reasonInvalidAmount, Fields: []string{fieldReversal}}.response(c.now)
	}
	if out, done := c.followUpProblem(r, fieldReversal); done {
		return out
	}
	if r.Outcome == command.Declined {
		return h.declinedFollowUp(c, reasonProcessorDeclined)
	}
	return c.reversalRefusal(r).response(c.now)
}

// reversalRefusal converts v1's refusal, by the state of the payment.
func (c call) reversalRefusal(r command.Result) problem {
	t := r.Transaction
	switch {
	case r.Refund != nil && c.id == "":
		return unsupported(fieldTransactionID) // INVALID_DATA would mean that v1 never received the refund
	case r.Outcome == command.NotFound && c.id == "":
		return invalid(fieldTransactionID)
	case t == nil:
		return problem{Reason: reasonInvalid}
	case t.Status == v1.TransactionStatusVoided:
		return problem{Reason: reasonReversed}
	case t.Status == v1.TransactionStatusCaptured || t.Status == v1.TransactionStatusPartiallyCaptured:
		return problem{Reason: reasonReversedSettled}
	case t.Status == v1.TransactionStatusExpired:
		return problem{Reason: reasonNoAuth}
	}
	return problem{Reason: reasonInvalid}
}

func (c call) reversed(t *v1.Transaction) response {
	number := reversalNumber(numberOf(t), suffixReversal)
	amount := major(t.AmountAuthorized, t.Currency)
	currency := currencyText(c.req.Reversal.AmountDetails.Currency, t.Currency)
	body := wire.Response{
		Links: &wire.Links{Self: link(http.MethodGet, "reversals", number)},
		ID:    number, SubmitTimeUTC: stamp(t.UpdatedAt.Time), Status: statusReversed,
		ReconciliationID: reconciliation(t), ClientReference: c.echo(t.UpdatedAt.Time),
		Reversal: &wire.ReversalAmounts{Reversed: amount, Original: amount, Currency: currency},
		Order:    &wire.OrderResponse{AmountDetails: &wire.Amounts{Currency: currency}},
	}
	if a := t.Authorization; a != nil {
		body.Processor = &wire.Processor{ResponseCode: a.ResponseCode}
		body.Authorization = &wire.AuthorizationResponse{
			ApprovalCode: v1.Text(a.Code), ReasonCode: "100",
			ReversalSubmitted: "Y",
		}
	}
	return response{status: http.StatusCreated, body: body, outcome: statusReversed}
}

const statusReversed = "REVERSED"
