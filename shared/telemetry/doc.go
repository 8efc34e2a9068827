// Package telemetry makes the spans of a trace and carries W3C trace context from hop to hop.
//
// # Off costs nothing
//
// A nil Tracer is the one that is off: its methods return at once, allocate nothing, and the zero Span they return takes everything
// and keeps nothing. What the caller sent is still read (Parse) and passed on, for a trace does not end where one hop keeps none.
//
// # Nothing that a caller chose
//
// A span holds words of ours only. Its attributes are the Keys of this package, which nobody else can make; their values are counts, or
// words that are checked (Span.Word). Errors are named by their class: their texts hold input, URLs, and worse. No span has events, and
// none carries the caller's tracestate, which is passed on to v1 and nowhere else. Baggage is not read.
//
// Package export sends what is recorded to a collector. It is apart so that what only makes spans does not link the SDK.
package telemetry
