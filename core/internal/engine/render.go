package engine

import "github.com/causeway-pay/causeway/core/internal/payment"

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
	return e.rendered(Result{Kind: Refused, Transaction: t, Refusal: why, RequestID: requestID})
}

// unknown returns the result of a step whose outcome is not known yet because of cause. t is nil
// for a step without a transaction.
func (e *Engine) unknown(requestID string, t *payment.Transaction, cause error) Result {
	return e.rendered(Result{Kind: Unknown, Transaction: t, RequestID: requestID, cause: cause})
}

// shown returns the object as events and audit records show it.
func (e *Engine) shown(object any) []byte { return e.existing(object).Body }

// event builds the announcement of an object's transition.
func (e *Engine) event(kind string, t payment.Tenant, object, sequence int64, data []byte) *payment.Event {
	return &payment.Event{ID: e.IDs.Next(), Tenant: t, Type: kind, Object: object, Sequence: sequence, Data: data}
}
