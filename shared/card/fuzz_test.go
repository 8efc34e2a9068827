package card_test

import (
	"regexp"
	"testing"

	"github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/secret"
)

var numeric = regexp.MustCompile(`\A[0-9]{12,19}\z`)

// FuzzNumber compares the results for any text with an oracle that shares no code with the package.
func FuzzNumber(f *testing.F) {
	f.Add("4242424242424242")
	f.Fuzz(func(t *testing.T, text string) {
		number := secret.New(text)
		want := numeric.MatchString(text) && checkDigit(text[:len(text)-1]) == int(text[len(text)-1]-'0')
		if got := card.Valid(number); got != want {
			t.Errorf("%q: got %t, want %t", text, got, want)
		}
		b := card.BrandOf(number)
		if b != card.Unknown && (text[0] < '2' || text[0] > '8') {
			t.Errorf("%q: got %s", text, b)
		}
		if b.FitsNumber(number) && (len(text) < card.MinDigits || len(text) > card.MaxDigits) {
			t.Errorf("%q fits %s", text, b)
		}
		if b.FitsCode(number) && len(text) != 3 && len(text) != 4 {
			t.Errorf("%q is a code of %s", text, b)
		}
	})
}
