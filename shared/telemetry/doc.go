// Package telemetry makes the spans of a trace and carries W3C trace context from hop to hop.
//
// # Off costs nothing
//
// A nil Tracer is off. Its methods return immediately and allocate nothing, and the zero Span they
// return takes everything and keeps nothing. The caller's trace context is still read (Parse) and
// passed on, because a trace does not end at a hop that records none.
//
// # Nothing that a caller chose
//
// A span holds only words of ours. Its attributes are the Keys of this package, and no other
// package can make one. Their values are counts, or words that are checked (Span.Word). Errors are
// named by their class: their texts hold input, URLs, and worse. No span has events. None carries
// the caller's tracestate, which is passed on to v1 and nowhere else. Baggage is not read.
//
// Package export sends the spans to a collector. It is separate so that a package that only makes
// spans does not link the SDK.
package telemetry
