package api

import (
	"net/http"
	"time"

	"github.com/causeway-pay/causeway/core/internal/engine"
)

// setDate sets Date to the confirmed time, or to the time of the store's server, if the clock is ahead
// of it. Clients may measure by Date how old an earlier request is: by a clock that is ahead by
// mistake, a retry would seem to be a new payment. Else net/http sets Date.
func (a *API) setDate(h http.Header) {
	ahead := a.Store.ClockAhead()
	if a.ClockOffset != nil {
		if offset, _ := a.ClockOffset(); offset > time.Second {
			ahead = max(ahead, offset)
		}
	}
	if ahead > 0 {
		h.Set("Date", a.Clock.Now().Add(-ahead).UTC().Format(http.TimeFormat))
	}
}

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
