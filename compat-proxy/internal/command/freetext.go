package command

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Masked returns a command without card numbers in its texts, which v1 refuses. It runs before
// everything else, so that the comparison with v1's responses uses the texts that v1 stores.
// Nothing is identified by a masked text. Names, Deduplication and the identity of a customer use
// the texts as the client sent them, and v1 gets only an HMAC of them.
func Masked(c Command) (Command, error) {
	var err error
	switch c := c.(type) {
	case Named:
		c.Command, err = Masked(c.Command)
		return c, err
	case Authorize:
		c.Body, err = maskedBody(c.Body)
		return c, err
	case Credit:
		c.Body, err = maskedBody(c.Body)
		return c, err
	case CreateToken:
		c.Body, err = maskedBody(c.Body)
		return c, err
	case Capture:
		c.Reference, c.Metadata, err = maskedTexts(c.Reference, c.Metadata)
		return c, err
	case Refund:
		c.Reference, c.Metadata, err = maskedTexts(c.Reference, c.Metadata)
		return c, err
	case CreateCustomer:
		return maskedCustomer(c)
	case IdentifyCustomer:
		c.Body, c.Unmasked, err = maskedIdentity(c.Body)
		return c, err
	case FindCustomer:
		c.Body, c.Unmasked, err = maskedIdentity(c.Body)
		return c, err
	case UpdateCustomer:
		c.Body, err = maskedBody(c.Body)
		return c, err
	case AddAddress:
		c.Address, err = maskedBody(c.Address)
		return c, err
	case ChangeAddress:
		c.Body, err = maskedBody(c.Body)
		return c, err
	case AttachMethod:
		c.Method, err = maskedAlone(c.Method)
		return c, err
	case ChangeMethod:
		return maskedChange(c)
	case AddMethod:
		c.Method, err = maskedAlone(c.Method)
		return c, err
	case GetCustomer: // v1 has the masked texts, and writes queries to its log
		in, err := maskedBody(v1.CustomerInput{Reference: v1.Optional(c.Reference), Email: v1.Optional(c.Email)})
		c.Reference, c.Email = v1.Text(in.Reference), v1.Text(in.Email)
		return c, err
	}
	return c, nil
}

// maskedIdentity returns a customer without card numbers in its texts. If an identifying field has
// changed, it also returns these fields as they were.
func maskedIdentity(in v1.CustomerInput) (masked v1.CustomerInput, unmasked []string, err error) {
	sent := Identifying(in)
	if masked, err = maskedBody(in); !slices.Equal(Identifying(masked), sent) {
		unmasked = sent
	}
	return masked, unmasked, err
}

// maskedCustomer masks the numbers of all cards in all texts of the command, although v1 gets them
// in several requests.
func maskedCustomer(c CreateCustomer) (_ CreateCustomer, err error) {
	var own []secret.String
	for i := range c.Methods {
		if card := c.Methods[i].Token.Body.Card; card != nil {
			own = append(own, card.Number)
		}
	}
	sent := Identifying(c.Body)
	if c.Body, err = maskedBody(c.Body, own...); err != nil {
		return c, err
	}
	if !slices.Equal(Identifying(c.Body), sent) {
		c.Unmasked = sent
	}
	c.Addresses = slices.Clone(c.Addresses)
	for i := range c.Addresses {
		if c.Addresses[i], err = maskedBody(c.Addresses[i], own...); err != nil {
			return c, err
		}
	}
	c.Methods = slices.Clone(c.Methods)
	for i := range c.Methods {
		if c.Methods[i], err = maskedMethod(c.Methods[i], own); err != nil {
			return c, err
		}
	}
	return c, nil
}

func maskedMethod(m NewMethod, own []secret.String) (NewMethod, error) {
	token, err := maskedBody(m.Token.Body, own...)
	if err != nil {
		return m, err
	}
	m.Token.Body = token
	sent := v1.PaymentMethodCreate{Billing: m.Billing, Metadata: v1.OptionalMetadata(m.Metadata)}
	others, err := maskedBody(sent, own...)
	if err != nil {
		return m, err
	}
	if m.Billing = others.Billing; others.Metadata != nil {
		m.Metadata = maps.Clone(*others.Metadata)
	}
	return m, nil
}

func maskedTexts(reference string, entries map[string]string) (string, map[string]string, error) {
	texts, err := maskedBody(v1.CaptureCreate{Reference: v1.Optional(reference), Metadata: v1.OptionalMetadata(entries)})
	if texts.Metadata != nil {
		entries = maps.Clone(*texts.Metadata)
	}
	return v1.Text(texts.Reference), entries, err
}

// maskedBody returns the body of a v1 request without card numbers in its texts.
func maskedBody[T any](body T, own ...secret.String) (T, error) {
	sent, err := v1.MarshalRevealed(body)
	if err != nil {
		return body, fmt.Errorf("mask card numbers: %w", err)
	}
	clean, err := v1.MaskCardNumbers(sent, own...)
	if err != nil || bytes.Equal(clean, sent) {
		return body, err //nolint:wrapcheck // the error has its context
	}
	var out T
	if err := json.Unmarshal(clean, &out); err != nil {
		return body, fmt.Errorf("mask card numbers: %w", err)
	}
	return out, nil
}

// maskedChange returns the command without card numbers in its texts.
func maskedChange(c ChangeMethod) (Command, error) {
	m := NewMethod{Billing: c.Billing, Metadata: c.Metadata}
	if c.New != nil {
		m.Token = *c.New
	}
	m, err := maskedAlone(m)
	c.Metadata = m.Metadata
	if c.Billing != nil && *c.Billing != (v1.Contact{}) { // JSON omits an empty one
		c.Billing = m.Billing
	}
	return c, err
}

// maskedAlone returns a payment method without card numbers in its texts.
func maskedAlone(m NewMethod) (NewMethod, error) {
	var own []secret.String
	if card := m.Token.Body.Card; card != nil {
		own = []secret.String{card.Number}
	}
	return maskedMethod(m, own)
}
