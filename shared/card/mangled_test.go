package card_test

import (
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/secret"
)

// mangler makes texts with numbers in many spellings, whole and broken.
type mangler struct{ *rand.Rand }

func (m mangler) of(choices ...string) string { return choices[m.IntN(len(choices))] }

// text returns a text of a few parts, in up to four encodings around each other.
func (m mangler) text() string {
	var b strings.Builder
	if m.IntN(8) == 0 {
		b.WriteString("a://")
	}
	for range 1 + m.IntN(4) {
		switch m.IntN(3) {
		case 0:
			b.WriteString(m.noise())
		default:
			b.WriteString(m.number())
		}
	}
	text := b.String()
	for range m.IntN(5) {
		text = m.encoded(text)
	}
	return m.broken(text)
}

// number returns a number, or one with a wrong digit, in groups.
func (m mangler) number() string {
	digits := m.of("4111111111111111", "378282246310005", "5555555555554444", "6212345678900000003", "30569309025904",
		"6759649826438453", "4111111111114111", "9111111111111118", "3800000000000000006", "4222222222222",
		"0000000000000000",
		"676312345678", "4242424242424242424")
	if m.IntN(4) == 0 {
		digits = digits[:12]
		digits += fmt.Sprint(checkDigit(digits))
	}
	if m.IntN(6) == 0 {
		i := m.IntN(len(digits))
		digits = digits[:i] + m.of("0", "1", "4", "9") + digits[i+1:]
	}
	sizes := [][]int{{4, 4, 4, 4, 4}, {4, 6, 9}, {19}, {1, 3, 4, 8, 3}, {4, 4, 4, 3, 4}}[m.IntN(5)]
	separator := m.separator()
	var out string
	for _, n := range sizes {
		if n = min(n, len(digits)); n == 0 {
			break
		}
		out += m.spelled(digits[:n])
		if digits = digits[n:]; digits != "" {
			out += separator
		}
		if m.IntN(10) == 0 {
			separator = m.separator()
		}
	}
	return out
}

func (m mangler) separator() string {
	return m.of("", " ", " ", "-", "-", ".", "  ", ",", ", ", " | ", ":", "\u00a0", "\u2009", "\u2011", "\u2212",
		"\u00b7", "\t",
		"\r\n", "\r", "\n", "+", "/", "_", "\u00ad", "\u200b", "<br>", "</td><td>", "<", ">", "<1>", "\uff0c",
		"\uff0e", "\u3000", "\uff1c\uff1e",
		"&nbsp;", "&#32;", "&ndash;", "&shy;", "&alpha;", "&lt;b&gt;", "&#150;", "&hyphen", "%20", "%0a", `\n`,
		`\\n`, `\u00a0`,
		"\xc2", "\xe2\x80", "é", "漢", "#", ";", "'", "x", " - - ", "\u0301", "&ThickSpace;")
}

// spelled returns digits in another script, in another shape or as escapes.
func (m mangler) spelled(digits string) (out string) {
	how := m.IntN(25)
	for _, c := range []byte(digits) {
		d := rune(c - '0')
		if how >= 12 && m.IntN(6) == 0 {
			out += m.digit(d, m.IntN(13))
			continue
		}
		out += m.digit(d, max(0, how-12)*m.IntN(2))
	}
	return out
}

func (m mangler) digit(d rune, how int) string {
	switch how {
	case 1:
		return string('０' + d)
	case 2:
		return string([]rune("⁰¹²³⁴⁵⁶⁷⁸⁹")[d])
	case 3:
		return string([]rune("⓪①②③④⑤⑥⑦⑧⑨")[d])
	case 4:
		return string('٠' + d)
	case 5:
		return string(0x1D7CE + d + 10*rune(m.IntN(5)))
	case 6:
		return fmt.Sprintf("&#%d%s", '0'+d, m.of(";", ";", ""))
	case 7:
		return fmt.Sprintf("&#x%x%s", '0'+d, m.of(";", ";", ""))
	case 8:
		return fmt.Sprintf("%%%02x", '0'+d)
	case 9:
		return fmt.Sprintf(m.of(`\u%04x`, `%%u%04X`, `\x%02x`), '0'+d)
	case 10:
		return fmt.Sprintf("&#%d;", int64(1)<<32+'0'+int64(d))
	case 11:
		return string('0'+d) + m.of("\u00ad", "\u200d", "\u0301", "\ufe0f\u20e3", "\u034f", "\u3164", "")
	case 12:
		return fmt.Sprintf(`\u{%s%x}`, m.of("", "00"), []rune{'0', '\u0ae6', '０'}[m.IntN(3)]+d)
	}
	return string('0' + d)
}

func (m mangler) noise() string {
	return m.of("order ", "a", "7", "42", "4111 ", "1111", " 11", "%", "%%", "%2", "25", "34", "&", "&#", "&#x",
		"&amp", "&amp;", "amp;",
		"&lt", "gt;", ";", `\`, `\\`, `\u`, `\u00`, "u", "n", "x", "<", ">", "<b>", "\xef\xbc", "\xc2", "%C2",
		"%AD", "%B2", "\xb2", "+", "://",
		"&sup1", "&sup2;", "&frac12;", "&notin;", "&notanentity;", "&fjlig;", "&num;", "&percnt;", "&bsol;",
		"&Tab;", "&semi;", "&plus;",
		"\u00b2", "X", "\x00", "\x7f", "#52;", "%u003", "03", "%25", "\r", "\n", ", ", " - ")
}

// encoded returns a text in one more encoding.
func (m mangler) encoded(text string) string {
	switch m.IntN(8) {
	case 0:
		return url.PathEscape(text)
	case 1:
		return url.QueryEscape(text)
	case 2:
		return html.EscapeString(text)
	case 3:
		return fmt.Sprintf("%q", text)
	case 4:
		return fmt.Sprintf("%+q", text)
	case 5:
		return strings.ReplaceAll(text, m.of("%", "&", `\`, ";", "4", "1", " ", "#"), m.of("%25", "&amp;", `\\`,
			"&semi;", "%34", "&#49;",
			"%20", "+", "&num;", `\u0031`, "%3%34"))
	default:
		return text
	}
}

// broken returns a text with some bytes removed, doubled or replaced.
func (m mangler) broken(text string) string {
	for range max(0, m.IntN(6)-3) {
		if text == "" {
			return text
		}
		i := m.IntN(len(text))
		text = text[:i] + m.of("", "", text[i:i+1]+text[i:i+1], m.noise(), " ") + text[i+1:]
	}
	return text
}

// TestDefinition: in mangled texts, the results are the ones by definition.
func TestDefinition(t *testing.T) {
	t.Parallel()
	const n = 2000
	seed := rand.Uint64()
	m := mangler{rand.New(rand.NewPCG(seed, 0))}
	found := 0
	for range n {
		own := secrets(printedOwn[:m.IntN(len(printedOwn)+1)])
		if checkDefinition(t, m.text(), own) {
			found++
		}
	}
	if found < n/10 || found > n*9/10 {
		t.Errorf("%d of %d texts contain a number", found, n)
	}
	if t.Failed() {
		t.Log("seed", seed)
	}
}

// checkDefinition compares the results for a text with the ones by definition, and reports whether
// the text contains a number.
func checkDefinition(t *testing.T, text string, own []secret.String) (found bool) {
	t.Helper()
	found = card.InText(text, own...)
	if want := inText(text, own); found != want {
		t.Errorf("%q with %d own: found %t, want %t", text, len(own), found, want)
	}
	if got, want := card.MaskText(text, own...), maskText(text, own); got != want {
		t.Errorf("%q with %d own: masked %q, want %q", text, len(own), got, want)
	}
	return found
}
