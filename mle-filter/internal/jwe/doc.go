// Package jwe opens and seals the messages of message-level encryption: JWE in compact
// serialization, under two algorithms and nothing else. Bytes in, bytes out; go-jose does the
// cryptography and the parsing that decides.
//
// Opening has three steps, so that the caller can put its own rules between them. Parse does all
// that needs no key, Bind ties the message to a private key, and Open does the private operation. A
// refusal of Parse or Bind can be explained to the sender, because it depends on public data alone.
// A refusal of Open cannot: it has one error, which takes equally long for every fault.
package jwe
