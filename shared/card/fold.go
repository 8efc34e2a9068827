package card

import (
	"unicode"
	"unicode/utf8"
)

// folded is a text whose digits and separators are ASCII.
type folded struct {
	text string
	// at is the offset in the original text of each byte of text, and of its end. Nil if the two are
	// equal.
	at []int
}

// fold writes fullwidth characters as ASCII. Space and line breaks of all kinds become spaces.
// Dashes of all kinds, dots, slashes and underscores become hyphens. People paste card numbers with
// them. A text of too few digits for a card number stays as it is.
func fold(text string) folded {
	if !foldable(text) {
		return folded{text: text}
	}
	out := make([]byte, 0, len(text))
	at := make([]int, 0, len(text)+1)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == '\r' && i+1 < len(text) && text[i+1] == '\n' {
			size = 2
		}
		if c, ok := plain(r); ok {
			out, at = append(out, c), append(at, i)
		} else {
			for j := range size {
				out, at = append(out, text[i+j]), append(at, i+j)
			}
		}
		i += size
	}
	return folded{string(out), append(at, len(text))}
}

// foldable reports whether a text has enough digits for a card number, and a character that fold
// changes.
func foldable(text string) bool {
	digits, change := 0, false
	for _, r := range text {
		if c, ok := plain(r); ok {
			change = true
			r = rune(c)
		}
		if r >= '0' && r <= '9' {
			digits++
		}
	}
	return change && digits >= MinDigits
}

// plain returns the character that fold writes for r, or false if r stays as it is.
func plain(r rune) (c byte, ok bool) {
	if r >= '！' && r <= '～' { // the fullwidth characters, in the order of ASCII
		r -= '！' - '!'
		if c, ok = plain(r); !ok {
			c = byte(r)
		}
		return c, true
	}
	switch {
	case r == ' ' || r == '-':
		return 0, false
	case unicode.IsSpace(r) || unicode.Is(unicode.Zs, r):
		return ' ', true
	case r == '.' || r == '/' || r == '_' || r == '\u2212' || unicode.Is(unicode.Pd, r): // U+2212 is the minus sign
		return '-', true
	}
	return 0, false
}

// unfold returns the original text, with an X for each digit that is masked in a text like f.text.
func (f folded) unfold(original, masked string) string {
	if f.at == nil {
		return masked
	}
	out := []byte(original)
	for i := range len(masked) {
		if masked[i] != f.text[i] {
			x := "X"
			if f.at[i+1]-f.at[i] > 1 {
				x = "Ｘ" // as long as the fullwidth digit
			}
			copy(out[f.at[i]:], x)
		}
	}
	return string(out)
}

// original returns the offsets in the original text of the part f.text[from:to].
func (f folded) original(from, to int) (int, int) {
	if f.at == nil {
		return from, to
	}
	return f.at[from], f.at[to]
}
