package command

import (
	"fmt"
	"slices"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Comparable returns the text by which two requests under one Idempotency-Key are compared. It has
// no security codes, because no value that depends on one is kept. It has no Deduplication, because
// a name outranks that. It has card numbers in full, so use it only as a purpose of Bind, which
// keeps an HMAC.
func Comparable(commands ...Command) (string, error) {
	type entry struct {
		Type    string
		Command Command
	}
	entries := make([]entry, 0, len(commands))
	for _, c := range commands {
		entries = append(entries, entry{fmt.Sprintf("%T", c), bare(c)})
	}
	text, err := v1.MarshalRevealed(entries)
	return string(text), err
}

// bare returns a copy of a command without its security codes and its Deduplication.
func bare(c Command) Command {
	switch c := c.(type) {
	case Authorize:
		c.Body.Card, c.Body.CardCvc, c.Deduplication = withoutCode(c.Body.Card), nil, Deduplication{}
		return c
	case Refund:
		c.Deduplication = Deduplication{}
		return c
	case Credit:
		c.Body.Card, c.Deduplication = withoutCode(c.Body.Card), Deduplication{}
		return c
	case CreateCustomer:
		return c.WithoutCodes()
	case AttachMethod:
		c.Method.Token.Body.Card = withoutCode(c.Method.Token.Body.Card)
		return c
	case AddMethod:
		c.Method.Token.Body.Card = withoutCode(c.Method.Token.Body.Card)
		return c
	case CreateToken:
		c.Body.Card = withoutCode(c.Body.Card)
		return c
	}
	return c
}

// withoutCode returns a copy of a card without its security code.
func withoutCode(c *v1.CardInput) *v1.CardInput {
	if c == nil {
		return nil
	}
	bare := *c
	bare.Cvc = nil
	return &bare
}

// WithoutCodes returns the command without security codes. Names are stored. A name that depends on
// a code would confirm guesses of it to a reader of the deduplication secret.
func (c CreateCustomer) WithoutCodes() CreateCustomer {
	c.Methods = slices.Clone(c.Methods)
	for i := range c.Methods {
		c.Methods[i].Token.Body.Card = withoutCode(c.Methods[i].Token.Body.Card)
	}
	return c
}
