package secret

import (
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	mask     = "[redacted]"
	maskJSON = `"` + mask + `"`
)

// String is text that cannot print. The zero value is the empty text. It cannot be compared with
// ==.
//
// The text stands behind a pointer because fmt reads unexported fields of a surrounding struct by
// reflection, without calling the methods below. It then finds an address.
type String struct {
	_    [0]func()
	text *string
}

// New returns s as a secret.
func New(s string) String {
	if s == "" {
		return String{}
	}
	return String{text: &s}
}

// Reveal returns the text itself. Check every call of it in a review.
func (s String) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsZero reports whether the text is empty.
func (s String) IsZero() bool { return s.Len() == 0 }

// Len returns the length of the text in bytes.
func (s String) Len() int { return len(s.Reveal()) }

// String returns "[redacted]".
func (s String) String() string { return mask }

// GoString returns "[redacted]".
func (s String) GoString() string { return mask }

// Format writes "[redacted]" for every verb.
func (s String) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, mask) }

// LogValue returns "[redacted]".
func (s String) LogValue() slog.Value { return slog.StringValue(mask) }

// MarshalJSON returns "[redacted]" as a JSON string. See RevealMarshalers for the only exception.
func (s String) MarshalJSON() ([]byte, error) { return []byte(maskJSON), nil }

// MarshalText returns "[redacted]".
func (s String) MarshalText() ([]byte, error) { return []byte(mask), nil }

// errNotString contains no part of the input, which may be the secret in another JSON type.
var errNotString = errors.New("secret: want a json string")

// UnmarshalJSON accepts only a JSON string, not even null. Its error contains no part of the input.
func (s *String) UnmarshalJSON(b []byte) error {
	if jsontext.Value(b).Kind() != '"' {
		return errNotString
	}
	text, err := jsontext.AppendUnquote(nil, b)
	if err != nil {
		return errNotString
	}
	*s = New(string(text))
	return nil
}

// UnmarshalText takes any text.
func (s *String) UnmarshalText(b []byte) error {
	*s = New(string(b))
	return nil
}

// RevealMarshalers returns marshalers that write secrets in the clear, for a client that must send
// them: json.Marshal(v, json.WithMarshalers(secret.RevealMarshalers())).
func RevealMarshalers() *json.Marshalers { return reveal }

// reveal is made once because an encoder caches types in it.
var reveal = json.MarshalToFunc(func(enc *jsontext.Encoder, s String) error {
	return enc.WriteToken(jsontext.String(s.Reveal()))
})

// LastFour returns the last four bytes of s, or "" if s has fewer than 12. Four bytes of a short
// text would reveal too much.
func LastFour(s String) string {
	text := s.Reveal()
	if len(text) < 12 {
		return ""
	}
	return text[len(text)-4:]
}
