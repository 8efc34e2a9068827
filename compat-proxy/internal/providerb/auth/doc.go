// Package auth authenticates requests of the provider-b dialect. The login is an HTTP signature, a
// JWT of either generation, or a v1 API key as bearer. The package reads the bytes as they were
// received, and does not depend on the payments in them.
package auth
