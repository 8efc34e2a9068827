package command

import (
	"context"
	"net/http"

	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/money"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// SaleKey is the entry of a payment's metadata that tells, with the value SaleMark, that its client asked for it to be captured at once
// though it took two steps.
const (
	SaleKey  = "captured_by"
	SaleMark = "creation"
)

// Reverse lets go of a payment of which its client has captured nothing: an authorization, or a sale that has not settled. v1's void would
// take captures with it, so a payment that was captured later is Refused with CodeNotVoidable.
type Reverse struct {
	Target Number `json:"target,omitempty"`
	// Name is that of the Named Authorize that made the payment; it counts when Target is empty.
	Name string `json:"name,omitempty"`
	// Amount is a canonical decimal in major units of the payment's currency; one that is not the whole payment's is Unmet. Empty means all.
	Amount  string  `json:"amount,omitempty"`
	Require Require `json:"require,omitzero"`
}

// CancelCapture cancels one capture that has not settled, by its own number or by that of the payment whose only capture it is. v1 voids
// whole payments, so one that has other captures, or is not captured to its end, is Refused with CodeNotVoidable. A sale's name stands for
// all of the sale, however far it came.
type CancelCapture struct {
	Target Number `json:"target,omitempty"`
	// Name is that of the Named Capture, or of the Named Authorize of a sale; it counts when Target is empty.
	Name string `json:"name,omitempty"`
}

// Kind implements Command.
func (Reverse) Kind() Kind { return PaymentVoid }

// Kind implements Command.
func (CancelCapture) Kind() Kind { return PaymentVoid }

// Sale reports whether the payment was to be captured at once.
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
	default: // v1 refuses it, or has this same command's first answer
		return s.told(ctx, s.voidRead(ctx, t))
	}
	if !alone {
		return Result{Outcome: Refused, Status: http.StatusConflict, Code: CodeNotVoidable, Transaction: t}
	}
	if unmet := c.unmet(t); unmet != "" {
		return Result{Outcome: Unmet, Unmet: unmet, Transaction: t}
	}
	return s.voidRead(ctx, t)
}

// unmet is the condition of c that does not hold for t.
func (c Reverse) unmet(t *v1.Transaction) Condition {
	if _, unmet := check(t, c.Require, ""); unmet != "" || c.Amount == "" {
		return unmet
	}
	currency, known := money.Lookup(t.Currency)
	minor, err := money.Parse(c.Amount, currency.Exponent)
	whole := minor == t.AmountAuthorized || c.Target == "" && minor == t.Amount // who was not answered cannot know of a partial approval
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
		only = c.Target == "" && Sale(t) // a sale that was cut short is undone by its name as one that was not
	case v1.TransactionStatusPartiallyCaptured:
		only = false
	case v1.TransactionStatusCaptured:
		if captured, only, r = s.onlyCapture(ctx, t, captured); r.Outcome != "" {
			return r
		}
	default: // v1 refuses it, or has this same command's first answer
	}
	if !only {
		return Result{Outcome: Refused, Status: http.StatusConflict, Code: CodeNotVoidable, Transaction: t, Capture: captured}
	}
	done := s.voidRead(ctx, t)
	done.Capture = captured
	return s.told(ctx, done)
}

// onlyCapture reports whether a payment that is captured to its end has one capture, which is the given one if it is not nil. It returns
// that capture if it is known, and a result when it cannot tell.
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

// told adds to the result on a voided payment the capture that was voided with it, where there is one that is not known yet: it makes the
// difference between a payment that was let go of and a capture that was canceled. It is left out when v1 does not answer.
func (s session) told(ctx context.Context, r Result) Result {
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

// captures lists those of a payment, newest first, as far as one page goes; nil with a result when it can not.
func (s session) captures(ctx context.Context, t *v1.Transaction) ([]v1.Capture, Result) {
	limit := 100
	a := s.x.call(ctx, func(ctx context.Context) (*http.Response, error) {
		return s.x.client.ListTransactionCaptures(ctx, t.ID, &v1.ListTransactionCapturesParams{Limit: &limit}, s.authorized)
	})
	var page v1.CaptureList
	if r, ok := a.read(&page, func() bool { return page.Data != nil }); !ok {
		return nil, r
	}
	return append([]v1.Capture{}, page.Data...), Result{}
}

// authorizedAs reads the payment of that number, or else the one that the Named Authorize of that
// name made. The name of a payment that is NotFound is used up: see sought.
func (s session) authorizedAs(ctx context.Context, n Number, name string) (*v1.Transaction, Result) {
	if n != "" {
		return s.target(ctx, n)
	}
	txn, r := s.sought(ctx, name, PaymentAuthorize)
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
	made, r := s.sought(ctx, c.Name, PaymentCapture, PaymentAuthorize)
	switch {
	case made == "":
		return nil, nil, r
	case !is(id.Capture, made):
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
