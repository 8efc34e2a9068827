// Package engine carries out the use cases of v1, one verb a file.
//
// Each verb that moves money has three phases. Intent: one commit claims the idempotency key and
// makes the request durable. Call: the acquirer gets the request, outside any store transaction.
// Outcome: one commit holds the change, its event and the stored response. A process that dies
// between the phases leaves an open intent. Recovery inquires at the acquirer and finishes it; it
// never guesses.
//
// A verb returns a Result. Config.Render turns it into the response that is stored.
package engine
