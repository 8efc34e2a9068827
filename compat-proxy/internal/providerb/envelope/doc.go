// Package envelope decrypts requests and encrypts responses in the provider's message encryption.
// Such a body is a JSON object with a JWE as its only member. The package neither reads the content
// nor checks permissions.
package envelope
