package providerb

import (
	"strings"
	"unicode/utf8"

	"github.com/causeway-pay/causeway/compat-proxy/internal/chars"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
	"github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// texts are the request's own card numbers, which must not remain in the texts that it cuts.
type texts []secret.String

func textsOf(req *wire.Request) texts {
	return texts{req.Payment.Card.Number.String, req.Payment.TokenizedCard.Number.String}
}

// contact converts a billTo or shipTo. It returns nil if it is empty.
func (t texts) contact(in *wire.Person) *v1.Contact {
	address := v1.Address{
		Line1: t.given(in.Address1, maxLine), Line2: t.given(in.Address2, maxLine), City: t.given(in.Locality, maxName),
		State: t.given(in.AdministrativeArea, maxName), PostalCode: t.given(in.PostalCode, maxPostalCode),
		Country: t.given(in.Country, maxCountry),
	}
	c := v1.Contact{
		FirstName: t.given(in.FirstName, maxName), LastName: t.given(in.LastName, maxName),
		Company: t.given(wire.Text(in.Company), maxName), Email: t.given(in.Email, maxLine),
		Phone: t.given(in.PhoneNumber, maxPhone),
	}
	if address != (v1.Address{}) {
		c.Address = &address
	}
	if c == (v1.Contact{}) {
		return nil
	}
	return &c
}

// given returns nil for an empty text. Any other is cut to n bytes.
func (t texts) given(text wire.Text, n int) *string {
	if text == "" {
		return nil
	}
	s := t.cut(string(text), n)
	return &s
}

// descriptor returns the statement descriptor, or nil if it is blank. The cardholder reads it.
func (t texts) descriptor(name wire.Text) *string {
	s := strings.TrimSpace(t.cut(strings.TrimSpace(chars.Printable(string(name))), maxDescriptor))
	if s == "" {
		return nil
	}
	return &s
}

// cut shortens s to at most n bytes, between characters. It first masks card numbers, the request's
// own among them, because the rest of a cut number would not be recognised.
func (t texts) cut(s string, n int) string {
	s = card.MaskText(s, t...)
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
