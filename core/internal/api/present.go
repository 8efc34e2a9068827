package api

import (
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Presenter shows what the engine did in the contract's words.
type Presenter struct{}

var _ engine.Presenter = Presenter{}

// Created answers a create, or the confirmation of what was created before.
func (p Presenter) Created(requestID string, t *payment.Transaction) engine.Answer {
	switch t.Status {
	case payment.Declined:
		return p.Refused(requestID, &payment.Refusal{Code: codeCardDeclined, Message: codes[codeCardDeclined].message}, t)
	case payment.Failed:
		return p.Refused(requestID, &payment.Refusal{Code: codeNotProcessed, Message: codes[codeNotProcessed].message}, t)
	case payment.Processing, payment.Unknown:
		return p.Lost(requestID, t)
	case payment.RequiresConfirmation, payment.Authorized, payment.PartiallyCaptured, payment.Captured, payment.Voided, payment.Canceled,
		payment.Expired:
	}
	status := http.StatusCreated
	if t.Attempt > 0 && t.Status != payment.RequiresConfirmation {
		status = http.StatusOK
	}
	return engine.Answer{Status: status, Body: encode(showTransaction(t)), Outcome: string(t.Status)}
}

// Transaction answers a step that left or made a transaction.
func (Presenter) Transaction(t *payment.Transaction) engine.Answer {
	return engine.Answer{Status: http.StatusOK, Body: encode(showTransaction(t)), Outcome: string(t.Status)}
}

// Capture answers a step that left or made a capture.
func (Presenter) Capture(c *payment.Capture) engine.Answer {
	return engine.Answer{Status: http.StatusCreated, Body: encode(showCapture(c)), Outcome: string(c.State)}
}

// Refund answers a step that left or made a refund.
func (Presenter) Refund(r *payment.Refund) engine.Answer {
	return engine.Answer{Status: http.StatusCreated, Body: encode(showRefund(r)), Outcome: string(r.State)}
}

// Refused answers a step that was refused, with the transaction as it stands.
func (Presenter) Refused(requestID string, r *payment.Refusal, t *payment.Transaction) engine.Answer {
	status, body := (&fault{code: r.Code, param: r.Param, message: r.Message}).body(requestID)
	if t != nil {
		shown := showTransaction(t)
		body.Error.Transaction = &shown
		body.Error.DeclineCode = shown.DeclineCode
	}
	return engine.Answer{Status: status, Body: encode(body), RetryAfter: retryAfter[r.Code], Outcome: r.Code}
}

// Lost answers a request whose outcome is not known yet.
func (p Presenter) Lost(requestID string, t *payment.Transaction) engine.Answer {
	return p.Refused(requestID, &payment.Refusal{Code: codeOutcomeUnknown}, t)
}

// encode writes JSON. The values are our own types, which cannot fail to encode.
func encode(v any) []byte {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		panic("api: internal error: a contract type does not encode")
	}
	return b
}

// encodeSecret writes JSON that shows a secret to the client.
func encodeSecret(v any) []byte {
	b, err := v1.Marshal(v)
	if err != nil {
		panic("api: internal error: a contract type does not encode")
	}
	return b
}

// decodeDetails reads what the merchant gave at creation back into the object. It was written by encode.
func decodeDetails(b []byte, into any) {
	if len(b) == 0 {
		return
	}
	if err := json.Unmarshal(b, into); err != nil {
		panic("api: internal error: stored details do not decode")
	}
}

func mode(t payment.Tenant) v1.Mode {
	if t.Live {
		return v1.ModeLive
	}
	return v1.ModeTest
}

func failure(code, message string) *v1.Failure {
	if code == "" {
		return nil
	}
	return &v1.Failure{Code: code, Message: message}
}

func showTransaction(t *payment.Transaction) v1.Transaction {
	var out v1.Transaction
	decodeDetails(t.Details, &out)
	out.ID = id.Format(id.Transaction, t.ID)
	out.Object = v1.TransactionObjectTransaction
	out.Mode = mode(t.Tenant)
	out.Status = v1.TransactionStatus(t.Status)
	out.Amount, out.Currency = t.Amount, t.Currency
	out.AmountAuthorized, out.AmountCaptured, out.AmountRefunded = t.Authorized, t.Captured, t.Refunded
	out.AmountCapturable, out.AmountRefundable = t.Capturable(), t.Refundable()
	out.Settlement = v1.Settlement(t.Settlement())
	out.Capture = v1.CaptureModeManual
	if t.AutoCapture {
		out.Capture = v1.CaptureModeAutomatic
	}
	out.PartialAuthorization = v1.PartialAuthorizationNever
	if t.Partial {
		out.PartialAuthorization = v1.PartialAuthorizationIfAvailable
	}
	out.PaymentMethod = t.PaymentMethod
	out.Failure = failure(t.Result.FailureCode, t.Result.FailureMessage)
	out.Version = t.Version
	out.CreatedAt, out.UpdatedAt = v1.Time{Time: t.CreatedAt}, v1.Time{Time: t.UpdatedAt}
	if out.Metadata == nil {
		out.Metadata = v1.Metadata{}
	}
	showResult(&out, &t.Result)
	return out
}

// showResult adds what the acquirer said, once it was reached.
func showResult(out *v1.Transaction, r *payment.Result) {
	if !r.Reached {
		return
	}
	if r.DeclineCode != "" {
		code := v1.DeclineCode(r.DeclineCode)
		out.DeclineCode = &code
	}
	out.Checks = &v1.Checks{
		Cvc: v1.CheckResult(r.CheckCVC), AddressLine: v1.CheckResult(r.CheckAddressLine), PostalCode: v1.CheckResult(r.CheckPostalCode),
	}
	out.Authorization = &v1.Authorization{
		Code: text(r.Code), NetworkTransactionID: text(r.NetworkTransactionID), ResponseCode: r.ResponseCode, Balance: r.Balance,
		AvsResultCode: text(r.AVSCode), CvcResultCode: text(r.CVCCode), CavvResultCode: text(r.CAVVCode),
	}
	if !r.ExpiresAt.IsZero() {
		out.Authorization.ExpiresAt = &v1.Time{Time: r.ExpiresAt}
	}
}

func showCapture(c *payment.Capture) v1.Capture {
	var out v1.Capture
	decodeDetails(c.Details, &out)
	out.ID = id.Format(id.Capture, c.ID)
	out.Object = v1.CaptureObjectCapture
	out.Mode = mode(c.Tenant)
	out.Transaction = id.Format(id.Transaction, c.Transaction)
	out.Status = v1.CaptureStatus(c.State)
	out.Amount, out.Currency, out.Final = c.Amount, c.Currency, c.Final
	out.AmountRefunded = c.Refunded
	out.Settlement = captureSettlement(c)
	out.Failure = failure(c.FailureCode, c.FailureMessage)
	if out.Metadata == nil {
		out.Metadata = v1.Metadata{}
	}
	out.CreatedAt, out.UpdatedAt = v1.Time{Time: c.CreatedAt}, v1.Time{Time: c.UpdatedAt}
	return out
}

func captureSettlement(c *payment.Capture) v1.Settlement {
	switch {
	case c.Settled:
		return v1.SettlementSettled
	case c.State == payment.StepSucceeded:
		return v1.SettlementPending
	default:
		return v1.SettlementNone
	}
}

func showRefund(r *payment.Refund) v1.Refund {
	var out v1.Refund
	decodeDetails(r.Details, &out)
	out.ID = id.Format(id.Refund, r.ID)
	out.Object = v1.RefundObjectRefund
	out.Mode = mode(r.Tenant)
	if r.Transaction != 0 {
		out.Transaction = id.Format(id.Transaction, r.Transaction)
	}
	if r.Capture != 0 {
		capture := id.Format(id.Capture, r.Capture)
		out.Capture = &capture
	}
	out.Status = v1.RefundStatus(r.State)
	out.Amount, out.Currency = r.Amount, r.Currency
	out.Failure = failure(r.FailureCode, r.FailureMessage)
	if out.Metadata == nil {
		out.Metadata = v1.Metadata{}
	}
	out.CreatedAt, out.UpdatedAt = v1.Time{Time: r.CreatedAt}, v1.Time{Time: r.UpdatedAt}
	return out
}

func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
