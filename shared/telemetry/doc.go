// Package telemetry makes the spans of a trace and carries W3C trace context from hop to hop.
//
// # Off costs nothing
//
// A nil Tracer is off. Its methods return immediately and allocate nothing, and the zero Span that
// they return accepts all calls and records nothing. The caller's trace context is still read
// (Parse) and passed on, because a trace does not end at a hop that records none.
//
// # Nothing that a caller chose
//
// A span contains only our own words. Its attributes are the Keys of this package, and no other
// package can make a Key. Their values are counts, or words that are checked (Span.Word). Errors
// are named by their class, because their texts may contain input, URLs or secrets. No span has
// events. No span contains the caller's tracestate, which is forwarded only to v1. Baggage is not
// read.
//
// Package export sends the spans to a collector. It is separate so that a package that only makes
// spans does not link the SDK.
package telemetry
