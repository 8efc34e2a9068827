package wire

import (
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/shared/secret"
)

var errNotScalar = errors.New("neither text nor a number nor true or false")

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

// Flag is a boolean in any of its spellings; whatever else is false.
type Flag bool

// UnmarshalJSONFrom takes true, "true", 1 and "1" for true.
func (f *Flag) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var t Text
	if err := t.UnmarshalJSONFrom(dec); err != nil {
		return err
	}
	*f = Flag(strings.EqualFold(string(t), "true") || t == "1")
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
