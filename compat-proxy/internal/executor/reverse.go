package executor

import (
	"context"
	"net/http"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/money"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func (s session) reverse(ctx context.Context, c command.Reverse) command.Result {
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
		if alone = command.Sale(t) && t.AmountCaptured == t.AmountAuthorized; alone {
			if _, alone, r = s.onlyCapture(ctx, t, nil); r.Outcome != "" {
				return r
			}
		}
	default: // v1 refuses it, or has the stored response to this command
		return s.withVoidedCapture(ctx, s.voidRead(ctx, t))
	}
	if !alone {
		return notVoidable(t, nil)
	}
	if unmet := unmetBy(c, t); unmet != "" {
		return command.Result{Outcome: command.Unmet, Unmet: unmet, Transaction: t}
	}
	return s.voidRead(ctx, t)
}

// unmetBy returns the condition of c that does not hold for t.
func unmetBy(c command.Reverse, t *v1.Transaction) command.Condition {
	if _, unmet := check(t, c.Require, ""); unmet != "" || c.Amount == "" {
		return unmet
	}
	currency, known := money.Lookup(t.Currency)
	minor, err := money.Parse(c.Amount, currency.Exponent)
	// Without a response, the client does not have the partial amount.
	whole := minor == t.AmountAuthorized || c.Target == "" && minor == t.Amount
	if !known || err != nil || !whole {
		return command.ConditionAmount
	}
	return ""
}

func (s session) cancelCapture(ctx context.Context, c command.CancelCapture) command.Result {
	t, captured, r := s.capturedAs(ctx, c)
	if t == nil {
		return r
	}
	only := true
	switch t.Status {
	case v1.TransactionStatusAuthorized:
		// The number releases the authorization, as nothing of it is captured. The name only undoes an
		// interrupted sale: the named capture may never have reached v1.
		only = captured == nil && c.Target != "" || c.Target == "" && command.Sale(t)
	case v1.TransactionStatusPartiallyCaptured:
		only = false
	case v1.TransactionStatusCaptured:
		if captured, only, r = s.onlyCapture(ctx, t, captured); r.Outcome != "" {
			return r
		}
	default: // v1 refuses it, or has the stored response to this command
	}
	if !only {
		return notVoidable(t, captured)
	}
	done := s.voidRead(ctx, t)
	done.Capture = captured
	return s.withVoidedCapture(ctx, done)
}

// onlyCapture reports whether a fully captured payment has only one capture: the given one, if it
// is not nil. It returns that capture if it is known, and a result if it cannot decide.
func (s session) onlyCapture(
	ctx context.Context, t *v1.Transaction, captured *v1.Capture,
) (*v1.Capture, bool, command.Result) {
	if captured != nil {
		return captured, captured.Status == v1.CaptureStatusSucceeded && captured.Amount == t.AmountCaptured, command.Result{}
	}
	if t.Capture == v1.CaptureModeAutomatic {
		return nil, true, command.Result{}
	}
	list, r := s.captures(ctx, t)
	if list == nil {
		return nil, false, r
	}
	for i := range list {
		if list[i].Status != v1.CaptureStatusFailed {
			return &list[i], list[i].Amount == t.AmountCaptured, command.Result{}
		}
	}
	return nil, false, command.Result{}
}

// withVoidedCapture adds to the result of a voided payment the capture that was voided with it, if
// it is not there yet. It distinguishes a released payment from a canceled capture. It adds nothing
// if v1 does not respond.
func (s session) withVoidedCapture(ctx context.Context, r command.Result) command.Result {
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
func (s session) captures(ctx context.Context, t *v1.Transaction) ([]v1.Capture, command.Result) {
	params := &v1.ListTransactionCapturesParams{Limit: new(100)}
	resp := s.x.call(ctx, func(ctx context.Context) (*http.Response, error) {
		return s.x.client.API.ListTransactionCaptures(ctx, t.ID, params, s.WithKey)
	})
	var page v1.CaptureList
	if r, ok := resp.read(&page, func() bool { return page.Data != nil }); !ok {
		return nil, r
	}
	return append([]v1.Capture{}, page.Data...), command.Result{}
}

// authorizedAs reads the payment with that number, or else the one that the Named Authorize of that
// name made. The name of a Named Capture is Refused with its payment, unless the capture failed. If
// the name is NotFound, it is used anyway: see findNamed.
func (s session) authorizedAs(ctx context.Context, n command.Number, name string) (*v1.Transaction, command.Result) {
	if n != "" {
		return s.target(ctx, n)
	}
	made, r := s.findUnlessRefunded(ctx, name, command.PaymentAuthorize, command.PaymentCapture)
	if isID(id.Capture, made) {
		captured, failed := s.captureOf(ctx, made)
		switch {
		case captured == nil:
			return nil, failed
		case captured.Status == v1.CaptureStatusPending:
			return nil, command.KeyInUse()
		case captured.Status != v1.CaptureStatusFailed:
			return nil, s.capturedInstead(ctx, captured)
		}
		made, r = s.findUnlessRefunded(ctx, name, command.PaymentAuthorize) // the capture keeps its key
	}
	if made == "" {
		return nil, r
	}
	return s.read(ctx, made)
}

// capturedInstead returns the result if the name of a payment is a capture's.
func (s session) capturedInstead(ctx context.Context, captured *v1.Capture) command.Result {
	t, r := s.read(ctx, captured.Transaction)
	if t == nil {
		return r
	}
	return notVoidable(t, captured)
}

// notVoidable returns the result if v1's void would cancel more of a payment than its client named.
func notVoidable(t *v1.Transaction, captured *v1.Capture) command.Result {
	return command.Result{
		Outcome: command.Refused, Status: http.StatusConflict, Code: v1.CodeNotVoidable, Transaction: t, Capture: captured,
	}
}

// findUnlessRefunded is findNamed, unless a Named Refund or Credit with that name had an effect, or
// may still have one. Then it returns "" and the result to give. If it is NotFound without a
// refund, a refund under the name that arrives later has no effect either. The other kinds count
// before refunds.
func (s session) findUnlessRefunded(
	ctx context.Context, name string, kinds ...command.Kind,
) (string, command.Result) {
	made, r := s.findNamed(ctx, name, append(kinds, command.PaymentRefund)...)
	if !isID(id.Refund, made) {
		return made, r
	}
	found, failed := s.refundOf(ctx, made)
	switch {
	case found == nil && failed.Outcome == command.NotFound: // v1 made it
		failed.Outcome = command.Unavailable
		return "", failed
	case found == nil:
		return "", failed
	case found.Status == v1.RefundStatusPending:
		return "", command.KeyInUse()
	case found.Status == v1.RefundStatusFailed: // without an effect, and it keeps its key
		return s.findNamed(ctx, name, kinds...)
	}
	return "", command.Result{Outcome: command.NotFound, Status: http.StatusNotFound, Refund: found}
}

// capturedAs reads the payment that c names, and the capture if c names one.
func (s session) capturedAs(
	ctx context.Context, c command.CancelCapture,
) (*v1.Transaction, *v1.Capture, command.Result) {
	if c.Target != "" {
		return s.payment(ctx, c.Target, true)
	}
	made, r := s.findUnlessRefunded(ctx, c.Name, command.PaymentCapture, command.PaymentAuthorize)
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
