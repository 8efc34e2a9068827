package v1

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/secret"
)

// What each member of a request body is that is no free text. All others are, present and future ones.
var (
	// cardNumberMembers are this request's own card numbers.
	cardNumberMembers = map[jsontext.Pointer]bool{"/card/number": true, "/network_token/number": true}
	// accountNumberMembers can look like card numbers by chance. They are stored encrypted.
	accountNumberMembers = map[jsontext.Pointer]bool{"/bank_account/account_number": true}
	// networkIDMembers take ids of card networks. Those of 15 digits can look like American Express.
	networkIDMembers = map[jsontext.Pointer]bool{"/initiator/previous_network_transaction_id": true}
)

// networkIDDigits is the length of a network's transaction id of digits alone.
const networkIDDigits = 15

// bodyText is a name or a text of a request body that is long enough for a card number.
type bodyText struct {
	at   jsontext.Pointer
	text string
	name bool
}

// CardNumberInText returns the path of the first text in a JSON request body that contains a card
// number: see card.InText. Names of members are texts too; the path is then that of the object. The
// body's own card numbers are searched for in all other texts. A body that is not JSON has none.
func CardNumberInText(body []byte) (at jsontext.Pointer, found bool) {
	texts := bodyTexts(body)
	own := ownNumbers(texts)
	for _, t := range texts {
		if !t.contains(own) {
			continue
		}
		if t.name {
			return t.at.Parent(), true
		}
		return t.at, true
	}
	return "", false
}

// MaskCardNumbers returns a JSON request body in which CardNumberInText finds nothing: an X stands for
// each digit of a card number in a text but its last four. More numbers to search for can be given.
// Returns body itself if it contains none.
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
	d := jsontext.NewDecoder(bytes.NewReader(body))
	for {
		t, err := readText(d)
		if err != nil {
			return out
		}
		if len(t.text) >= card.MinDigits {
			t.at = d.StackPointer()
			out = append(out, t)
		}
	}
}

// readText reads the next token, and returns its text if it is one. The path is left out.
func readText(d *jsontext.Decoder) (bodyText, error) {
	inside, n := d.StackIndex(d.StackDepth())
	token, err := d.ReadToken()
	if err != nil || token.Kind() != jsontext.KindString {
		return bodyText{}, err //nolint:wrapcheck // it only ends the loop
	}
	return bodyText{text: token.String(), name: inside == jsontext.KindBeginObject && n%2 == 0}, nil
}

func ownNumbers(texts []bodyText) (out []secret.String) {
	for _, t := range texts {
		if number := secret.New(t.text); cardNumberMembers[t.at] && !t.name && card.Valid(number) {
			out = append(out, number)
		}
	}
	return out
}

// contains reports whether the text contains a card number that must not be there. It reads the text
// up to the first one.
func (t bodyText) contains(own []secret.String) bool {
	if !t.isFree(own) {
		return false
	}
	_, _, found := card.InText(t.text, own...)
	return found
}

// masked returns the text without card numbers.
func (t bodyText) masked(own []secret.String) string {
	if !t.isFree(own) {
		return t.text
	}
	return card.MaskText(t.text, own...)
}

// isFree reports whether the text must not contain a card number.
func (t bodyText) isFree(own []secret.String) bool {
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
	d, e := jsontext.NewDecoder(bytes.NewReader(body)), jsontext.NewEncoder(&out)
	for {
		inside, n := d.StackIndex(d.StackDepth())
		token, err := d.ReadToken()
		switch {
		case errors.Is(err, io.EOF):
			return bytes.TrimSuffix(out.Bytes(), []byte{'\n'}), nil
		case err != nil:
			return nil, fmt.Errorf("mask card numbers: %w", err)
		case token.Kind() == jsontext.KindString:
			t := bodyText{d.StackPointer(), token.String(), inside == jsontext.KindBeginObject && n%2 == 0}
			err = writeText(e, t, t.masked(own))
		default:
			err = e.WriteToken(token)
		}
		if err != nil {
			return nil, fmt.Errorf("mask card numbers: %w", err)
		}
	}
}

// writeText writes a masked text. A name that has become equal to another of its object gets an X more.
func writeText(e *jsontext.Encoder, t bodyText, masked string) error {
	for {
		err := e.WriteToken(jsontext.String(masked))
		if !t.name || masked == t.text || !errors.Is(err, jsontext.ErrDuplicateName) {
			return err //nolint:wrapcheck // the caller does
		}
		masked = "X" + masked
	}
}
