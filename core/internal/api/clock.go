package api

import (
	"net/http"

	"github.com/causeway-pay/causeway/core/internal/engine"
)

// clockFault refuses a request that changes something if the clock is off the store's by more than
// engine.RequestTolerance. By its clock a core decides whether an Idempotency-Key has expired: with a
// clock a day off it would take a retry for a new payment. Reads get their response, except that of an
// Idempotency-Key: a client that reads by mistake that it was never used sends the payment again.
func (a *API) clockFault(method, route string) *fault {
	reads := (method == http.MethodGet || method == http.MethodHead) && route != idempotencyKeyPath
	if a.ClockOffset == nil || reads {
		return nil
	}
	if ahead, _ := a.ClockOffset(); ahead.Abs() > engine.RequestTolerance {
		return &fault{code: codeStoreUnavailable, message: "The clock of this service is off. Try again, with the same Idempotency-Key."}
	}
	return nil
}
