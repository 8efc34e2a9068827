package jsonscan

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// The bounds of the body of a request.
const (
	MaxDepth  = 32     // nested levels
	MaxValues = 10_000 // members and elements of lists; 999 line items with 9 members each are allowed
)

// Member is the position of a member. The zero value is the position of a value outside of any
// object.
type Member struct {
	Depth  int    // 1 for the members of the outermost value, and for its elements if it is an array
	Parent string // the name of the member that contains the object or array; "" for none
	Name   string // "" for the elements of arrays
}

// Scanner is a jsontext.Decoder that tracks the position of the current member. All tokens must be
// read with the Scanner's ReadToken; Decoder.SkipValue skips the value of a name.
type Scanner struct {
	*jsontext.Decoder

	names  []string // by depth, of the current member; "" in an array
	isName bool
}

// New returns a Scanner of a JSON text, which must not change while it is read.
func New(text []byte) *Scanner {
	return &Scanner{Decoder: jsontext.NewDecoder(bytes.NewBuffer(text))} // it reads a Buffer without a copy
}

// ReadToken returns the next token, and io.EOF at the end of the text.
func (s *Scanner) ReadToken() (jsontext.Token, error) {
	inside, n := s.StackIndex(s.StackDepth())
	token, err := s.Decoder.ReadToken()
	if err != nil {
		return token, err //nolint:wrapcheck // the decoder's own
	}
	s.isName = false
	switch token.Kind() {
	case jsontext.KindBeginObject, jsontext.KindBeginArray:
		s.names = append(s.names, "")
	case jsontext.KindEndObject, jsontext.KindEndArray:
		s.names = s.names[:len(s.names)-1]
	case jsontext.KindString:
		if s.isName = inside == jsontext.KindBeginObject && n%2 == 0; s.isName {
			s.names[len(s.names)-1] = token.String()
		}
	default: // other tokens neither nest nor are names
	}
	return token, nil
}

// IsName reports whether the last token was the name of a member.
func (s *Scanner) IsName() bool { return s.isName }

// Member returns the position of the member that the last token belongs to.
func (s *Scanner) Member() Member {
	m := Member{Depth: len(s.names)}
	if m.Depth > 0 {
		m.Name = s.names[m.Depth-1]
	}
	if m.Depth > 1 {
		m.Parent = s.names[m.Depth-2]
	}
	return m
}

// TooDeep reports whether a JSON text nests deeper than MaxDepth. It needs no memory. The result is
// undefined if text is not JSON.
func TooDeep(text []byte) bool {
	depth, _ := measure(text)
	return depth > MaxDepth
}

// TooMany reports whether a JSON text has more than MaxValues values. It needs no memory, so it
// comes before the decoding of lists that have a bound. An empty list counts as one value more. The
// result is undefined if text is not JSON.
func TooMany(text []byte) bool {
	_, values := measure(text)
	return values > MaxValues
}

// TooLarge reports TooDeep or TooMany.
func TooLarge(text []byte) bool {
	depth, values := measure(text)
	return depth > MaxDepth || values > MaxValues
}

// measure counts the levels and the values of a text by its signs outside strings.
func measure(text []byte) (deepest, values int) {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			values++
			depth++
			deepest = max(deepest, depth)
		case c == ',':
			values++
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest, values
}

// Dotted returns a JSON pointer as a path with dots.
func Dotted(p jsontext.Pointer) string { return strings.Join(slices.Collect(p.Tokens()), ".") }
