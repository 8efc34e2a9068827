package card_test

import (
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/secret"
)

// TestEscapedNumbers: a percent-encoded number is masked with all digits of its text.
func TestEscapedNumbers(t *testing.T) {
	t.Parallel()
	own := secret.New("9111111111111118")
	for text, want := range map[string]string{
		"https://a.com/?a=%34111111111111111":      "https://a.com/?a=%XXXXXXXXXXXXXXXXX",
		"https://a.com/4111%201111%201111%201111/": "https://a.com/XXXX%XXXXXX%XXXXXX%XXXXXX/",
		"/?a=4111%C2%A01111%C2%A01111%C2%A01111":   "/?a=XXXX%CX%AXXXXX%CX%AXXXXX%CX%AXXXXX",
		"4111%0d%0a1111%e2%80%891111%0A1111":       "XXXX%Xd%XaXXXX%eX%XX%XXXXXX%XAXXXX",
		"%EF%BC%94111111111111111":                 "%EF%BC%XXXXXXXXXXXXXXXXX",
		"4111%252D1111%252D1111-1111":              "XXXX%XXXDXXXX%XXXDXXXX-XXXX",
		"%252534242424242424242":                   "%XXXXXXXXXXXXXXXXXXXXX",
		"%3%34242424242424242":                     "%X%XXXXXXXXXXXXXXXXX",
		"https://a.com/?a=4111+1111+1111+1111&b=1": "https://a.com/?a=XXXX+XXXX+XXXX+XXXX&b=X",
		"a91%31%31-1111-1111-1118b":                "aXX%XX%XX-XXXX-XXXX-XXXXb",
		"４111%201111%201111%201111":                "XXXX%XXXXXX%XXXXXX%XXXXXX",
		"10%4111111111111111":                      "10%XXXXXXXXXXXX1111", // not the letter A and 14 digits
		"4111+1111+1111+1111":                      "4111+1111+1111+1111", // a sum
		"https://a.com/?a=%34111111111111112":      "https://a.com/?a=%34111111111111112",
		"100%, 50%25, %zz, %4":                     "100%, 50%25, %zz, %4",
	} {
		if got := card.MaskText(text, own); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
		if card.InText(text, own) != (text != want) || card.InText(want, own) {
			t.Errorf("%q: got %t", text, card.InText(text, own))
		}
	}
}

// TestEscapedTwice: each number is found however often a text is percent-encoded, and no number is
// left after it was masked.
func TestEscapedTwice(t *testing.T) {
	t.Parallel()
	parts := rapid.SampledFrom([]string{"4111", "1111", "4242424242424242", "%", "%2", "5", "34", " ", "\u00a0", "４", "x"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(parts, 0, 12).Draw(t, "text"), "")
		if got := card.MaskText(text); card.InText(got) || utf8.RuneCountInString(got) != utf8.RuneCountInString(text) {
			t.Errorf("%q became %q", text, got)
		}
		if strings.Contains(text, "%") {
			return
		}
		found := card.InText(text)
		for range rapid.IntRange(0, 3).Draw(t, "times") {
			if text = url.PathEscape(text); rapid.Bool().Draw(t, "digits too") {
				text = strings.ReplaceAll(text, "1", "%31")
			}
		}
		if found && !card.InText(text) { // a text without a number can get one: "%31" ends a word
			t.Errorf("%q: the number is not found", text)
		}
	})
}

// TestEscapedTextIsRead: deeply nested sequences take time in proportion to their length.
func TestEscapedTextIsRead(t *testing.T) {
	t.Parallel()
	nested := "%" + strings.Repeat("25", 1<<19) + "34111111111111111"
	for text, want := range map[string]bool{
		nested: true, strings.Repeat("%", 1<<20): false, strings.Repeat("%2", 1<<19): false,
	} {
		if got := card.InText(text); got != want {
			t.Errorf("%s...: got %t, want %t", text[:10], got, want)
		}
	}
}
