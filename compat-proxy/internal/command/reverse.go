package command

import (
	"context"
	"net/http"

	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/money"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// SaleKey is the metadata entry of a payment that marks a sale made in two steps. With the value
// SaleMark, the client wanted it captured immediately.
const (
	SaleKey  = "captured_by"
	SaleMark = "creation"
)

// Reverse releases a payment of which its client has captured nothing: an authorization, or a sale
// that has not settled. V1's void would cancel captures too, so a payment that was captured later
// is Refused with v1.CodeNotVoidable.
type Reverse struct {
	Target Number `json:"target,omitempty"`
	// Name is that of the Named Authorize that made the payment. It counts if Target is empty.
	Name string `json:"name,omitempty"`
	// Amount is a canonical decimal in major units of the payment's currency. Any amount but the
	// payment's whole amount is Unmet. Empty means all.
	Amount  string  `json:"amount,omitempty"`
	Require Require `json:"require,omitzero"`
}

// CancelCapture cancels one capture that has not settled. Target is its number, or that of the
// payment of which it is the only capture. The number of a payment without a capture releases the
// payment. V1 voids whole payments, so a payment with other captures, or a partly captured one, is
// Refused with v1.CodeNotVoidable. A sale's name stands for the whole sale, captured or not.
type CancelCapture struct {
	Target Number `json:"target,omitempty"`
	// Name is that of the Named Capture, or of the Named Authorize of a sale. It counts if Target is
	// empty.
	Name string `json:"name,omitempty"`
}

// Kind implements Command.
func (Reverse) Kind() Kind { return PaymentVoid }

// Kind implements Command.
func (CancelCapture) Kind() Kind { return PaymentVoid }

// Sale reports whether the payment was made to be captured immediately.
func Sale(t *v1.Transaction) bool {
	return t.Capture == v1.CaptureModeAutomatic || t.Metadata[SaleKey] == SaleMark
}

func (s session) reverse(ctx context.Context, c Reverse) Result {
	t, r := s.authorizedAs(ctx, c.Target, c.Name)
	if t == nil {
		return r
	}
	alone := true
	switch t.Status {
	case v1.TransactionStatusAuthorized:
	case v1.TransactionStatusPartiallyCaptured:
		alone = false
	case v1.TransactionStatusCaptured:
		if alone = Sale(t) && t.AmountCaptured == t.AmountAuthorized; alone {
			if _, alone, r = s.onlyCapture(ctx, t, nil); r.Outcome != "" {
				return r
			}
		}
	default: // v1 refuses it, or has the stored response to this command
		return s.withVoidedCapture(ctx, s.voidRead(ctx, t))
	}
	if !alone {
		return Result{Outcome: Refused, Status: http.StatusConflict, Code: v1.CodeNotVoidable, Transaction: t}
	}
	if unmet := c.unmet(t); unmet != "" {
		return Result{Outcome: Unmet, Unmet: unmet, Transaction: t}
	}
	return s.voidRead(ctx, t)
}

// unmet returns the condition of c that does not hold for t.
func (c Reverse) unmet(t *v1.Transaction) Condition {
	if _, unmet := check(t, c.Require, ""); unmet != "" || c.Amount == "" {
		return unmet
	}
	currency, known := money.Lookup(t.Currency)
	minor, err := money.Parse(c.Amount, currency.Exponent)
	// Without a response, the client does not have the partial amount.
	whole := minor == t.AmountAuthorized || c.Target == "" && minor == t.Amount
	if !known || err != nil || !whole {
		return ConditionAmount
	}
	return ""
}

func (s session) cancelCapture(ctx context.Context, c CancelCapture) Result {
	t, captured, r := s.capturedAs(ctx, c)
	if t == nil {
		return r
	}
	only := true
	switch t.Status {
	case v1.TransactionStatusAuthorized:
		// The number releases the authorization, as nothing of it is captured. The name only undoes an
		// interrupted sale: the named capture may never have reached v1.
		only = captured == nil && c.Target != "" || c.Target == "" && Sale(t)
	case v1.TransactionStatusPartiallyCaptured:
		only = false
	case v1.TransactionStatusCaptured:
		if captured, only, r = s.onlyCapture(ctx, t, captured); r.Outcome != "" {
			return r
		}
	default: // v1 refuses it, or has the stored response to this command
	}
	if !only {
		return Result{
			Outcome: Refused, Status: http.StatusConflict, Code: v1.CodeNotVoidable, Transaction: t, Capture: captured,
		}
	}
	done := s.voidRead(ctx, t)
	done.Capture = captured
	return s.withVoidedCapture(ctx, done)
}

// onlyCapture reports whether a fully captured payment has only one capture: the given one, if it
// is not nil. It returns that capture if it is known, and a result if it cannot decide.
func (s session) onlyCapture(ctx context.Context, t *v1.Transaction, captured *v1.Capture) (*v1.Capture, bool, Result) {
	if captured != nil {
		return captured, captured.Status == v1.CaptureStatusSucceeded && captured.Amount == t.AmountCaptured, Result{}
	}
	if t.Capture == v1.CaptureModeAutomatic {
		return nil, true, Result{}
	}
	list, r := s.captures(ctx, t)
	if list == nil {
		return nil, false, r
	}
	for i := range list {
		if list[i].Status != v1.CaptureStatusFailed {
			return &list[i], list[i].Amount == t.AmountCaptured, Result{}
		}
	}
	return nil, false, Result{}
}

// withVoidedCapture adds to the result of a voided payment the capture that was voided with it, if
// it is not there yet. It distinguishes a released payment from a canceled capture. It adds nothing
// if v1 does not respond.
func (s session) withVoidedCapture(ctx context.Context, r Result) Result {
	t := r.Transaction
	if t == nil || t.Status != v1.TransactionStatusVoided || t.Capture == v1.CaptureModeAutomatic || r.Capture != nil {
		return r
	}
	list, _ := s.captures(ctx, t)
	for i := range list {
		if list[i].Status == v1.CaptureStatusVoided {
			r.Capture = &list[i]
		}
	}
	return r
}

// captures lists one page of the captures of a payment, newest first. It returns nil and the result
// to give if it cannot.
func (s session) captures(ctx context.Context, t *v1.Transaction) ([]v1.Capture, Result) {
	params := &v1.ListTransactionCapturesParams{Limit: new(100)}
	resp := s.x.call(ctx, func(ctx context.Context) (*http.Response, error) {
		return s.x.client.API.ListTransactionCaptures(ctx, t.ID, params, s.authorized)
	})
	var page v1.CaptureList
	if r, ok := resp.read(&page, func() bool { return page.Data != nil }); !ok {
		return nil, r
	}
	return append([]v1.Capture{}, page.Data...), Result{}
}

// authorizedAs reads the payment with that number, or else the one that the Named Authorize of that
// name made. If it is NotFound, the name is used anyway: see findNamed.
func (s session) authorizedAs(ctx context.Context, n Number, name string) (*v1.Transaction, Result) {
	if n != "" {
		return s.target(ctx, n)
	}
	txn, r := s.findNamed(ctx, name, PaymentAuthorize)
	if txn == "" {
		return nil, r
	}
	return s.read(ctx, txn)
}

// capturedAs reads the payment that c names, and the capture if c names one.
func (s session) capturedAs(ctx context.Context, c CancelCapture) (*v1.Transaction, *v1.Capture, Result) {
	if c.Target != "" {
		return s.payment(ctx, c.Target, true)
	}
	made, r := s.findNamed(ctx, c.Name, PaymentCapture, PaymentAuthorize)
	switch {
	case made == "":
		return nil, nil, r
	case !isID(id.Capture, made):
		t, r := s.read(ctx, made)
		return t, nil, r
	}
	captured, r := s.captureOf(ctx, made)
	if captured == nil {
		return nil, nil, r
	}
	t, r := s.read(ctx, captured.Transaction)
	return t, captured, r
}
