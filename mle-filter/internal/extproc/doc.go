// Package extproc is Envoy's shell around the engine: an external processor over gRPC on a unix
// socket. Only this package uses Envoy's types. The engine makes the decisions, and this package
// executes them: no rule of the protocol is here.
//
// Envoy expects one response to each message, in order. If the server ends a stream without an
// error, Envoy stops processing and forwards the request unchanged. So the server never does that
// before Envoy has ended the stream. If it cannot respond to a message, it ends the stream with an
// error. With failure_mode_allow: false, Envoy then sends the client an error.
package extproc
