// Package jwkcheck decides whether a JWK may be registered for the encryption of responses. It is
// pure: bytes in, a key or a reason out.
package jwkcheck
