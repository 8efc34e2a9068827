package card_test

import (
	"regexp"
	"strings"

	"github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/secret"
)

// partOfWord reports whether a character is a letter or a digit.
func partOfWord(c byte) bool {
	return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// oneByOne is the definition of MaskText: as long as the text contains a number, its first is
// masked. Its time grows with the square of the text's length.
func oneByOne(text string, own []secret.String) string {
	for {
		from, to, found := firstOf(text, own)
		if !found {
			return text
		}
		text = text[:from] + maskedNumber(text[from:to]) + text[to:]
	}
}

// firstOf is the definition of InText, with a list of all words.
func firstOf(text string, own []secret.String) (from, to int, found bool) {
	for _, number := range own {
		for from = range len(text) {
			if to, found = spelled(text, from, number.Reveal()); found {
				return from, to, true
			}
		}
	}
	for _, w := range allWords(text) {
		if to, found = numberAt(text, w); found {
			return w.from, to, true
		}
	}
	return 0, 0, false
}

func maskedNumber(number string) string {
	out := []byte(number)
	left := 4
	for i := len(out) - 1; i >= 0; i-- {
		if out[i] >= '0' && out[i] <= '9' {
			if left--; left < 0 {
				out[i] = 'X'
			}
		}
	}
	return string(out)
}

// spelled reports whether the digits of a number begin at text[from], and where they end.
func spelled(text string, from int, number string) (to int, found bool) {
	n := 0
	for to = from; to < len(text); to++ {
		switch c := text[to]; {
		case c == number[n]:
			if n++; n == len(number) {
				return to + 1, true
			}
		case n == 0 || partOfWord(c):
			return 0, false
		}
	}
	return 0, false
}

type word struct{ from, to int }

// allWords returns the words of a text that are digits alone.
func allWords(text string) (out []word) {
	from, pure := 0, true
	for i := range len(text) + 1 {
		if i < len(text) && partOfWord(text[i]) {
			pure = pure && text[i] >= '0' && text[i] <= '9'
			continue
		}
		if pure && i > from {
			out = append(out, word{from, i})
		}
		from, pure = i+1, true
	}
	return out
}

// printedForms are the forms of a printed card. In the last of them, each separator has the same
// mark.
var printedForms = forms()

func forms() (out []*regexp.Regexp) {
	add := func(separator string, groups ...string) {
		out = append(out, regexp.MustCompile(`\A`+strings.Join(groups, separator)+`\b`))
	}
	const four, six, last = `\d{4}`, `\d{6}`, `\d{1,4}`
	for _, separator := range []string{" ", "-"} {
		add(separator, four, six, `\d{4,5}`)
		add(separator, four, four, last)
		add(separator, four, four, four, last)
		add(separator, four, four, four, four, last)
	}
	for _, separator := range []string{" +", " *- *", " *, *", " *: *", ` *\| *`} {
		add(separator, four, four, four, four)
		add(separator, four, six, `\d{5}`)
	}
	return out
}

var noDigits = regexp.MustCompile(`\D`)

// numberAt reports whether a card number begins with a word of digits, and where it ends.
func numberAt(text string, first word) (to int, found bool) {
	if card.Likely(text[first.from:first.to]) {
		return first.to, true
	}
	if first.to-first.from != 4 { // each form begins with four digits
		return 0, false
	}
	for _, form := range printedForms {
		number := form.FindString(text[first.from:])
		end := first.from + len(number)
		if card.Likely(noDigits.ReplaceAllString(number, "")) && (!found || end < to) {
			to, found = end, true
		}
	}
	return to, found
}
