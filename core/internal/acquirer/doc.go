// Package acquirer is the port to the company that moves the money: the engine's requests to an
// acquirer and the possible outcomes.
//
// An acquirer is never called inside a store transaction. The engine commits the intent, calls, and
// commits the outcome. Every request carries a reference. The acquirer must treat it as the
// idempotency key, and Inquire finds the outcome by it.
package acquirer
