package card

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// maxLayers is how many encodings around each other are decoded. Percent-encoding of
// percent-encoded text is one layer.
const maxLayers = 4

// unescape removes escapes from a text, in place, also escapes of escapes. It reads `\\` as a
// backslash first, because JSON can be a text in JSON.
func unescape(text []byte) []byte {
	if bytes.IndexByte(text, '%') < 0 && bytes.IndexByte(text, '\\') < 0 {
		return text
	}
	out := text[:0]
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '\\' && i+1 < len(text) {
			switch text[i+1] {
			case 'n', 'r', 't':
				c, i = ' ', i+1
			case '\\':
				i++
			}
		}
		out = append(out, c)
		for found := isHex(c) || c == '}'; found; { // a decoded character can end another escape
			out, found = decodeLast(out)
		}
	}
	return out
}

// decodeLast returns a text with the escape at its end decoded, or false if there is none. Escapes
// are a percent sign or `\x` with two hexadecimal digits, and `%u` or `\u` with four. `\u` can have
// up to eight in braces.
func decodeLast(text []byte) (out []byte, found bool) {
	n := len(text)
	switch {
	case text[n-1] == '}':
		return decodeBraces(text)
	case n >= 3 && text[n-3] == '%':
		if code, ok := hexValue(text[n-2:]); ok {
			return append(text[:n-3], byte(code&0xff)), true
		}
	case n >= 4 && text[n-3] == 'x' && text[n-4] == '\\':
		return decodeRune(text, n-4, n-2)
	case n >= 6 && text[n-5] == 'u' && (text[n-6] == '\\' || text[n-6] == '%'):
		return decodeRune(text, n-6, n-4)
	}
	return text, false
}

// decodeBraces is decodeLast for a text that ends with a brace.
func decodeBraces(text []byte) (out []byte, found bool) {
	end := len(text) - 1
	at := end
	for at > 0 && end-at < 8 && isHex(text[at-1]) {
		at--
	}
	if at == end || at < len(`\u{`) || string(text[at-len(`\u{`):at]) != `\u{` {
		return text, false
	}
	return decodeRune(text[:end], at-len(`\u{`), at)
}

// decodeRune decodes an escape that begins at text[at], with its digits at text[digits:].
func decodeRune(text []byte, at, digits int) (out []byte, found bool) {
	code, ok := hexValue(text[digits:])
	if !ok {
		return text, false
	}
	for at > 0 && text[at-1] == '\\' { // JSON in a text of JSON has several backslashes
		at--
	}
	return utf8.AppendRune(text[:at], code), true
}

func hexValue(digits []byte) (value rune, ok bool) {
	for _, c := range digits {
		if !isHex(c) {
			return 0, false
		}
		value = value<<4 | hexDigit(c)
	}
	return value, true
}

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// hexDigit returns the value of a hexadecimal digit. Letters have the bit 0x40, and A is 0x41.
func hexDigit(c byte) rune { return rune(c&0xf + c>>6*9) }

// withoutDigits returns a text with an X for each digit, number sign and opening brace. So it has
// no encoded digit either: numeric entities begin with "&#". Other escapes of digits contain a
// digit, or letters in braces.
func withoutDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '#' || r == '{' || isDigit(symbolOf(r)&^shaped) {
			return 'X'
		}
		return r
	}, text)
}
