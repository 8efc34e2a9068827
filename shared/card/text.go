package card

import (
	"bytes"
	"unicode/utf8"

	"github.com/causeway-pay/causeway/shared/secret"
)

// InText reports whether a free text contains a card number. Two things are card numbers:
//
//   - a number of own, wherever it stands, also with other characters than letters and digits
//     between its digits;
//   - digits that have a brand's leading digits, length and check digit. They are a word of digits
//     alone, or words in the groups of a printed card ("4111 1111 1111 1111"). Letters and digits
//     form words.
//
// One space or hyphen separates the groups. As in a table, several spaces can separate groups of
// 4-4-4-4 or 4-6-5 digits. They can contain one hyphen, comma, colon or vertical bar, the same one
// between all groups.
//
// The digits of all scripts are digits. Line breaks and other space count as spaces; other dashes,
// dots, slashes and underscores count as hyphens. Characters without a width count as nothing, and
// a markup tag as a space. A number is one too if it is percent-encoded, written with HTML
// entities, superscripts or digits in circles, or escaped as in JavaScript or JSON.
//
// Digits that are more often something else are no card number, unless they are one of own. 13
// digits with Visa's leading digit are telephone numbers and article numbers, for such cards are no
// longer issued. 19 digits that begin with 3 or 4 are our ids in decimal form, of the years 2015 to
// 2045.
func InText(text string, own ...secret.String) bool {
	if !worthReading(text) {
		return false
	}
	r := newReader(text, own)
	return r.inText()
}

// MaskText returns a text with an X for each digit of a card number but its last four. If a number
// is encoded or has markup between its digits, the text has an X for each digit. Number signs and
// opening braces become an X then too. InText finds nothing in the result. The result has as many
// characters as the text. The time is proportional to the text's length and to the number of own.
func MaskText(text string, own ...secret.String) string {
	if !worthReading(text) {
		return text
	}
	r := newReader(text, own)
	masked, found := r.masked()
	if !found {
		masked = text
	}
	if InText(masked, own...) {
		return withoutDigits(masked)
	}
	return masked
}

// reader reads a text in all its forms. The time of each form is proportional to the text's length.
type reader struct {
	text    []byte // it gets shorter when it is decoded
	symbols []byte // of the text, without encodings
	own     []ownNumber
	read    int // bytes and symbols that were read, with repetitions; tests limit it
}

func newReader(text string, own []secret.String) reader {
	return reader{text: []byte(text), symbols: make([]byte, 0, len(text)), own: ownNumbers(own)}
}

// worthReading reports whether a text has enough digits for a card number, or a character that can
// be or encode another digit.
func worthReading(text string) bool {
	digits := 0
	for i := range len(text) {
		switch c := text[i]; {
		case isDigit(c):
			digits++
		case c >= utf8.RuneSelf || c == '%' || c == '&' || c == '\\':
			return len(text) >= MinDigits
		}
		if digits == MinDigits {
			return true
		}
	}
	return false
}

// inText reports whether a number is in the text as it is written, or below its encodings.
func (r *reader) inText() bool {
	if r.asWritten() {
		return true
	}
	changed := r.decodePlus()
	for range maxLayers {
		if changed = r.decode() || changed; !changed {
			return false
		}
		if r.asWritten() {
			return true
		}
		changed = false
	}
	return false
}

// decodePlus writes a space for each plus sign, if the text is a URL. It reports whether the text
// changed.
func (r *reader) decodePlus() (changed bool) {
	if !bytes.Contains(r.text, []byte("://")) {
		return false
	}
	for i, c := range r.text {
		if c == '+' {
			r.text[i], changed = ' ', true
		}
	}
	return changed
}

// decode removes one layer of encodings: percent-encoding, HTML entities, and the escapes of
// JavaScript and JSON. JSON line breaks become spaces. It reports whether the text changed.
func (r *reader) decode() (changed bool) {
	r.read += 2 * len(r.text)
	escaped := len(r.text)
	r.text = unescape(r.text)
	changed = len(r.text) < escaped
	text, found := replaceEntities(r.text)
	r.text = text
	return changed || found
}

// asWritten reports whether a number is in the text without encodings. It is searched for with
// digits in other shapes as digits and as other characters: a footnote can follow a number.
func (r *reader) asWritten() bool {
	shapes := r.fold()
	return r.hasNumber(plainKinds) || shapes && r.hasNumber(shapeKinds)
}

func (r *reader) fold() (shapes bool) {
	r.read += len(r.text)
	r.symbols, shapes = fold(r.symbols[:0], r.text)
	return shapes
}

func (r *reader) hasNumber(kinds *[256]kind) bool {
	s := scanner{symbols: r.symbols, kinds: kinds, own: r.own, brands: true}
	s.scan()
	r.read += s.read
	return s.found
}

// masked returns the text with its numbers masked, or false if it has none. Encoded numbers stay.
// First it masks each own number, then the numbers of all brands.
func (r *reader) masked() (text string, found bool) {
	r.fold()
	for i := range len(r.own) + 1 {
		s := scanner{symbols: r.symbols, kinds: maskKinds, masks: true}
		if i < len(r.own) {
			s.own = r.own[i : i+1]
		} else {
			s.brands = true
		}
		s.scan()
		r.read += s.read
		found = found || s.found
	}
	if !found {
		return "", false
	}
	return unfold(r.text, r.symbols), true
}
