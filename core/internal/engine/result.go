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
	// Object is of one of these types: *payment.Transaction, *payment.Capture, *payment.Refund,
	// *payment.Token, *payment.Customer, *payment.Method, *payment.APIKey, *payment.OperatorToken,
	// *payment.Merchant, *payment.Endpoint, *payment.Event, *payment.Broadcast, []*payment.Delivery,
	// *ResolvedStep, *Reservation, *SettlementRun or *TestTime. A result that is Refused or Unknown
	// has the *payment.Transaction of the step, or nil.
	Object     any
	Refusal    *payment.Refusal // of a result that is Refused
	RequestID  string           // of a result that is Refused or Unknown
	At         time.Time        // the state of an API key or operator token is that of this time
	Credential secret.String    // that the response shows; it is stored encrypted then
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

// Reservation is an idempotency key that a client has reserved.
type Reservation struct {
	Purpose              string
	CreatedAt, ExpiresAt time.Time
}

// ResolvedStep is an unfinished step, with the resolution that has ended it unless that is nil.
type ResolvedStep struct {
	*payment.Unfinished
	Resolution *Resolution
}

// SettlementRun is the result of one settlement run of the test helpers.
type SettlementRun struct {
	Settled int  // transactions
	More    bool // transactions wait for the next run
}

// rendered returns r with its response.
func (e *Engine) rendered(r Result) Result {
	r.Response = e.Render(r)
	return r
}

func (e *Engine) created(object any) Result {
	return e.rendered(Result{Kind: Created, Object: object})
}

func (e *Engine) existing(object any) Result {
	return e.rendered(Result{Kind: Existing, Object: object})
}

func (e *Engine) deleted(object any) Result {
	return e.rendered(Result{Kind: Deleted, Object: object})
}

// refused returns the result of a step that the object's state or the acquirer does not allow. t is
// nil for a step without a transaction.
func (e *Engine) refused(requestID string, why *payment.Refusal, t *payment.Transaction) Result {
	return e.rendered(Result{Kind: Refused, Object: t, Refusal: why, RequestID: requestID})
}

// unknown returns the result of a step whose outcome is not known yet because of cause. t is nil
// for a step without a transaction.
func (e *Engine) unknown(requestID string, t *payment.Transaction, cause error) Result {
	return e.rendered(Result{Kind: Unknown, Object: t, RequestID: requestID, cause: cause})
}

// decided returns the result of a payment, or of a confirmation, that the acquirer decided.
func (e *Engine) decided(requestID string, t *payment.Transaction) Result {
	switch {
	case t.Status == payment.Declined:
		return e.refused(requestID, &payment.Refusal{Code: cardDeclined}, t)
	case t.Attempt > 0:
		return e.existing(t)
	}
	return e.created(t)
}

// shown returns the object as events and audit records show it.
func (e *Engine) shown(object any) []byte { return e.existing(object).Body }
