package card

import (
	"strings"

	"github.com/causeway-pay/causeway/shared/secret"
)

// shown is how many digits of a card number MaskText leaves.
const shown = 4

// InText returns where a free text contains its first card number, as text[from:to]. Two things are one:
//
//   - a number of own, wherever it stands, with or without spaces and hyphens between its digits;
//   - a word of digits alone that has a brand's leading digits, length and check digit, or words of
//     digits in the groups of a printed card ("4111 1111 1111 1111"). Letters and digits form words.
//
// Digits that are more often something else are no card number, unless they are one of own: 13 digits
// with Visa's leading digit are telephone numbers and article numbers (such cards are no longer issued),
// and 19 digits that begin with 3 or 4 are ids of ours in decimal form (of the years 2015 to 2045).
func InText(text string, own ...secret.String) (from, to int, found bool) {
	if len(text) < MinDigits {
		return 0, 0, false
	}
	for _, number := range own {
		if from, to, found = find(text, number); found {
			return from, to, true
		}
	}
	words := digitWords(text)
	for i := range words {
		if to, found = numberFrom(text, words[i:]); found {
			return words[i].from, to, true
		}
	}
	return 0, 0, false
}

// MaskText returns a text with an X for each digit of a card number but its last four. InText finds
// nothing in the result, which is as long as the text.
func MaskText(text string, own ...secret.String) string {
	for {
		from, to, found := InText(text, own...)
		if !found {
			return text
		}
		text = text[:from] + masked(text[from:to]) + text[to:]
	}
}

func masked(number string) string {
	out := []byte(number)
	left := shown
	for i := len(out) - 1; i >= 0; i-- {
		if !isDigit(out[i]) {
			continue
		}
		if left--; left < 0 {
			out[i] = 'X'
		}
	}
	return string(out)
}

// find returns where a text contains a number, with or without spaces and hyphens between its digits.
func find(text string, number secret.String) (from, to int, found bool) {
	want := number.Reveal()
	if len(want) < MinDigits {
		return 0, 0, false
	}
	for from = range len(text) {
		if to, found = matches(text, from, want); found {
			return from, to, true
		}
	}
	return 0, 0, false
}

// matches reports whether the digits of want begin at text[from], and where they end.
func matches(text string, from int, want string) (to int, found bool) {
	n := 0
	for to = from; to < len(text); to++ {
		switch c := text[to]; {
		case c == want[n]:
			if n++; n == len(want) {
				return to + 1, true
			}
		case n == 0 || c != ' ' && c != '-':
			return 0, false
		}
	}
	return 0, false
}

// word is a part of a text.
type word struct{ from, to int }

// digitWords returns the words of a text that are digits alone.
func digitWords(text string) (out []word) {
	from, pure := 0, true
	for i := range len(text) + 1 {
		if i < len(text) && (isDigit(text[i]) || isLetter(text[i])) {
			pure = pure && isDigit(text[i])
			continue
		}
		if pure && i > from {
			out = append(out, word{from, i})
		}
		from, pure = i+1, true
	}
	return out
}

// numberFrom reports whether a card number begins with the first word, and where it ends.
func numberFrom(text string, words []word) (to int, found bool) {
	first := words[0]
	if likely(text[first.from:first.to]) {
		return first.to, true
	}
	var digits strings.Builder
	var sizes []int
	for i, w := range words {
		if i > 0 && !joined(text, words[:i+1]) || digits.Len()+w.to-w.from > MaxDigits {
			return 0, false
		}
		digits.WriteString(text[w.from:w.to])
		if sizes = append(sizes, w.to-w.from); printed(sizes) && likely(digits.String()) {
			return w.to, true
		}
	}
	return 0, false
}

// joined reports whether the last word follows on the one before it after one space or hyphen, the
// same as between the first two.
func joined(text string, words []word) bool {
	before, last := words[len(words)-2], words[len(words)-1]
	separator := text[words[0].to]
	return last.from == before.to+1 && text[before.to] == separator && (separator == ' ' || separator == '-')
}

// printed reports whether the digits of a card are printed in groups of these sizes: 4-6-4, 4-6-5, or
// fours with a last group of one to four.
func printed(sizes []int) bool {
	n := len(sizes)
	if n < 3 || sizes[0] != 4 {
		return false
	}
	if n == 3 && sizes[1] == 6 {
		return sizes[2] == 4 || sizes[2] == 5
	}
	for _, size := range sizes[:n-1] {
		if size != 4 {
			return false
		}
	}
	return sizes[n-1] <= 4
}

// likely reports whether digits in a free text are a card number: see InText.
func likely(text string) bool {
	number := secret.New(text)
	if !known(number) {
		return false
	}
	oldVisa := len(text) == 13 && text[0] == '4'
	decimalID := len(text) == MaxDigits && (text[0] == '3' || text[0] == '4')
	return !oldVisa && !decimalID
}

// known reports whether a number has a brand's leading digits, length and check digit.
func known(number secret.String) bool {
	brand := BrandOf(number)
	return brand != Unknown && brand.FitsNumber(number) && Valid(number)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
