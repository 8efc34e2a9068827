// Package auth authenticates requests: it resolves API keys to principals, and holds the secrets
// for keyed hashes.
package auth
