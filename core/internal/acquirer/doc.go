// Package acquirer is the port to whoever moves the money: what the engine asks of an acquirer and what it may hear back.
//
// An acquirer is never called inside a store transaction. The engine commits the intent, calls, and commits the outcome; every
// request carries a reference the acquirer must treat as its idempotency key, and by which Inquire finds the answer again.
package acquirer
