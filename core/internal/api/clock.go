package api

import (
	"net/http"
	"time"

	"github.com/causeway-pay/causeway/core/internal/engine"
)

// setDate sets Date to the clock's time. Clients compare it with the time of an earlier request,
// which is by the clock, too. A clock that is ahead by mistake would make each retry seem to be a
// new payment. So Date is behind a clock that stepped ahead while core ran, until the step is
// believed. It does not wait after a downtime, because that time may have passed. With a store on a
// server, Date is behind a clock that is ahead of the server's, and nothing else: all cores show
// one Date.
func (a *API) setDate(h http.Header) {
	h.Set("Date", a.Clock.Now().Add(-a.dateBehind()).UTC().Format(http.TimeFormat))
}

func (a *API) dateBehind() time.Duration {
	if a.ClockOffset == nil {
		return a.Store.ClockStepped()
	}
	if offset, _ := a.ClockOffset(); offset > time.Second {
		return offset
	}
	return 0
}

// clockFault refuses a request that changes something if the clock is off the store's by more than
// engine.RequestTolerance. By its clock a core decides whether an Idempotency-Key has expired. With
// a clock a day off, it would take a retry for a new payment. Reads get their response, except the
// read of an Idempotency-Key. A client that reads by mistake that the key was never used sends the
// payment again.
func (a *API) clockFault(method, route string) *fault {
	reads := (method == http.MethodGet || method == http.MethodHead) && route != idempotencyKeyPath
	if a.ClockOffset == nil || reads {
		return nil
	}
	if ahead, _ := a.ClockOffset(); ahead.Abs() > engine.RequestTolerance {
		return &fault{code: codeStoreUnavailable, message: "The clock of this service is wrong. Retry after the seconds in Retry-After, with the same Idempotency-Key."}
	}
	return nil
}
