package safexml

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"unicode/utf8"
)

// The fixed limits of every document. MaxNodes counts elements, attributes,
// namespace declarations, comments and runs of text. The largest legal document of provider-a has
// 3,000 nodes, with a run of white space after each element.
const (
	MaxDepth = 32
	MaxNodes = 4_000
	MaxAttrs = 64
)

// Element is one element with its content in document order.
type Element struct {
	// Space is the namespace URI, empty when the element is in none.
	Space string
	// Name is the local name.
	Name string
	// Attrs holds the attributes without the namespace declarations.
	Attrs []Attr
	// Text is all character data directly inside, comments removed, untrimmed.
	Text string
	// TextAt is the number of children that precede the first non-blank text,
	// or -1 when Text is blank.
	TextAt int
	// Children holds the child elements.
	Children []*Element
}

// Attr is one attribute. Space is its namespace URI, empty without a prefix.
type Attr struct {
	Space, Name, Value string
}

// Reason is the reason for which a document was refused.
type Reason string

// The reasons of an Error.
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

// Error is the refusal of a document.
type Error struct {
	Reason Reason
	// Offset is the byte position near which the reader stopped.
	Offset int64
}

// Error names the reason and the offset, never the content.
func (e *Error) Error() string {
	return fmt.Sprintf("safexml: %s at byte %d", e.Reason, e.Offset)
}

// Parse reads one document. maxBytes bounds the body; 0 or less means that the
// caller has bounded it already. The error is always an *Error.
func Parse(body []byte, maxBytes int) (*Element, error) {
	if maxBytes > 0 && len(body) > maxBytes {
		return nil, &Error{Reason: TooLarge, Offset: int64(maxBytes)}
	}
	body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	if at, reason := scan(body); reason != "" {
		return nil, &Error{Reason: reason, Offset: int64(at)}
	}
	if root := readPlain(body); root != nil {
		return root, nil
	}
	if at := crowded(body); at >= 0 {
		return nil, &Error{Reason: TooMany, Offset: int64(at)}
	}
	return stream(body)
}

// sections are the parts of a document that may have any signs: how each begins and ends.
var sections = [...]struct{ begin, end string }{{"<!--", "-->"}, {"<![CDATA[", "]]>"}}

// crowded returns the offset of a tag with more than MaxAttrs attributes, or -1. The decoder
// collects all attributes of a tag, which can need twenty times the memory of the body. Past an
// instruction or directive that is refused, or an error of the decoder, the result does not matter.
func crowded(body []byte) int {
	const none = -1
	for at := 0; ; {
		begin := bytes.IndexByte(body[at:], '<')
		if begin < 0 {
			return none
		}
		at += begin
		n := sectionLength(body[at:])
		if n == 0 {
			var attrs int
			if n, attrs = tagLength(body[at:]); attrs > MaxAttrs {
				return at
			}
		}
		at += n
	}
}

// sectionLength returns the length of the comment or CDATA section with which b begins, 0 for none.
func sectionLength(b []byte) int {
	for _, s := range sections {
		rest, begins := bytes.CutPrefix(b, []byte(s.begin))
		if !begins {
			continue
		}
		if n := bytes.Index(rest, []byte(s.end)); n >= 0 {
			return len(s.begin) + n + len(s.end)
		}
		return len(b)
	}
	return 0
}

// tagLength returns the length of the tag with which b begins, and the number of its attributes. It
// stops after too many.
func tagLength(b []byte) (n, attrs int) {
	quote := byte(0)
	for i, c := range b {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '>':
			return i + 1, attrs
		case c == '"' || c == '\'':
			quote = c
		case c == '=':
			if attrs++; attrs > MaxAttrs {
				return i + 1, attrs
			}
		}
	}
	return len(b), attrs
}

// stream reads a document by encoding/xml's tokens.
func stream(body []byte) (*Element, error) {
	dec := xml.NewDecoder(bytes.NewReader(body))
	// This package checks the declaration, and the bytes are UTF-8 already.
	dec.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	p := parser{dec: dec, body: body}
	if reason := p.run(); reason != "" {
		return nil, &Error{Reason: reason, Offset: dec.InputOffset()}
	}
	return p.root, nil
}

// scan finds characters that a document may not contain, comments included.
func scan(body []byte) (int, Reason) {
	for i := 0; i < len(body); i++ {
		c := body[i]
		if c < 0x20 && c != '\t' && c != '\n' && c != '\r' {
			return i, Character
		}
		if c >= utf8.RuneSelf && !utf8.Valid(body[i:]) {
			return i, Encoding
		}
		if c >= utf8.RuneSelf {
			return scanWide(body, i)
		}
	}
	return 0, ""
}

// scanWide goes on from the first byte that is not ASCII, in valid UTF-8.
func scanWide(body []byte, from int) (int, Reason) {
	for i := from; i < len(body); {
		r, n := utf8.DecodeRune(body[i:])
		if !Allowed(r) {
			return i, Character
		}
		i += n
	}
	return 0, ""
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
