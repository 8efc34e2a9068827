package card_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/causeway-pay/causeway/shared/card"
)

// TestDigit: the ten digits of each script are in order, one script after the other.
func TestDigit(t *testing.T) {
	t.Parallel()
	n := rune(-1)
	for r := range unicode.MaxRune {
		if !unicode.Is(unicode.Nd, r) {
			n = -1
			continue
		}
		n++
		if got, want := card.Digit(r), byte('0'+n%10); got != want {
			t.Errorf("%U: got %c, want %c", r, got, want)
		}
	}
}

// TestDecimal: each digit in another shape has the value that Unicode's name for it has.
func TestDecimal(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"⁰¹²³⁴⁵⁶⁷⁸⁹": "0123456789", "₀₁₂₃₄₅₆₇₈₉": "0123456789", "⓪①②③④⑤⑥⑦⑧⑨": "0123456789",
		"⑴⑵⑶⑷⑸⑹⑺⑻⑼": "123456789", "⒈⒉⒊⒋⒌⒍⒎⒏⒐": "123456789", "⓵⓶⓷⓸⓹⓺⓻⓼⓽": "123456789",
		"⓿❶❷❸❹❺❻❼❽❾": "0123456789", "➀➁➂➃➄➅➆➇➈": "123456789", "➊➋➌➍➎➏➐➑➒": "123456789",
		"①⑩➉❿½¼¾‰€x7٤": "1⑩➉❿½¼¾‰€x7٤", "": "",
	} {
		if got := strings.Map(card.Decimal, text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
