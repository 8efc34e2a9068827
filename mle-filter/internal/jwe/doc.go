// Package jwe encrypts and decrypts the messages of message-level encryption: JWE in compact
// serialization, with two algorithms. go-jose does the cryptography and the decisive parsing.
//
// Decryption has three steps, so that the caller can apply its own rules between them. Parse makes
// all checks that need no key, Bind assigns a private key to the message, and Open decrypts. Errors
// of Parse and Bind can be explained to the sender, because they depend only on public data. Open
// returns the same error after the same time for every fault.
package jwe
