package card

import (
	"strconv"
	"strings"
	"unicode"
)

// unescaped returns a text without percent-encoding, also of percent-encoded text, and whether that
// differs from the text. In a URL, a plus sign is a space.
func unescaped(text string) (out string, differs bool) {
	isURL := strings.Contains(text, "://")
	if !strings.Contains(text, "%") && (!isURL || !strings.Contains(text, "+")) {
		return text, false
	}
	bytes := make([]byte, 0, len(text))
	for _, c := range []byte(text) {
		if isURL && c == '+' {
			c = ' '
		}
		bytes = append(bytes, c)
		for { // a decoded byte can end another sequence
			n := len(bytes)
			c, found := escape(bytes[max(n-3, 0):])
			if !found {
				break
			}
			bytes = append(bytes[:n-3], c)
		}
	}
	return string(bytes), string(bytes) != text
}

// escape returns the byte of a percent-encoded sequence such as "%3f".
func escape(sequence []byte) (c byte, found bool) {
	if len(sequence) < 3 || sequence[0] != '%' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(sequence[1:]), 16, 8)
	return byte(n), err == nil
}

// withoutDigits returns a text with an X for each digit. So it has no percent-encoded digit either.
func withoutDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return 'X'
		}
		return r
	}, text)
}
