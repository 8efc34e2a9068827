package card

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxLayers is how many encodings around each other are decoded. Percent-encoding of
// percent-encoded text is one layer.
const maxLayers = 4

// decoded returns a text without one layer of encodings: percent-encoding, HTML entities, and the
// escapes of JavaScript and JSON. JSON line breaks become spaces.
func decoded(text string) string {
	if strings.Contains(text, `\`) {
		text = lineBreaks.Replace(text)
	}
	if strings.ContainsAny(text, `%\`) {
		text = unescaped(text)
	}
	return html.UnescapeString(text)
}

// lineBreaks writes a space for each encoded line break or tab. It decodes backslashes too, because
// JSON can be a text in JSON.
var lineBreaks = strings.NewReplacer(`\n`, " ", `\r`, " ", `\t`, " ", `\\`, `\`)

// untagged returns a text with a space for each markup tag. A tag has no angle bracket in it.
func untagged(text string) string {
	var out []byte
	for rest := text; ; {
		before, after, closed := strings.Cut(rest, ">")
		if !closed {
			if out == nil {
				return text
			}
			return string(append(out, rest...))
		}
		if begin := strings.LastIndexByte(before, '<'); begin >= 0 {
			out = append(append(out, before[:begin]...), ' ')
		} else {
			out = append(append(out, before...), '>')
		}
		rest = after
	}
}

// escapes are the beginnings of encoded characters and the number of hexadecimal digits that
// follow.
var escapes = []struct {
	begin string
	size  int
}{{"%", 2}, {`\x`, 2}, {"%u", 4}, {`\u`, 4}}

// unescaped returns a text without escapes, also of escapes.
func unescaped(text string) string {
	out := make([]byte, 0, len(text))
	for i := range len(text) {
		out = append(out, text[i])
		for again := true; again; { // a decoded byte can end another escape
			out, again = decodeLast(out)
		}
	}
	return string(out)
}

// decodeLast returns a text with the escape at its end decoded, or false if there is none.
func decodeLast(text []byte) (out []byte, found bool) {
	for _, e := range escapes {
		at := len(text) - len(e.begin) - e.size
		if at < 0 || string(text[at:at+len(e.begin)]) != e.begin {
			continue
		}
		code := []byte{0, 0}
		if _, err := hex.Decode(code[2-e.size/2:], text[at+len(e.begin):]); err != nil {
			continue
		}
		if e.begin == "%" {
			return append(text[:at], code[1]), true
		}
		before := bytes.TrimRight(text[:at], `\`) // JSON in a text of JSON has several backslashes
		return utf8.AppendRune(before, rune(binary.BigEndian.Uint16(code))), true
	}
	return text, false
}

// plusDecoded returns a text with a space for each plus sign, if it is a URL.
func plusDecoded(text string) string {
	if strings.Contains(text, "://") {
		return strings.ReplaceAll(text, "+", " ")
	}
	return text
}

// withoutDigits returns a text with an X for each digit and for each number sign. So it has no
// encoded digit either: numeric entities begin with "&#", and other escapes of digits contain one.
func withoutDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '#' || unicode.IsDigit(decimal(r)) {
			return 'X'
		}
		return r
	}, text)
}
