package providerb

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// details returns the present state of the object with the number.
func details(h *Handler, c call) response {
	number := c.id
	payment, suffix, isReversal := parseReversalNumber(number)
	if isReversal {
		number = payment
	}
	r := h.execute(c, command.Get{Target: command.Number(number), Captures: true})
	switch {
	case r.Outcome == command.Unavailable:
		return serverError(c.now, reasonSystem, textSystem)
	case r.Outcome == command.Refused && r.Status == http.StatusUnauthorized:
		return unauthenticated()
	case r.Outcome == command.Refused && r.Status == http.StatusForbidden:
		return forbidden(string(v1.ScopeTransactionsRead))
	case r.Outcome != command.Done:
		return notFound("")
	case isReversal:
		return c.reversalDetails(r, number, suffix)
	case r.Refund != nil:
		return c.detailsResponse(refundRecord(r))
	case r.Capture != nil && decimalOf(id.Capture, r.Capture.ID) == number: // a voided payment has a capture too
		return c.detailsResponse(captureRecord(r))
	}
	return c.detailsResponse(paymentRecord(r))
}

// record holds the content of a details response.
type record struct {
	number, root string // root is the number of its payment
	reconciled   string
	made         time.Time
	reference    *string
	applications []string // the provider's old names of the operations
	status       string
	reason       string // of an operation that failed
	open         bool   // neither a success nor a failure is known
	amounts      wire.Amounts
	paid         *v1.Transaction // nil for a refund without a payment
	card         *v1.Card
}

func (c call) detailsResponse(r record) response {
	self := detailsLink(r.number)
	body := wire.Transaction{
		ID: r.number, RootID: r.root, ReconciliationID: r.reconciled, MerchantID: c.caller.Merchant,
		SubmitTimeUTC: stamp(r.made), Status: r.status, Application: r.application(),
		Order: &wire.OrderResponse{AmountDetails: &r.amounts},
		Links: &wire.TransactionLinks{Self: &self},
	}
	if r.reference != nil {
		body.ClientReference = &wire.ClientReferenceResponse{Code: *r.reference}
	}
	if r.reason != "" {
		body.ErrorInformation = &wire.ErrorInformation{Reason: r.reason, Message: declineTexts[r.reason]}
	}
	if r.card != nil {
		body.Payment = &wire.PaymentResponse{Card: &wire.CardResponse{
			Suffix: r.card.Last4, Type: typeOf(r.card.Brand),
			ExpirationMonth: fmt.Sprintf("%02d", r.card.ExpMonth), ExpirationYear: strconv.Itoa(r.card.ExpYear),
		}}
	}
	if r.paid != nil {
		body.Processor = processor(r.paid)
	}
	if r.root != r.number {
		body.Links.Related = []wire.Link{detailsLink(r.root)}
	}
	return response{status: http.StatusOK, body: body, outcome: r.status}
}

func detailsLink(number string) wire.Link {
	return wire.Link{Href: "/tss/v2/transactions/" + number, Method: http.MethodGet}
}

// application returns the part that older clients read. It claims a success or a failure only once
// the outcome is known.
func (r record) application() *wire.Application {
	out := &wire.Application{Status: r.status}
	service := wire.ApplicationResult{Status: r.status, ReconciliationID: r.reconciled}
	codes := map[string]int{}
	switch {
	case r.open:
	case r.reason != "":
		out.ReasonCode, out.RCode, out.RFlag = reasonNumbers[r.reason], "0", "DCARDREFUSED"
		service.RMessage = declineTexts[r.reason]
	default:
		out.ReasonCode, out.RCode, out.RFlag = 100, "1", "SOK"
		service.RMessage, codes = "Request was processed successfully.", returnCodes
	}
	if out.ReasonCode > 0 {
		service.ReasonCode, service.RCode, service.RFlag = strconv.Itoa(out.ReasonCode), out.RCode, out.RFlag
	}
	for _, service.Name = range r.applications {
		service.ReturnCode = codes[service.Name]
		out.Applications = append(out.Applications, service)
	}
	return out
}

// returnCodes are the provider's codes of successful operations. The other codes are not known.
var returnCodes = map[string]int{serviceAuth: 1010000, serviceBill: 1260000}

const (
	statusTransmitted = "TRANSMITTED"
	statusFailed      = "FAILED"
	statusCancelled   = "CANCELLED"

	serviceAuth     = "ics_auth"
	serviceBill     = "ics_bill"
	serviceCredit   = "ics_credit"
	serviceReversal = "ics_auth_reversal"
	serviceVoid     = "ics_void"
)

// newRecord returns a record of a payment, or of an object that belongs to it.
func newRecord(t *v1.Transaction) record {
	r := record{
		reconciled: reconciliation(t), root: numberOf(t), made: t.CreatedAt.Time,
		reference: t.Reference, paid: t, card: t.Card,
	}
	r.number = r.root
	return r
}

func paymentRecord(r command.Result) record {
	t := r.Transaction
	out := newRecord(t)
	out.applications = []string{serviceAuth}
	if command.Sale(t) && t.AmountCaptured > 0 || t.Capture == v1.CaptureModeAutomatic {
		out.applications = append(out.applications, serviceBill)
	}
	out.amounts = wire.Amounts{Total: major(t.Amount, t.Currency), Currency: currencyText("", t.Currency)}
	switch t.Status {
	case v1.TransactionStatusDeclined:
		out.reason = declineReason(t)
	case v1.TransactionStatusFailed:
		out.reason = reasonGeneralDecline
	case v1.TransactionStatusProcessing, v1.TransactionStatusUnknown, v1.TransactionStatusRequiresConfirmation:
		out.open = true
	default:
		out.open = t.Amount > 0 && t.AmountAuthorized == 0 // it ended without an approval
		out.amounts.Authorized = major(t.AmountAuthorized, t.Currency)
	}
	if t.AmountCaptured > 0 {
		out.amounts.RefundBalance = major(t.AmountRefundable, t.Currency)
	}
	out.status = paymentStatus(t, captureVoided(t, r.Capture))
	return out
}

func paymentStatus(t *v1.Transaction, captureVoided bool) string {
	switch t.Status {
	case v1.TransactionStatusDeclined:
		return statusDeclined
	case v1.TransactionStatusFailed:
		return statusFailed
	case v1.TransactionStatusVoided:
		if captureVoided {
			return statusVoided
		}
		return statusReversed
	case v1.TransactionStatusExpired, v1.TransactionStatusCanceled:
		return statusCancelled
	case v1.TransactionStatusCaptured, v1.TransactionStatusPartiallyCaptured:
		switch {
		case !command.Sale(t): // its captures have separate records
			return statusAuthorized
		case t.Settlement == v1.SettlementSettled:
			return statusTransmitted
		}
		return statusPending
	case v1.TransactionStatusAuthorized:
		if command.Sale(t) { // a review has stopped the capture
			return statusReview
		}
		return statusAuthorized
	case v1.TransactionStatusProcessing, v1.TransactionStatusUnknown, v1.TransactionStatusRequiresConfirmation:
	}
	return statusPending
}

func captureRecord(r command.Result) record {
	c := r.Capture
	out := newRecord(r.Transaction)
	out.number, out.made, out.reference = decimalOf(id.Capture, c.ID), c.CreatedAt.Time, c.Reference
	out.applications = []string{serviceBill}
	out.amounts = wire.Amounts{Total: major(c.Amount, c.Currency), Currency: currencyText("", c.Currency)}
	switch c.Status {
	case v1.CaptureStatusVoided:
		out.status = statusVoided
	case v1.CaptureStatusFailed:
		out.status, out.reason = statusFailed, reasonGeneralDecline
	case v1.CaptureStatusPending:
		out.status, out.open = statusPending, true
	case v1.CaptureStatusSucceeded:
		if out.status = statusPending; c.Settlement == v1.SettlementSettled {
			out.status = statusTransmitted
		}
		out.amounts.RefundBalance = major(c.Amount-c.AmountRefunded, c.Currency)
	}
	return out
}

func refundRecord(r command.Result) record {
	given := r.Refund
	out := record{card: given.Card}
	if r.Transaction != nil {
		out = newRecord(r.Transaction)
	}
	out.number, out.reconciled = decimalOf(id.Refund, given.ID), reconciliationOf(given.ID)
	out.made, out.reference = given.CreatedAt.Time, given.Reference
	if r.Transaction == nil {
		out.root = out.number
	}
	out.applications = []string{serviceCredit}
	out.amounts = wire.Amounts{Total: major(given.Amount, given.Currency), Currency: currencyText("", given.Currency)}
	switch given.Status {
	case v1.RefundStatusSucceeded:
		out.status = statusTransmitted
	case v1.RefundStatusFailed:
		out.status, out.reason = statusFailed, reasonGeneralDecline
	case v1.RefundStatusPending:
		out.status, out.open = statusPending, true
	}
	return out
}

// reversalDetails returns the record of a reversal or void, if its payment was undone. V1 does not
// record which of the two operations did it.
func (c call) reversalDetails(r command.Result, payment, suffix string) response {
	t := r.Transaction
	if t == nil || numberOf(t) != payment || t.Status != v1.TransactionStatusVoided {
		return notFound("")
	}
	status, service := statusReversed, serviceReversal
	if suffix == suffixVoid {
		status, service = statusVoided, serviceVoid
	}
	out := newRecord(t)
	out.number, out.made, out.applications, out.status = c.id, t.UpdatedAt.Time, []string{service}, status
	out.amounts = wire.Amounts{Total: major(t.AmountAuthorized, t.Currency), Currency: currencyText("", t.Currency)}
	return c.detailsResponse(out)
}

// reasonNumbers are the reason codes for older clients.
var reasonNumbers = map[string]int{
	reasonAVSFailed: 200, reasonContactProcessor: 201, reasonExpiredCard: 202, reasonProcessorDeclined: 203,
	reasonInsufficientFund: 204, reasonStolenLost: 205, reasonUnauthorizedCard: 208, reasonCVNMismatch: 209,
	reasonExceedsLimit: 210, reasonInvalidCVN: 211, reasonCVFailed: 230, reasonInvalidAccount: 231,
	reasonGeneralDecline: 233,
}
