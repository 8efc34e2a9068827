package card_test

import (
	"encoding/hex"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/secret"
)

// inText is the definition of InText. It makes a text of each form, one after the other, and reads
// each as firstOf does.
func inText(text string, own []secret.String) bool {
	if inWrittenText(text, own) {
		return true
	}
	last := text
	if strings.Contains(text, "://") {
		text = strings.ReplaceAll(text, "+", " ")
	}
	for range 4 {
		if text = html.UnescapeString(unescaped(lineBreaks.Replace(text))); text == last {
			return false
		}
		if inWrittenText(text, own) {
			return true
		}
		last = text
	}
	return false
}

// inWrittenText is inText without encodings.
func inWrittenText(text string, own []secret.String) bool {
	text, _ = folded(text)
	for _, content := range []string{text, untagged(text)} {
		for _, shapes := range []string{content, strings.Map(card.Decimal, content)} {
			if _, _, found := firstOf(shapes, own); found {
				return true
			}
		}
	}
	return false
}

// maskText is the definition of MaskText.
func maskText(text string, own []secret.String) string {
	symbols, at := folded(text)
	masked := oneByOne(symbols, own)
	out := text[:at[0]]
	for i := range at[:len(at)-1] {
		original := text[at[i]:at[i+1]]
		if masked[i] != symbols[i] {
			_, size := utf8.DecodeRuneInString(original)
			original = masked[i:i+1] + original[size:]
		}
		out += original
	}
	if inText(out, own) {
		return strings.Map(func(r rune) rune {
			if r == '#' || r == '{' || unicode.IsDigit(card.Decimal(r)) {
				return 'X'
			}
			return r
		}, out)
	}
	return out
}

// folded returns a text with ASCII digits and separators, and the offset in the original text of
// each byte and of its end. A byte of a broken character becomes a question mark.
func folded(text string) (out string, at []int) {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		character := text[i : i+size]
		if r == '\r' && strings.HasPrefix(text[i:], "\r\n") {
			size = 2
		}
		switch c := plain(r); {
		case c == dropped:
			character = ""
		case c != 0:
			character = string(c)
		case r == utf8.RuneError && size == 1:
			character = "?"
		}
		for j := range len(character) {
			at = append(at, i+min(j, size-1))
		}
		out += character
		i += size
	}
	return out, append(at, len(text))
}

const dropped = -1 // a character without a width

// plain returns the ASCII character for r, or 0 if r stays as it is.
func plain(r rune) rune {
	switch {
	case r >= '！' && r <= '～':
		r -= '！' - '!'
		if c := plain(r); c != 0 {
			return c
		}
		return r
	case unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me, unicode.Other_Default_Ignorable_Code_Point):
		return dropped
	case unicode.Is(unicode.Nd, r):
		return digitOf(r)
	case unicode.IsSpace(r):
		return ' '
	case slices.Contains([]rune("./_·•\u2212"), r), unicode.Is(unicode.Pd, r):
		return '-'
	}
	return 0
}

// digitOf returns the ASCII digit of a decimal digit, which its script has after the ones before.
func digitOf(r rune) rune {
	before := 0
	for unicode.Is(unicode.Nd, r-1) {
		before, r = before+1, r-1
	}
	return rune('0' + before%10)
}

func untagged(text string) string {
	for from := 0; ; {
		end := strings.IndexByte(text[from:], '>')
		if end < 0 {
			return text
		}
		end += from
		begin := strings.LastIndexByte(text[from:end], '<')
		if begin < 0 {
			from = end + 1
			continue
		}
		text = text[:from+begin] + " " + text[end+1:]
		from += begin + 1
	}
}

var lineBreaks = strings.NewReplacer(`\n`, " ", `\r`, " ", `\t`, " ", `\\`, `\`)

var inBraces = regexp.MustCompile(`\\u\{([0-9a-fA-F]{1,8})\}$`)

// unescaped decodes each escape as soon as its last byte is there.
func unescaped(text string) (out string) {
	for i := range len(text) {
		out += text[i : i+1]
		for again := true; again; {
			again = false
			if braces := inBraces.FindStringSubmatchIndex(out); braces != nil {
				code, _ := strconv.ParseUint(out[braces[2]:braces[3]], 16, 32)
				out, again = strings.TrimRight(out[:braces[0]], `\`)+string(rune(code)), true
				continue
			}
			for begin, size := range map[string]int{"%": 2, `\x`: 2, "%u": 4, `\u`: 4} {
				at := len(out) - len(begin) - size
				if at < 0 || !strings.HasPrefix(out[at:], begin) {
					continue
				}
				digits := out[at+len(begin):]
				if _, err := hex.DecodeString(digits); err != nil {
					continue
				}
				code, _ := strconv.ParseUint(digits, 16, 16)
				if again = true; begin == "%" {
					out = out[:at] + string([]byte{byte(code)})
				} else {
					out = strings.TrimRight(out[:at], `\`) + string(rune(code))
				}
				break
			}
		}
	}
	return out
}
