// Package deduplication keeps equal legacy requests from having two effects.
//
// It stores nothing itself. A request runs under an Idempotency-Key of v1 that equal requests
// share, so v1 decides which one has the effect. All proxies with the same secret derive the same
// keys, and only v1's clock counts.
package deduplication
