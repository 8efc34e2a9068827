// Package jwkcheck says whether a JWK may be registered for answers to be encrypted to. It is pure: bytes in, a key or a reason out.
package jwkcheck
