package card_test

import (
	"regexp"
	"testing"
	"unicode/utf8"

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

// FuzzText: a text without card numbers stays as it is, and MaskText leaves no number in any other.
// Both results are the ones by definition.
func FuzzText(f *testing.F) {
	for _, text := range []string{
		"order_4111 1111 1111 1111!", "%2534111111111111111", "&#52;111&nbsp;1111&#45;1111<br>1111",
		"&amp;#x34;111111111111111",
		"%26%2352%3B111111111111111", "%u0034111111111111111", `\\u0034111\n1111\n1111\n1111`, "&#xBEA;111111111111111",
		"4111</td><td>1111<br class='x'>1111 <b>1111</b>", "4111, 1111, 1111, 1111", "4111 | 1111 | 1111 | 1111",
		"3782  822463\t\t10005", "\u2074\u00b9\u00b9\u00b9 1111 1111 1111", "\u2463\u2460\u2460\u2460111111111111",
		"&sup1; &lt;4111 1111\u00b7&gt;",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := card.MaskText(text)
		if found := card.InText(text); found != (got != text) {
			t.Errorf("%q: found %t, masked %q", text, found, got)
		}
		if card.InText(got) || utf8.RuneCountInString(got) != utf8.RuneCountInString(text) {
			t.Errorf("%q: masked %q", text, got)
		}
		if len(text) < 1<<10 { // the definition takes long
			checkDefinition(t, text, secrets(printedOwn[1:2]))
		}
	})
}
