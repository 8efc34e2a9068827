// Package command holds what every legacy dialect is reduced to, and the one executor that turns it into v1 calls.
//
// Decoders build commands from legacy requests, encoders build legacy answers from results; both are pure. What happens in
// between happens here, once, for all dialects: conditions, idempotency keys, bounded retries, and what a lost answer means.
package command
