// Package extproc is Envoy's shell around the engine: an external processor over gRPC on a unix socket. It is the only package that knows
// Envoy's types. The engine decides, this package carries: no rule of the protocol is here.
//
// It stands or falls by what Envoy makes of a stream. A message has one answer, in order; a stream that the server ends well ends the
// processing, and Envoy lets the request go on as it came: so the server never ends one well that Envoy has not ended. What it cannot answer
// it ends with an error, which Envoy, told failure_mode_allow: false, answers with one of its own.
package extproc
