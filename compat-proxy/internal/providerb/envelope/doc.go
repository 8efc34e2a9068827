// Package envelope opens and seals the provider's own message encryption: a body that is a JSON
// object with a JWE as its only member. It neither reads the content nor checks permissions.
package envelope
