package engine

import (
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/secret"
)

// Kind is the effect of a changing request.
type Kind string

// The kinds.
const (
	Created  Kind = "created"  // the request made the object
	Existing Kind = "existing" // the object existed before, and is now as shown
	Deleted  Kind = "deleted"  // the object has ended
	Refused  Kind = "refused"  // no effect, for the reason in Refusal
	Unknown  Kind = "unknown"  // a step whose outcome is not known yet
)

// Result is the result of a changing request, with the response that Config.Render made of it. The
// result of a repeated request has only the stored response, and Replayed.
type Result struct {
	Kind Kind
	// Object is a pointer to one of these types of payment: Transaction, Capture, Refund, Token,
	// Customer, Method, APIKey, OperatorToken, Merchant, Account, Endpoint, Event, Broadcast. It can
	// be a []*payment.Delivery, a *v1.ShippingAddress, and a pointer to a ResolvedStep,
	// ResolvedException, AccountCheck, Reservation, SettlementRun or TestTime. In audit records and
	// broadcasts it can also be a *payment.MLERequirement. It is nil if the result is Refused or
	// Unknown.
	Object      any
	Refusal     *payment.Refusal     // of a result that is Refused
	RequestID   string               // of a result that is Refused or Unknown
	Transaction *payment.Transaction // of the step, if the result is Refused or Unknown; nil if it has none
	At          time.Time            // the time at which the state of an API key or operator token is shown
	Credential  secret.String        // shown by the response, which is then stored encrypted
	Response
	Replayed bool
	cause    error // of a result that is Unknown
}

// Response is a result as the client receives it. The engine stores it under the idempotency key in
// the commit of its effect, and reads nothing from it.
type Response struct {
	Status int
	Body   []byte
}

func value(a *Result) Result {
	if a == nil {
		return Result{}
	}
	return *a
}
