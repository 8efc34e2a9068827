// Package idempotency decides which requests are equal. It names idempotency keys for the store and
// computes the fingerprint of a request.
package idempotency
