// Package providera implements the provider-a dialect. A request, XML or JSON, becomes commands,
// and their results become one response.
//
// Decoding and encoding are pure. A request passes through wire.Parse (syntax and schema), auth.go
// (the login), the scopes of the method catalogue, and decode.go (local checks, commands). Then
// come the executor, encode.go (the response) and package wire again (bytes). DIVERGENCES.md lists
// the differences from the provider, and the reasons.
package providera
