package card

import (
	"unicode"
	"unicode/utf8"
)

// A symbol stands for one character of a text. Most are ASCII characters: see fold. A digit in
// another shape is its ASCII digit with the highest bit set.
const (
	shaped  = 0x80 // the bit of a digit in another shape
	dropped = 0x80 // a character that fold drops
	other   = 0xff // any other character that is not ASCII
)

// fold appends a symbol for each character of a text, and reports whether some are digits in
// another shape. Fullwidth characters and the digits of all scripts become ASCII. Space and line
// breaks of all kinds become spaces. Dashes of all kinds, dots, slashes and underscores become
// hyphens. It drops characters without a width, such as soft hyphens and the marks over and around
// characters. People paste card numbers with them.
func fold(symbols, text []byte) (folded []byte, shapes bool) {
	ascii := pages[0]
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf && c != '\r' { // most characters
			symbols = append(symbols, ascii[c])
			i++
			continue
		}
		s, size := symbol(text[i:])
		i += size
		if s != dropped {
			symbols = append(symbols, s)
			shapes = shapes || s > shaped && s != other
		}
	}
	return symbols, shapes
}

// symbol returns the symbol of a text's first character, and the size of the character in bytes.
func symbol(text []byte) (s byte, size int) {
	if text[0] == '\r' && len(text) > 1 && text[1] == '\n' {
		return ' ', 2
	}
	if text[0] < utf8.RuneSelf {
		return pages[0][text[0]], 1
	}
	r, size := utf8.DecodeRune(text)
	return symbolOf(r), size
}

func symbolOf(r rune) byte {
	if page := pages[r>>8]; page != nil {
		return page[r&0xff]
	}
	return other
}

// table has a page of symbols for each 256 characters, or nil if all of them are other.
type table [unicode.MaxRune>>8 + 1]*[256]byte

var pages = newTable()

func newTable() *table {
	t := new(table)
	for c := range rune(utf8.RuneSelf) {
		t.set(c, byte(c))
	}
	t.setAll(unicode.White_Space, func(rune) byte { return ' ' })
	t.setAll(unicode.Pd, func(rune) byte { return '-' })
	for _, c := range "./_·•\u2212" { // U+2212 is the minus sign
		t.set(c, '-')
	}
	for _, noWidth := range []*unicode.RangeTable{
		unicode.Cf, unicode.Mn, unicode.Me, unicode.Other_Default_Ignorable_Code_Point,
	} {
		t.setAll(noWidth, func(rune) byte { return dropped })
	}
	// Unicode has the digits of each script in order, so each range of digits begins at a zero.
	t.setAll(unicode.Nd, func(n rune) byte { return byte('0' + n%10) })
	for _, s := range shapes {
		digit := s.first
		for c := s.from; c <= s.to; c++ {
			t.set(c, digit|shaped)
			digit++
		}
	}
	for c := '！'; c <= '～'; c++ { // the fullwidth characters, in the order of ASCII
		t.set(c, t[0][c-'！'+'!'])
	}
	return t
}

// setAll sets the symbols of all characters in a table of Unicode. The function gets the number of
// a character in its range.
func (t *table) setAll(of *unicode.RangeTable, symbol func(n rune) byte) {
	for _, r := range of.R16 {
		for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
			t.set(c, symbol(c-rune(r.Lo)))
		}
	}
	for _, r := range of.R32 {
		for c := r.Lo; c <= r.Hi; c += r.Stride {
			t.set(rune(c), symbol(rune(c-r.Lo))) //nolint:gosec // characters have 21 bits
		}
	}
}

func (t *table) set(c rune, symbol byte) {
	page := t[c>>8]
	if page == nil {
		page = new([256]byte)
		for i := range page {
			page[i] = other
		}
		t[c>>8] = page
	}
	page[c&0xff] = symbol
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

// unfold returns a text with an X for each digit whose symbol was masked.
func unfold(text, masked []byte) string {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		s, size := symbol(text[i:])
		if isDigit(s) && masked[0] == 'X' {
			out = append(out, 'X')
		} else {
			out = append(out, text[i:i+size]...)
		}
		if i += size; s != dropped {
			masked = masked[1:]
		}
	}
	return string(out)
}
