// Package providera speaks the provider-a dialect: one request, XML or JSON, becomes commands, and their results one answer.
//
// Decoding and encoding are pure. A request takes this way: wire.Parse (syntax and schema), auth.go (whose key), the scopes of
// the method catalogue, decode.go (local checks, commands), the executor, encode.go (the answer), wire again (bytes). Where this
// differs from the real thing, and why, stands in DIVERGENCES.md.
package providera
