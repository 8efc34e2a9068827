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

// BenchmarkInText reads texts as long as a request's body. None should take much longer than the
// others.
func BenchmarkInText(b *testing.B) {
	const layers = "&amp;amp;amp;amp;amp;"
	for name, text := range map[string]string{
		"letters":           filled("", "a"),
		"accents":           filled("", "é"),
		"ideographs":        filled(layers+"4111 1111 1111 ", "漢"),
		"groups":            filled("", "4111 "),
		"groups in a table": filled("", "4111 | "),
		"groups in tags":    filled(layers, "<b>4111</b> "),
		"groups in layers":  filled(layers, "4111 "),
		"numbers in layers": filled(layers, "9111111111111118 "),
		"digits":            filled("", "\U0001D7FF"),
		"digits in layers":  filled(layers, "\U0001D7FF"),
		"shapes in layers":  filled(layers, "\u2788"),
		"tags in layers":    filled(layers+"411111111111.", "<>"),
		"open tags":         filled(layers+"411111111111.", "<"),
		"percent in layers": filled(layers+`411111111111.\\`, "%é"),
		"ands in layers":    filled(layers+`411111111111.%\\`, "&ab"),
		"backslashes":       filled(layers+"411111111111.%", `\`),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				card.InText(text)
			}
		})
	}
}

// filled repeats a unit to a text of 250 kB.
func filled(before, unit string) string {
	return before + strings.Repeat(unit, (250<<10-len(before))/len(unit))
}
