// Package jwe opens and seals what message-level encryption carries: JWE in compact serialization, under two algorithms and nothing else.
// Bytes in, bytes out; go-jose does the cryptography and the parsing that decides.
//
// Opening has three steps, so that whoever calls can put its own rules between them: Parse does all that needs no key, Bind ties the message
// to a private key, and Open does the private operation. What Parse and Bind refuse can be explained to the sender, for anybody could have
// worked it out. What Open refuses cannot: it has one error, whose making takes as long whatever was wrong.
package jwe
