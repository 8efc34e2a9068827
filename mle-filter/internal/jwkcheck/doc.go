// Package jwkcheck decides whether a JWK may be registered for encrypted responses. It is pure: it
// has no store and no clock.
package jwkcheck
