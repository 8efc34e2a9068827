// Package executor runs the commands of every legacy dialect as v1 calls. It checks conditions,
// chooses Idempotency-Keys, and decides the result after a lost response.
//
// Package v1client sends the calls. Package deduplication keeps equal requests from having two
// effects.
package executor
