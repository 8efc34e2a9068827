package v1

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/jsonscan"
	"github.com/causeway-pay/causeway/shared/secret"
)

// The members of a request body that are not free text. Every other member is free text, including
// a member that is added later.
var (
	// cardNumberMembers are this request's own card numbers.
	cardNumberMembers = map[jsonscan.Member]bool{
		{Depth: 2, Parent: "card", Name: "number"}:          true,
		{Depth: 2, Parent: "network_token", Name: "number"}: true,
	}
	// accountNumberMembers can look like card numbers by chance. They are stored encrypted.
	accountNumberMembers = map[jsonscan.Member]bool{
		{Depth: 2, Parent: "bank_account", Name: "account_number"}: true,
	}
	// networkIDMembers take ids of card networks. Such ids of 15 digits can look like American
	// Express.
	networkIDMembers = map[jsonscan.Member]bool{
		{Depth: 2, Parent: "initiator", Name: "previous_network_transaction_id"}: true,
	}
)

// networkIDDigits is the length of a network's transaction id of digits alone.
const networkIDDigits = 15

// bodyText is a name or a text of a request body that is long enough for a card number.
type bodyText struct {
	at   jsonscan.Member
	text string
	name bool
	end  int64 // the offset in the body at which it ends
}

// CardNumberInText returns the path of the first text in a JSON request body that contains a card
// number: see card.InText. Names of members are texts too; the path is then that of the object. The
// body's own card numbers are searched for in all other texts. A body that is not JSON has none.
// The time and memory are proportional to the length of the body.
func CardNumberInText(body []byte) (at jsontext.Pointer, found bool) {
	texts := bodyTexts(body)
	own := ownNumbers(texts)
	for _, t := range texts {
		if !t.contains(own) {
			continue
		}
		at = pathAt(body, t.end)
		if t.name {
			return at.Parent(), true
		}
		return at, true
	}
	return "", false
}

// pathAt returns the path of the token that ends at an offset. It is made for one text only,
// because it is as long as all names around it.
func pathAt(body []byte, end int64) jsontext.Pointer {
	d := jsontext.NewDecoder(bytes.NewBuffer(body))
	for d.InputOffset() < end {
		if _, err := d.ReadToken(); err != nil {
			break
		}
	}
	return d.StackPointer()
}

// MaskCardNumbers returns a JSON request body in which CardNumberInText finds nothing. An X stands
// for each digit of a card number in a text but its last four. More numbers to search for can be
// given. Returns body itself if it contains none.
func MaskCardNumbers(body []byte, more ...secret.String) ([]byte, error) {
	texts := bodyTexts(body)
	own := append(ownNumbers(texts), more...)
	for _, t := range texts {
		if t.contains(own) {
			return rewrite(body, own)
		}
	}
	return body, nil
}

// bodyTexts returns the texts of a body that are long enough for a card number.
func bodyTexts(body []byte) (out []bodyText) {
	s := jsonscan.New(body)
	for {
		token, err := s.ReadToken()
		if err != nil {
			return out
		}
		if token.Kind() != jsontext.KindString {
			continue
		}
		if text := token.String(); len(text) >= card.MinDigits {
			out = append(out, bodyText{s.Member(), text, s.IsName(), s.InputOffset()})
		}
	}
}

func ownNumbers(texts []bodyText) (out []secret.String) {
	for _, t := range texts {
		if number := secret.New(t.text); cardNumberMembers[t.at] && !t.name && card.Valid(number) {
			out = append(out, number)
		}
	}
	return out
}

// contains reports whether the text contains a card number that must not be there. It reads the
// text up to the first one.
func (t bodyText) contains(own []secret.String) bool {
	return t.mustHideCardNumbers(own) && card.InText(t.text, own...)
}

// masked returns the text without card numbers.
func (t bodyText) masked(own []secret.String) string {
	if !t.mustHideCardNumbers(own) {
		return t.text
	}
	return card.MaskText(t.text, own...)
}

// mustHideCardNumbers reports whether the text must not contain a card number.
func (t bodyText) mustHideCardNumbers(own []secret.String) bool {
	switch {
	case t.name:
		return true
	case networkIDMembers[t.at]:
		return len(t.text) != networkIDDigits || equalsOne(own, t.text)
	default:
		return !cardNumberMembers[t.at] && !accountNumberMembers[t.at]
	}
}

func equalsOne(own []secret.String, text string) bool {
	for _, number := range own {
		if number.Reveal() == text {
			return true
		}
	}
	return false
}

// rewrite returns a body with its texts masked. The order of members and the form of numbers stay.
func rewrite(body []byte, own []secret.String) ([]byte, error) {
	var out bytes.Buffer
	s, w := jsonscan.New(body), writer{jsontext.NewEncoder(&out), 0}
	for {
		token, err := s.ReadToken()
		switch {
		case errors.Is(err, io.EOF):
			return bytes.TrimSuffix(out.Bytes(), []byte{'\n'}), nil
		case err != nil:
			return nil, fmt.Errorf("mask card numbers: %w", err)
		case token.Kind() == jsontext.KindString:
			t := bodyText{s.Member(), token.String(), s.IsName(), s.InputOffset()}
			err = w.writeText(t, t.masked(own))
		default:
			err = w.WriteToken(token)
		}
		if err != nil {
			return nil, fmt.Errorf("mask card numbers: %w", err)
		}
	}
}

// writer writes a masked body.
type writer struct {
	*jsontext.Encoder

	renamed int // names that got a prefix
}

// writeText writes a masked text. A masked name that is equal to another name of its object gets an
// unused prefix, such as "1X" or "2X". The X keeps its digits out of card numbers.
func (w *writer) writeText(t bodyText, masked string) error {
	for name := masked; ; {
		err := w.WriteToken(jsontext.String(name))
		if !t.name || masked == t.text || !errors.Is(err, jsontext.ErrDuplicateName) {
			return err //nolint:wrapcheck // the caller does
		}
		w.renamed++
		name = strconv.Itoa(w.renamed) + "X" + masked
	}
}
