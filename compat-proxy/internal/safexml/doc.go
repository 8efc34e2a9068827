// Package safexml converts untrusted XML to an ordered tree. It refuses every construct that is
// dangerous or ambiguous.
//
// It uses encoding/xml's token stream, not etree. With the stream, the limits stop the work at the
// first offending token. etree validates the whole input and builds the tree before a limit can be
// checked. Of two equal attributes, it silently keeps the last.
//
// Refused are:
//
//   - a DOCTYPE or any other directive, and processing instructions other than one leading XML
//     declaration;
//   - entities other than the five predefined ones and character references;
//   - an encoding other than UTF-8 or US-ASCII, bytes that are not UTF-8, and characters outside
//     the XML 1.0 range (NUL and the C0 controls);
//   - more than one root, and text or CDATA outside the root;
//   - duplicate attributes and unbound prefixes;
//   - depth above MaxDepth, more than MaxNodes nodes, more than MaxAttrs attributes on one element,
//     and a body above the caller's limit.
//
// The work is linear in the size of the body, because nothing is expanded.
//
// An Error has the reason and the offset. It never quotes the body, which may hold card numbers.
package safexml
