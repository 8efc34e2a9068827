// Package auth finds out whose request it is: it resolves API keys to principals, and holds the
// secrets that keyed hashes are made with.
package auth
