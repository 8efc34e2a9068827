// Package acquirer is the port to the company that moves the money: the engine's requests to an
// acquirer and the possible outcomes.
//
// An acquirer is never called inside a store transaction. The engine commits the intent, calls, and
// commits the outcome. Every request carries a reference. An acquirer that has idempotency keys
// uses it as the key. Any other connector searches for an earlier request with that reference, or
// undoes it.
package acquirer
