// Package envelope opens and seals the provider's own message encryption: a body that is a JSON object with a JWE as its only member. It
// knows nothing of what is inside, nor of who may use it.
package envelope
