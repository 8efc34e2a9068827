// Package safexml turns untrusted XML into an ordered tree and refuses every
// construct that could make reading it dangerous or ambiguous.
//
// It stands on encoding/xml's token stream, not on etree: the stream lets the
// limits stop the work at the first offending token, where etree validates the
// whole input and then builds it all before a limit can be looked at, and keeps
// the last of two equal attributes in silence.
//
// Refused: a DOCTYPE or any other directive, entities other than the five
// predefined ones and character references, processing instructions other than
// one leading XML declaration, an encoding other than UTF-8 or US-ASCII, bytes
// that are not UTF-8, characters outside the XML 1.0 range (NUL and the C0
// controls), more than one root, text or CDATA outside the root, duplicate
// attributes, unbound prefixes, depth above MaxDepth, more than MaxNodes nodes,
// more than MaxAttrs attributes on one element, a body above the caller's limit.
// Work is linear in the body: nothing is ever expanded.
//
// An Error names the reason and the offset and never quotes the body, which may
// hold card numbers.
package safexml
