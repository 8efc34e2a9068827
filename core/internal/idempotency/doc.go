// Package idempotency decides which requests are the same: it names keys for the store and takes
// the fingerprint of a request.
package idempotency
