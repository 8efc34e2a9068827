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

// BenchmarkInText reads texts as long as a request's body. Digits of a script must cost about as
// much as other letters with accents.
func BenchmarkInText(b *testing.B) {
	for name, unit := range map[string]string{
		"letters": "a", "accents": "é", "groups": "4111 ", "digits": "\U0001D7FF",
		"layers": "&amp;amp;amp;amp;amp;\U0001D7FF",
	} {
		text := strings.Repeat(unit, (256<<10)/len(unit))
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				card.InText(text)
			}
		})
	}
}
