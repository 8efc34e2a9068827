package card_test

import (
	"html"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/secret"
)

// TestEscapedNumbers: an encoded number is masked with all digits of its text.
func TestEscapedNumbers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://a.com/?a=%34111111111111111":                     "https://a.com/?a=%XXXXXXXXXXXXXXXXX",
		"https://a.com/4111%201111%201111%201111/":                "https://a.com/XXXX%XXXXXX%XXXXXX%XXXXXX/",
		"/?a=4111%C2%A01111%C2%A01111%C2%A01111":                  "/?a=XXXX%CX%AXXXXX%CX%AXXXXX%CX%AXXXXX",
		"4111%0d%0a1111%e2%80%891111%0A1111":                      "XXXX%Xd%XaXXXX%eX%XX%XXXXXX%XAXXXX",
		"%EF%BC%94111111111111111":                                "%EF%BC%XXXXXXXXXXXXXXXXX",
		"4111%252D1111%252D1111-1111":                             "XXXX%XXXDXXXX%XXXDXXXX-XXXX",
		"%252534242424242424242":                                  "%XXXXXXXXXXXXXXXXXXXXX",
		"%3%34242424242424242":                                    "%X%XXXXXXXXXXXXXXXXX",
		"https://a.com/?a=4111+1111+1111+1111&b=1":                "https://a.com/?a=XXXX+XXXX+XXXX+XXXX&b=X",
		"a91%31%31-1111-1111-1118b":                               "aXX%XX%XX-XXXX-XXXX-XXXXb",
		"４111%201111%201111%201111":                               "XXXX%XXXXXX%XXXXXX%XXXXXX",
		"10%4111111111111111":                                     "10%XXXXXXXXXXXX1111", // not the letter A and 14 digits
		"4111+1111+1111+1111":                                     "4111+1111+1111+1111", // a sum
		"https://a.com/?a=%34111111111111112":                     "https://a.com/?a=%34111111111111112",
		"100%, 50%25, %zz, %4":                                    "100%, 50%25, %zz, %4",
		"&#52;111111111111111":                                    "&XXX;XXXXXXXXXXXXXXX",
		"&#x34;111111111111111":                                   "&XxXX;XXXXXXXXXXXXXXX",
		"&#X34111-1111111111111 &#0052;":                          "&#X34111-1111111111111 &#0052;", // the character U+34111
		"a&#0057111111111111118b, &amp;#49;":                      "a&#0057111111111111118b, &amp;#49;",
		"&amp;#52;111111111111111":                                "&amp;XXX;XXXXXXXXXXXXXXX",
		"%26%2352%3B111111111111111":                              "%XX%XXXX%XBXXXXXXXXXXXXXXX",
		"4111&nbsp;1111&nbsp;1111&nbsp;1111":                      "XXXX&nbsp;XXXX&nbsp;XXXX&nbsp;XXXX",
		"4111&#32;1111&#x20;1111&NonBreakingSpace;1111":           "XXXX&XXX;XXXX&XxXX;XXXX&NonBreakingSpace;XXXX",
		"4111&#45;1111&#8209;1111&hyphen;1111":                    "XXXX&XXX;XXXX&XXXXX;XXXX&hyphen;XXXX",
		"4111&shy;1111&shy;1111&shy;1111":                         "XXXX&shy;XXXX&shy;XXXX&shy;XXXX",
		"4111<br>1111<br/>1111<BR />1111":                         "XXXX<br>XXXX<br/>XXXX<BR />XXXX",
		"4111&lt;br&gt;1111<br>1111<br>1111":                      "XXXX&lt;br&gt;XXXX<br>XXXX<br>XXXX",
		"&#xBEA;111111111111111":                                  "&XxBEA;XXXXXXXXXXXXXXX", // a Tamil digit
		"%u0034111111111111111":                                   "%uXXXXXXXXXXXXXXXXXXX",
		`\u0034111111111111111`:                                   `\uXXXXXXXXXXXXXXXXXXX`,
		`\x34\x31\x31\x31111111111111`:                            `\xXX\xXX\xXX\xXXXXXXXXXXXXXX`,
		`\\\\u0034\\\\u0031\u00311111111111111`:                   `\\\\uXXXX\\\\uXXXX\uXXXXXXXXXXXXXXXXX`,
		`\u{34}\u{031}11111111111111`:                             `\uXXX}\uXXXX}XXXXXXXXXXXXXX`,
		strings.Repeat(`\u{aea}\u{AE8}`, 8):                       strings.Repeat(`\uXaea}\uXAEX}`, 8), // Gujarati digits
		`\u{1F600} {a} {4}`:                                       `\u{1F600} {a} {4}`,
		`4111\n1111\r\n1111\t1111`:                                `XXXX\nXXXX\r\nXXXX\tXXXX`,
		`4111\n1111\\n1111\\\\r1111`:                              `XXXX\nXXXX\\nXXXX\\\\rXXXX`,
		"a&#57;111&#45;1111 1111 1118b":                           "a&XXX;XXX&XXX;XXXX XXXX XXXXb",
		"Smith & Sons &copy; 2026, AT&T; 3 < 4 <b>5</b> & #6 &#7": "Smith & Sons &copy; 2026, AT&T; 3 < 4 <b>5</b> & #6 &#7",
		`C:\new\4711 \\server\2026 \u00e4 \x41`:                   `C:\new\4711 \\server\2026 \u00e4 \x41`,
		"https://a.com/?a=1&b=4111111111111112&c=4":               "https://a.com/?a=1&b=4111111111111112&c=4",
	} {
		checkMasked(t, text, want)
	}
}

// TestNumbersInMarkup: a number with tags between its groups, or with digits in other shapes, is
// masked with all digits of its text.
func TestNumbersInMarkup(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"4111</td><td>1111</td><td>1111</td>\n<td>1111":   "XXXX</td><td>XXXX</td><td>XXXX</td>\n<td>XXXX",
		`4111<Br>1111<br class="x">1111<br  />1111`:       `XXXX<Br>XXXX<br class="x">XXXX<br  />XXXX`,
		"<b>4111</b> <b>1111</b> <b>1111</b> <b>1111</b>": "<b>XXXX</b> <b>XXXX</b> <b>XXXX</b> <b>XXXX</b>",
		"4111<wbr>1111<wbr>1111<wbr>1111<":                "XXXX<wbr>XXXX<wbr>XXXX<wbr>XXXX<",
		"4111%3C/td%3E1111<td>1111&lt;/td><td>1111":       "XXXX%XC/td%XEXXXX<td>XXXX&lt;/td><td>XXXX",
		"<a href='/4111111111111111'>":                    "<a href='/XXXXXXXXXXXX1111'>",
		"<a href='/%34111111111111111'>":                  "<a href='/%XXXXXXXXXXXXXXXXX'>",
		"a9111</i>1111<br>1111 1118b":                     "aXXXX</i>XXXX<br>XXXX XXXXb",
		"\u2074\u00b9\u00b9\u00b9 1111 1111 1111":         "XXXX XXXX XXXX XXXX",
		"\u2463\u2460\u2460\u2460111111111111":            "XXXXXXXXXXXXXXXX",
		"⁴¹¹¹\u00a0¹¹¹¹\u00a0¹¹¹¹\u00a0¹¹¹¹":              "XXXX\u00a0XXXX\u00a0XXXX\u00a0XXXX",
		"&sup1; \u2783111111111111111":                    "&supX; XXXXXXXXXXXXXXXX",
		"4111111111111111\u00b2":                          "XXXXXXXXXXXX1111\u00b2",      // a footnote
		"%\u00ad41&#49;1111111111111":                     "%\u00adXX&XXX;XXXXXXXXXXXXX", // not the letter A
		"4111&#32;1111&#32;1111&#32;1111\u00b2":           "XXXX&XXX;XXXX&XXX;XXXX&XXX;XXXXX",
		"\u24634111<br>1111<br>1111%201111":               "XXXXX<br>XXXX<br>XXXX%XXXXXX",
		"9111 <1111 1111<br>1118":                         "XXXX <XXXX XXXX<br>XXXX",
		"9111 &lt;1111 1111<br>1118":                      "XXXX &lt;XXXX XXXX<br>XXXX",
		"a > 4111</td><td>1111</td><td>1111</td><td>1111": "a > XXXX</td><td>XXXX</td><td>XXXX</td><td>XXXX",
		"%E2%81%B4111111111111111":                        "%EX%XX%BXXXXXXXXXXXXXXXX",
	} {
		checkMasked(t, text, want)
	}
}

// otherOwn is a number that no brand has.
const otherOwn = "9111111111111118"

// checkMasked compares the masked form of a text. One that is the same contains no card number.
func checkMasked(t *testing.T, text, want string) {
	t.Helper()
	own := secret.New(otherOwn)
	if got := card.MaskText(text, own); got != want {
		t.Errorf("%q: got %q, want %q", text, got, want)
	}
	if card.InText(text, own) != (text != want) || card.InText(want, own) {
		t.Errorf("%q: got %t", text, card.InText(text, own))
	}
}

// TestEscapedTwice: each number is found in a text that is encoded up to maxLayers times, and no
// number is left after it was masked.
func TestEscapedTwice(t *testing.T) {
	t.Parallel()
	parts := rapid.SampledFrom([]string{
		"4111", "1111", "4242424242424242", "%", "%2", "5", "34", " ", "\u00a0", "４", "x",
		"&#", "&#x", ";", "&amp;", "BEA", `\`, `\u00`, "u",
		"<br>", "n",
	})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(parts, 0, 12).Draw(t, "text"), "")
		if got := card.MaskText(text); card.InText(got) || utf8.RuneCountInString(got) != utf8.RuneCountInString(text) {
			t.Errorf("%q became %q", text, got)
		}
		if strings.ContainsAny(text, `%&<\`) {
			return
		}
		found := card.InText(text)
		for range rapid.IntRange(0, 3).Draw(t, "times") {
			text = encodings[rapid.IntRange(0, len(encodings)-1).Draw(t, "encoding")](text)
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
		strings.Repeat(`\`, 1<<20) + "u0034111111111111111": true, strings.Repeat("&", 1<<20): false,
		"&" + strings.Repeat("amp;", 1<<18) + "#": false, strings.Repeat("&#1", 1<<18): false,
	} {
		if got := card.InText(text); got != want {
			t.Errorf("%s...: got %t, want %t", text[:10], got, want)
		}
	}
}

// encodings are ways in which a client encodes a text.
var encodings = []func(string) string{
	url.PathEscape,
	html.EscapeString,
	func(text string) string { return strings.ReplaceAll(url.PathEscape(text), "1", "%31") },
	func(text string) string { return strings.ReplaceAll(html.EscapeString(text), "1", "&#49;") },
	func(text string) string { return strings.ReplaceAll(html.EscapeString(text), " ", "&nbsp;") },
	func(text string) string {
		return strings.ReplaceAll(strings.ReplaceAll(text, `\`, `\\`), "4", `\u0034`)
	},
}
