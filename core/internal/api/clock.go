package api

import (
	"net/http"
	"time"
)

// clockBound is how far the clock may be off the store's where anything is carried out. By its clock a core tells whether an Idempotency-Key is remembered
// still: one that is a day off would make a new payment of a repetition, and what it remembers itself others would have forgotten. Up to this bound that,
// the end of tokens and keys, and the times of events are off by no more than anybody notices; the core is not ready all the same, from five seconds on.
const clockBound = time.Minute

// clockFault is the answer to a request by a core that cannot tell the time; what only reads is answered. What became of an Idempotency-Key is told by
// that clock too: who is told by mistake that it was never used carries it out again, at another core.
func (a *API) clockFault(method, route string) *fault {
	reads := (method == http.MethodGet || method == http.MethodHead) && route != idempotencyKeyPath
	if a.ClockOffset == nil || reads {
		return nil
	}
	if ahead, _ := a.ClockOffset(); ahead.Abs() > clockBound {
		return &fault{code: codeStoreUnavailable, message: "The clock of this service is off. Try again, with the same Idempotency-Key."}
	}
	return nil
}
