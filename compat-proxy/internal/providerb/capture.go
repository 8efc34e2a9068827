package providerb

import (
	"net/http"
	"strconv"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func capture(h *Handler, c call) response {
	do, bad := decodeCapture(c.id, c.req)
	if !bad.none() {
		return bad.response(c.now)
	}
	r := h.execute(c, do)
	if r.Outcome == command.Done {
		return c.captured(r)
	}
	if out, done := c.followUpProblem(r, fieldTotal); done {
		return out
	}
	if r.Outcome == command.Declined || r.Capture != nil {
		return h.declinedFollowUp(c, reasonProcessorDeclined)
	}
	return captureRefusal(r).response(c.now)
}

// decodeCapture reads a capture. The last one of several, or one marked as final, releases the rest
// of the authorization.
func decodeCapture(number string, req *wire.Request) (command.Capture, problem) {
	if bad := references(req); !bad.none() {
		return command.Capture{}, bad
	}
	amount, currency, bad := followUpAmount(req.Order.AmountDetails, fieldTotal)
	if !bad.none() {
		return command.Capture{}, bad
	}
	options := req.Processing.CaptureOptions
	sequence, bad := captureCount(options.SequenceNumber, "captureSequenceNumber")
	if !bad.none() {
		return command.Capture{}, bad
	}
	total, bad := captureCount(options.TotalCount, "totalCaptureCount")
	switch {
	case !bad.none():
		return command.Capture{}, bad
	case total != 0 && sequence > total:
		return command.Capture{}, invalid(fieldOptions + "captureSequenceNumber")
	}
	return command.Capture{
		Target: command.Number(number), Amount: amount, Final: bool(options.IsFinal) || total != 0 && sequence == total,
		Reference: v1.Text(textsOf(req).given(req.ClientReference.Code, maxCode)),
		Require:   command.Require{Currency: currency},
	}, problem{}
}

const fieldOptions = "processingInformation.captureOptions."

// captureCount parses a position or a count of at most 99; 0 for none.
func captureCount(t wire.Text, name string) (int, problem) {
	const most = 99
	if t == "" {
		return 0, problem{}
	}
	n, err := strconv.Atoi(string(t))
	if err != nil || n < 1 || n > most {
		return 0, invalid(fieldOptions + name)
	}
	return n, problem{}
}

// captureRefusal converts v1's refusal, by the state of the payment.
func captureRefusal(r command.Result) problem {
	t := r.Transaction
	switch {
	case t == nil:
		return problem{Reason: reasonInvalid}
	case r.Code == v1.CodeExceedsCapturable && t.AmountAuthorized != 0:
		return problem{Reason: reasonExceedsAuth}
	case r.Code != v1.CodeNotCapturable && r.Code != v1.CodeExceedsCapturable:
		return invalid(fieldOf(r.Param)...)
	}
	switch t.Status {
	case v1.TransactionStatusCaptured:
		return problem{Reason: reasonSettled}
	case v1.TransactionStatusVoided:
		return problem{Reason: reasonReversed}
	case v1.TransactionStatusExpired:
		return problem{Reason: reasonNoAuth}
	case v1.TransactionStatusAuthorized, v1.TransactionStatusPartiallyCaptured: // a verification has nothing to capture
		return problem{Reason: reasonInvalidAmount, Fields: []string{fieldTotal}}
	case v1.TransactionStatusDeclined, v1.TransactionStatusFailed, v1.TransactionStatusCanceled,
		v1.TransactionStatusProcessing, v1.TransactionStatusRequiresConfirmation, v1.TransactionStatusUnknown:
	}
	return problem{Reason: reasonInvalid}
}

func (c call) captured(r command.Result) response {
	number := decimalOf(id.Capture, r.Capture.ID)
	return response{status: http.StatusCreated, body: wire.Response{
		Links: &wire.Links{
			Self: link(http.MethodGet, "captures", number),
			Void: link(http.MethodPost, "captures", number, "voids"),
		},
		ID: number, SubmitTimeUTC: stamp(r.Capture.CreatedAt.Time), Status: statusPending,
		ReconciliationID: reconciliation(r.Transaction), ClientReference: c.echo(r.Capture.CreatedAt.Time),
		Order: &wire.OrderResponse{AmountDetails: &wire.Amounts{
			Total:    major(r.Capture.Amount, r.Capture.Currency),
			Currency: currencyText(c.req.Order.AmountDetails.Currency, r.Capture.Currency),
		}},
	}, outcome: statusPending}
}
