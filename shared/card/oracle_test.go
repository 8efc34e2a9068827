package card_test

import (
	"regexp"
	"strings"

	"github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/secret"
)

var partOfWord = regexp.MustCompile(`[0-9A-Za-z]`)

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
	words := allWords(text)
	for i := range words {
		if to, found = inWords(text, words[i:]); found {
			return words[i].from, to, true
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
		case n == 0 || partOfWord.MatchString(text[to:to+1]):
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
		if i < len(text) && partOfWord.MatchString(text[i:i+1]) {
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

// inWords reports whether a card number begins with the first word, and where it ends.
func inWords(text string, words []word) (to int, found bool) {
	first := words[0]
	if card.Likely(text[first.from:first.to]) {
		return first.to, true
	}
	var number strings.Builder
	var sizes []int
	for i, w := range words {
		if i > 0 && !joined(text, words[:i+1]) || number.Len()+w.to-w.from > card.MaxDigits {
			return 0, false
		}
		number.WriteString(text[w.from:w.to])
		if sizes = append(sizes, w.to-w.from); card.Printed(sizes) && card.Likely(number.String()) {
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
