// Package command holds the commands to which every legacy dialect is reduced, and the one executor
// that runs them as v1 calls. Package v1client sends the calls.
//
// Decoders build commands from legacy requests. Encoders build legacy responses from results. Both
// are pure. The executor is the same for all dialects. It checks conditions, chooses idempotency
// keys, and decides the result after a lost response.
package command
