package wire

import (
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/shared/secret"
)

var (
	errNotScalar = errors.New("not a string, a number or a boolean")
	errNotFlag   = errors.New(`not a boolean: want true or false`)
)

// Text is the text of a string, a number or a boolean. It is empty for null.
type Text string

// UnmarshalJSONFrom reads a string, a number, true, false or null.
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

// UnmarshalJSONFrom reads true, "true", 1 and "1" as true, and false, "false", 0, "0", "" and null
// as false. Any other value is an error, because a wrong guess could capture a payment or miss one.
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

// Hidden is a secret Text.
type Hidden struct{ secret.String }

// UnmarshalJSONFrom reads the same values as Text.
func (h *Hidden) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var t Text
	if err := t.UnmarshalJSONFrom(dec); err != nil {
		return err
	}
	h.String = secret.New(string(t))
	return nil
}
