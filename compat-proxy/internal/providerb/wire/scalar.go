package wire

import (
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/shared/secret"
)

var (
	errNotScalar = errors.New("neither text nor a number nor true or false")
	errNotFlag   = errors.New("neither true nor false")
)

// Text is a scalar of any kind as its text; null is none.
type Text string

// UnmarshalJSONFrom takes a string, a number, true, false or null.
func (t *Text) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	token, err := dec.ReadToken()
	if err != nil {
		return err
	}
	switch token.Kind() {
	case jsontext.KindString, jsontext.KindNumber, jsontext.KindTrue, jsontext.KindFalse:
		*t = Text(strings.TrimSpace(token.String()))
	case jsontext.KindNull:
		*t = ""
	default:
		return errNotScalar
	}
	return nil
}

// Flag is a boolean in any of its spellings.
type Flag bool

// UnmarshalJSONFrom takes true, "true", 1 and "1" for true, and false, "false", 0, "0", "" and null
// for false. Anything else is an error: its sender meant one of the two, and a guess could take
// money or leave it.
func (f *Flag) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var t Text
	if err := t.UnmarshalJSONFrom(dec); err != nil {
		return err
	}
	switch strings.ToLower(string(t)) {
	case "true", "1":
		*f = true
	case "false", "0", "":
		*f = false
	default:
		return errNotFlag
	}
	return nil
}

// Hidden is a Text that must not be shown.
type Hidden struct{ secret.String }

// UnmarshalJSONFrom takes what Text takes.
func (h *Hidden) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var t Text
	if err := t.UnmarshalJSONFrom(dec); err != nil {
		return err
	}
	h.String = secret.New(string(t))
	return nil
}
