package api

import (
	"net/http"
	"time"

	"github.com/causeway-pay/causeway/core/internal/engine"
)

// setDate sets Date to the clock's time. Clients compare it with the time of an earlier request,
// which came from the same clock. If Date followed a wrong clock, each retry would seem to be a new
// payment. So after the clock steps ahead while core runs, Date stays behind it until the step is
// accepted. After the clock is set back, Date goes on from before: see store.DB.DateAt. After a
// downtime Date follows the clock, because that time may have passed. With a store on a server,
// Date is the server's time if core's clock is ahead of it, so all cores show one Date.
func (a *API) setDate(h http.Header) {
	h.Set("Date", a.Store.DateAt(a.Clock.Now().Add(-a.dateBehind())).UTC().Format(http.TimeFormat))
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
// engine.RequestTolerance. A core decides by its clock whether an Idempotency-Key has expired. With
// a wrong clock it could treat a retry as a new payment. Reads are served, except the read of an
// Idempotency-Key. Otherwise a client could read that a used key is unused, and send the payment
// again.
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
