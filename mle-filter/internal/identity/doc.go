// Package identity says whose request it is. Core knows that and nobody else: it is asked what an API key is by GET /v1/api_keys/current, and
// its word is remembered for 30 seconds at most.
package identity
