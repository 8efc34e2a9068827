// Package safexml reads untrusted XML into etree elements. It refuses every construct that is
// dangerous or ambiguous.
//
// It replaces etree's own reader, which limits nothing but the depth. That reader also accepts a
// DOCTYPE, several roots, text outside the root and unbound prefixes. It ignores the declared
// encoding, and keeps the last of two equal attributes. This package reads encoding/xml's tokens
// itself, so the limits stop the work at the first offending token.
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
// The work is linear in the size of the body, because nothing is expanded. The caller's schema
// decides which elements may repeat.
//
// An element without child elements has at most one text token, which joins all its runs of text.
// Comments are left out, and so is blank text between child elements.
package safexml
