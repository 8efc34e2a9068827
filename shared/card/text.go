package card

import (
	"strings"

	"github.com/causeway-pay/causeway/shared/secret"
)

const shown = 4 // digits of a card number that MaskText keeps

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
	if asWritten(text, own) {
		return true
	}
	last, text := text, plusDecoded(text)
	for range maxLayers {
		if text = decoded(text); text == last {
			return false
		}
		if asWritten(text, own) {
			return true
		}
		last = text
	}
	return false
}

// asWritten is InText without encodings.
func asWritten(text string, own []secret.String) bool {
	text = fold(text).text
	if inShapes(text, own) {
		return true
	}
	content := untagged(text)
	return content != text && inShapes(content, own)
}

// inShapes reports whether a text contains a number, with the digits in other shapes or without. A
// footnote can follow a number.
func inShapes(text string, own []secret.String) bool {
	if hasNumber(text, own) {
		return true
	}
	digits := strings.Map(decimal, text)
	return digits != text && hasNumber(digits, own)
}

func hasNumber(text string, own []secret.String) bool {
	for _, s := range searches(text, own) {
		if _, _, found := s.next(0); found {
			return true
		}
	}
	return false
}

// MaskText returns a text with an X for each digit of a card number but its last four. If a number
// is encoded or has markup between its digits, it writes an X for each digit and number sign of the
// text. InText finds nothing in the result. The result has as many characters as the text. The time
// is proportional to the text's length and to the number of own.
func MaskText(text string, own ...secret.String) string {
	f := fold(text)
	masked := f.text
	for _, s := range searches(f.text, own) {
		s.text = masked
		masked = s.masked()
	}
	masked = f.unfold(text, masked)
	if InText(masked, own...) {
		return withoutDigits(masked)
	}
	return masked
}

// search reads a text once, from its first byte to its last. It looks for one number, or for the
// numbers of all brands.
type search struct {
	text   string
	number string // "" for a number of any brand
	read   int    // bytes of text that were read, with repetitions; tests limit it
}

// searches returns the searches for each of own and, last, for the numbers of all brands. A text
// other than 12 to 19 digits is no card number.
func searches(text string, own []secret.String) []search {
	if len(text) < MinDigits {
		return nil
	}
	out := make([]search, 0, len(own)+1)
	for _, number := range own {
		if n := number.Len(); n >= MinDigits && n <= MaxDigits && digits(number.Reveal()) {
			out = append(out, search{text: text, number: number.Reveal()})
		}
	}
	return append(out, search{text: text})
}

// masked returns the text with all numbers that the search finds masked. Each next one begins at
// the digits that the one before it keeps, or after them: no number begins in a masked part.
func (s *search) masked() string {
	from, to, found := s.next(0)
	if !found {
		return s.text
	}
	out := []byte(s.text)
	for found {
		from, to, found = s.next(mask(out, from, to))
	}
	return string(out)
}

// mask writes an X for each digit of text[from:to] but the last four, and returns where these
// begin.
func mask(text []byte, from, to int) (kept int) {
	kept = to
	for left := shown; left > 0; {
		if kept--; isDigit(text[kept]) {
			left--
		}
	}
	for i := from; i < kept; i++ {
		if isDigit(text[i]) {
			text[i] = 'X'
		}
	}
	return kept
}

// next returns the first number that begins at text[at] or later.
func (s *search) next(at int) (from, to int, found bool) {
	if s.number == "" {
		return s.nextOfBrand(at)
	}
	for from = at; from < len(s.text); from++ {
		if to, found = s.matches(from); found {
			return from, to, true
		}
	}
	return 0, 0, false
}

// at returns a byte of the text.
func (s *search) at(i int) byte {
	s.read++
	return s.text[i]
}

// matches reports whether the number begins at text[from], and where it ends. Between its digits
// there can be characters that are no letters or digits.
func (s *search) matches(from int) (to int, found bool) {
	n := 0
	for to = from; to < len(s.text); to++ {
		switch c := s.at(to); {
		case c == s.number[n]:
			if n++; n == len(s.number) {
				return to + 1, true
			}
		case n == 0 || isWordByte(c):
			return 0, false
		}
	}
	return 0, false
}

// nextOfBrand returns the first number of any brand that begins at text[at] or later.
func (s *search) nextOfBrand(at int) (from, to int, found bool) {
	for {
		if from, at, found = s.digitWord(at); !found {
			return 0, 0, false
		}
		if to, found = s.numberFrom(from, at); found {
			return from, to, true
		}
	}
}

// digitWord returns the first word of digits alone that begins at text[at] or later.
func (s *search) digitWord(at int) (from, to int, found bool) {
	pure := at == 0 || !isWordByte(s.at(at-1))
	for from, to = at, at; to < len(s.text); to++ {
		if c := s.at(to); isWordByte(c) {
			pure = pure && isDigit(c)
			continue
		}
		if pure && to > from {
			return from, to, true
		}
		from, pure = to+1, true
	}
	return from, to, pure && to > from
}

// likely reports whether digits in a free text are a card number: see InText.
func likely(text string) bool {
	if !known(text) {
		return false
	}
	oldVisa := len(text) == 13 && text[0] == '4'
	decimalID := len(text) == MaxDigits && (text[0] == '3' || text[0] == '4')
	return !oldVisa && !decimalID
}

// known reports whether a number has a brand's leading digits, length and check digit.
func known(text string) bool {
	if !valid(text) {
		return false
	}
	brand := brandOf(text)
	return brand != Unknown && brand.fits(len(text))
}

// isWordByte reports whether words consist of such bytes.
func isWordByte(c byte) bool { return isDigit(c) || isLetter(c) }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
