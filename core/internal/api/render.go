package api

import (
	"bytes"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Render returns the response to a changing request. The engine stores it in the commit of the
// request's effect.
func Render(r engine.Result) engine.Response {
	switch r.Kind {
	case engine.Refused:
		return refusalResponse(&r, *r.Refusal)
	case engine.Unknown:
		return refusalResponse(&r, payment.Refusal{Code: codeOutcomeUnknown})
	case engine.Deleted:
		return engine.Response{Status: http.StatusOK, Body: encode(deleted(r.Object))}
	case engine.Created:
		return engine.Response{Status: http.StatusCreated, Body: object(&r)}
	case engine.Existing:
	}
	return engine.Response{Status: http.StatusOK, Body: object(&r)}
}

// refusalResponse returns the response to a refused step, with the present state of the
// transaction.
func refusalResponse(r *engine.Result, why payment.Refusal) engine.Response {
	status, body := (&fault{code: why.Code, param: why.Param, message: why.Message}).body(r.RequestID)
	if r.Transaction != nil {
		shown := showTransaction(r.Transaction)
		body.Error.Transaction = &shown
		body.Error.DeclineCode = shown.DeclineCode
		if why.Code == codeCardDeclined {
			body.Error.Message = declineMessage(shown.DeclineCode)
		}
	}
	return engine.Response{Status: status, Body: encode(body)}
}

// object returns the object of a result, with its credential.
func object(r *engine.Result) []byte {
	switch o := r.Object.(type) {
	case *payment.Transaction:
		return withClientSecret(encode(showTransaction(o)), r.Credential)
	case *payment.Capture:
		return encode(showCapture(o))
	case *payment.Refund:
		return encode(showRefund(o))
	case *payment.Token:
		shown := showToken(o)
		return withCredential(&shown, &shown.Value, r.Credential)
	case *payment.Customer:
		return encode(showCustomer(o))
	case *payment.Method:
		return encode(showMethod(o))
	case *v1.ShippingAddress:
		return encode(o)
	case *payment.Event:
		return Event(o)
	case *payment.Endpoint:
		shown := showEndpoint(o)
		return withCredential(&shown, &shown.Secret, r.Credential)
	case []*payment.Delivery:
		return showList(payment.Page{}, payment.List[*payment.Delivery]{Rows: o}, showDelivery)
	case *payment.APIKey:
		shown := ShowKey(o, r.At)
		return withCredential(&shown, &shown.Secret, r.Credential)
	}
	return administered(r)
}

// administered returns an object of operators or of the test helpers.
func administered(r *engine.Result) []byte {
	switch o := r.Object.(type) {
	case *payment.Merchant:
		return encode(ShowMerchant(*o))
	case *payment.OperatorToken:
		shown := ShowOperator(o, r.At)
		return withCredential(&shown, &shown.Token, r.Credential)
	case *payment.MLERequirement:
		shown := ShowMLERequirement(o)
		return encode(&shown)
	case *payment.Account:
		shown := ShowAccount(o)
		return encode(&shown)
	case *engine.AccountCheck:
		return encode(showAccountCheck(o))
	case *payment.Broadcast:
		return encode(showBroadcast(o))
	case *engine.ResolvedStep:
		return encode(ShowStep(o.Unfinished, o.Resolution))
	case *engine.ResolvedException:
		return encode(ShowException(o.SettlementException, o.Resolution))
	case *engine.Reservation:
		return encode(showReservation(o))
	case *engine.SettlementRun:
		return encode(&v1.SettlementRun{
			Object: v1.SettlementRunObjectSettlementRun, TransactionsSettled: o.Settled, HasMore: o.More,
		})
	case *engine.TestTime:
		return encode(showTestClock(o))
	}
	panic("api: internal error: a result of an unknown type")
}

// deleted returns the response to the end of an object.
func deleted(object any) *v1.Deleted {
	out := &v1.Deleted{Deleted: true}
	switch o := object.(type) {
	case *payment.Customer:
		out.ID, out.Object = id.Format(id.Customer, o.ID), string(v1.CustomerObjectCustomer)
	case *payment.Method:
		out.ID, out.Object = id.Format(id.PaymentMethod, o.ID), string(v1.PaymentMethodObjectPaymentMethod)
	case *v1.ShippingAddress:
		out.ID, out.Object = o.ID, string(v1.ShippingAddressObjectShippingAddress)
	case *payment.Endpoint:
		out.ID, out.Object = id.Format(id.WebhookEndpoint, o.ID), string(v1.WebhookEndpointObjectWebhookEndpoint)
	default:
		panic("api: internal error: a deleted object of an unknown type")
	}
	return out
}

// withCredential encodes an object with its credential in a field, unless that is zero.
func withCredential(shown any, field **secret.String, credential secret.String) []byte {
	if credential.IsZero() {
		return encode(shown)
	}
	*field = &credential
	return encodeSecret(shown)
}

// withClientSecret adds the client secret to a transaction that waits to be confirmed.
func withClientSecret(transaction []byte, credential secret.String) []byte {
	if credential.IsZero() {
		return transaction
	}
	open := bytes.TrimSuffix(transaction, []byte("}"))
	return slices.Concat(open, []byte(`,"client_secret":"`+credential.Reveal()+`"}`))
}

// outcomeName returns the word by which the log names a result.
func outcomeName(r *engine.Result) string {
	switch {
	case r.Replayed:
		return "replayed"
	case r.Kind == engine.Unknown:
		return codeOutcomeUnknown
	case r.Kind == engine.Refused:
		return r.Refusal.Code
	}
	switch o := r.Object.(type) {
	case *payment.Transaction:
		return string(o.Status)
	case *payment.Capture:
		return string(o.State)
	case *payment.Refund:
		return string(o.State)
	}
	return ""
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
	b, err := v1.MarshalRevealed(v)
	if err != nil {
		panic("api: internal error: a contract type does not encode")
	}
	return b
}

// decodeDetails reads the stored fields of the merchant back into the object. encode wrote them.
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
	if !t.Status.Open() { // otherwise it is the result of an earlier confirmation
		showResult(&out, &t.Result)
	}
	return out
}

// showResult adds the decline code, and the acquirer's result if the acquirer was reached. A
// decline by the rules of the card's network reaches none.
func showResult(out *v1.Transaction, r *payment.Result) {
	if r.DeclineCode != "" {
		code := v1.DeclineCode(r.DeclineCode)
		out.DeclineCode = &code
	}
	if !r.Reached {
		return
	}
	out.Checks = &v1.Checks{
		Cvc: v1.CheckResult(r.CheckCVC), AddressLine: v1.CheckResult(r.CheckAddressLine), PostalCode: v1.CheckResult(r.CheckPostalCode),
	}
	out.Authorization = &v1.Authorization{
		Code: v1.Optional(r.Code), NetworkTransactionID: v1.Optional(r.NetworkTransactionID), ResponseCode: r.ResponseCode, Balance: r.Balance,
		NetworkLinkID: v1.Optional(r.NetworkLinkID),
		AvsResultCode: v1.Optional(r.AVSCode), CvcResultCode: v1.Optional(r.CVCCode), CavvResultCode: v1.Optional(r.CAVVCode),
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
	out.SettlementDay = optionalDay(c.SettlementDay)
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
	out.Settlement = v1.Settlement(r.Settlement())
	out.SettlementDay = optionalDay(r.SettlementDay)
	out.Failure = failure(r.FailureCode, r.FailureMessage)
	if out.Metadata == nil {
		out.Metadata = v1.Metadata{}
	}
	out.CreatedAt, out.UpdatedAt = v1.Time{Time: r.CreatedAt}, v1.Time{Time: r.UpdatedAt}
	return out
}
