// Package idempotency reads the Idempotency-Key header. Core, mle-filter and compat-proxy use it,
// so that one header value names the same key in each of them.
package idempotency
