package card

import (
	"slices"
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

// fold writes fullwidth characters and the digits of all scripts as ASCII. Space and line breaks of
// all kinds become spaces. Dashes of all kinds, dots, slashes and underscores become hyphens. It
// drops characters without a width, such as soft hyphens. People paste card numbers with them. A
// text of too few digits for a card number stays as it is.
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
			if c != dropped {
				out, at = append(out, c), append(at, i)
			}
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
		if r = decimal(r); r >= '0' && r <= '9' {
			digits++
		}
		if change && digits >= MinDigits {
			return true
		}
	}
	return false
}

// dropped is what plain returns for a character that fold drops.
const dropped = 0

// plain returns the character that fold writes for r, or false if r stays as it is.
func plain(r rune) (c byte, ok bool) {
	switch {
	case r == '.' || r == '/' || r == '_':
		return '-', true
	case r < utf8.RuneSelf:
		return ' ', r >= '\t' && r <= '\r' // tabs and line breaks
	case r >= '！' && r <= '～': // the fullwidth characters, in the order of ASCII
		r -= '！' - '!'
		if c, ok = plain(r); !ok {
			c = byte(r)
		}
		return c, true
	case unicode.Is(unicode.Cf, r):
		return dropped, true
	case unicode.Is(unicode.Nd, r):
		return digit(r), true
	case unicode.IsSpace(r):
		return ' ', true
	case r == '·' || r == '•' || r == '\u2212' || unicode.Is(unicode.Pd, r): // U+2212 is the minus sign
		return '-', true
	}
	return 0, false
}

// shapes are digits that are no decimal digits of a script: superscripts, subscripts and digits in
// circles or with punctuation. Each row begins with the digit first.
var shapes = [...]struct {
	from, to rune
	first    byte
}{
	{'²', '³', '2'},
	{'¹', '¹', '1'},
	{'⁰', '⁰', '0'},
	{'⁴', '⁹', '4'},
	{'₀', '₉', '0'},
	{'①', '⑨', '1'},
	{'⑴', '⑼', '1'},
	{'⒈', '⒐', '1'},
	{'⓪', '⓪', '0'},
	{'⓵', '⓽', '1'},
	{'⓿', '⓿', '0'},
	{'❶', '❾', '1'},
	{'➀', '➈', '1'},
	{'➊', '➒', '1'},
}

// decimal returns the ASCII digit of a digit in another shape, and any other character as it is.
func decimal(r rune) rune {
	if r < '²' || r > '¹' && r < '⁰' || r > '➒' { // most characters
		return r
	}
	for _, s := range shapes {
		if r >= s.from && r <= s.to {
			return rune(s.first) + r - s.from
		}
	}
	return r
}

// digit returns the ASCII form of a decimal digit. Unicode has the digits of each script in order,
// so each range of digits begins at a zero.
func digit(r rune) byte {
	n := int(r)
	short, long := unicode.Nd.R16, unicode.Nd.R32
	i, _ := slices.BinarySearchFunc(short, n, func(of unicode.Range16, n int) int { return int(of.Hi) - n })
	if i < len(short) {
		return byte('0' + (n-int(short[i].Lo))%10)
	}
	i, _ = slices.BinarySearchFunc(long, n, func(of unicode.Range32, n int) int { return int(of.Hi) - n })
	return byte('0' + (n-int(long[i].Lo))%10)
}

// unfold returns the original text, with an X for each digit that is masked in a text like f.text.
func (f folded) unfold(original, masked string) string {
	if f.at == nil {
		return masked
	}
	out := make([]byte, 0, len(original))
	from := 0
	for i := range len(masked) {
		if masked[i] != f.text[i] {
			_, size := utf8.DecodeRuneInString(original[f.at[i]:])
			out = append(append(out, original[from:f.at[i]]...), masked[i])
			from = f.at[i] + size
		}
	}
	return string(append(out, original[from:]...))
}
