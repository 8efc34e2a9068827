package safexml

import (
	"bytes"
	"unicode/utf8"

	"github.com/beevik/etree"
)

// The fixed limits of every document. MaxNodes counts elements, attributes,
// namespace declarations, comments and runs of text. The largest legal document of provider-a has
// 3,000 nodes, with a run of white space after each element.
const (
	MaxDepth = 32
	MaxNodes = 4_000
	MaxAttrs = 64
)

// XMLNamespace is the namespace of the prefix xml, which no document needs to declare.
const XMLNamespace = "http://www.w3.org/XML/1998/namespace"

// Reason is the reason for which a document was refused, "" for none. It never quotes the document,
// which may hold card numbers.
type Reason string

// The reasons.
const (
	Malformed   Reason = "not well-formed"
	TooLarge    Reason = "too large"
	TooDeep     Reason = "too deep"
	TooMany     Reason = "too many nodes"
	Directive   Reason = "doctype or directive"
	Instruction Reason = "processing instruction"
	Encoding    Reason = "not utf-8"
	Character   Reason = "forbidden character"
	Outside     Reason = "content outside the root"
	SecondRoot  Reason = "more than one root"
	Duplicate   Reason = "duplicate attribute"
	Prefix      Reason = "unbound prefix"
)

// Parse reads one document. It returns its root, or the reason for its refusal. maxBytes bounds the
// body; 0 or less means that the caller has bounded it already.
func Parse(body []byte, maxBytes int) (*etree.Element, Reason) {
	if maxBytes > 0 && len(body) > maxBytes {
		return nil, TooLarge
	}
	body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	switch {
	case !utf8.Valid(body):
		return nil, Encoding
	case bytes.ContainsFunc(body, func(c rune) bool { return !Allowed(c) }):
		return nil, Character
	}
	r := newReader(body)
	if reason := r.run(); reason != "" {
		return nil, reason
	}
	return r.doc.Root(), ""
}

// Allowed reports whether XML 1.0 may carry r at all.
func Allowed(r rune) bool {
	switch {
	case r < 0x20:
		return r == '\t' || r == '\n' || r == '\r'
	case r >= 0xD800 && r <= 0xDFFF, r == 0xFFFE, r == 0xFFFF:
		return false
	}
	return r <= utf8.MaxRune
}
