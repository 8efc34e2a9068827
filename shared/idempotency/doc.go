// Package idempotency reads the Idempotency-Key header and compares request bodies. Core,
// mle-filter and compat-proxy use it, so that one header value names the same key in each of them.
package idempotency
