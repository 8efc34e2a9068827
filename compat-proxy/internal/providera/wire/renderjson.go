package wire

import (
	"unicode/utf8"

	"github.com/beevik/etree"
)

const hexDigits = "0123456789abcdef"

// maxDepth is the greatest Depth of an element.
const maxDepth = 2

// jsonMembers writes the members of an object, first the members of the most derived type.
func jsonMembers(b []byte, members []etree.Token) []byte {
	for depth := maxDepth; depth >= 0; depth-- {
		for _, t := range members {
			if e, ok := t.(*Element); ok && e.Depth == depth {
				b = jsonName(b, e.Tag)
				b = e.appendJSON(b)
			}
		}
	}
	return b
}

// appendJSON writes the value of e without its name.
func (e *Element) appendJSON(b []byte) []byte {
	switch e.Form {
	case Raw:
		return append(b, e.Text()...)
	case Group:
		b = append(b, '{')
		b = jsonMembers(b, e.Child)
		return append(b, '}')
	case List, Repeated:
		b = append(b, '[')
		for i, t := range e.Child {
			if i > 0 {
				b = append(b, ',')
			}
			if item, ok := t.(*Element); ok {
				b = item.appendJSON(b)
			}
		}
		return append(b, ']')
	case Text:
	}
	return jsonString(b, e.Text())
}

// jsonName writes a member name, with a comma unless it is the first member.
func jsonName(b []byte, name string) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	b = append(b, '"')
	b = append(b, name...)
	return append(b, `":`...)
}

// jsonString quotes s. Apostrophes, slashes, `<` and `&` stay unescaped.
func jsonString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			i += n
			if r == 0x85 || r == 0x2028 || r == 0x2029 {
				b = jsonEscape(b, uint16(r))
				continue
			}
			b = utf8.AppendRune(b, r)
			continue
		}
		i++
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c >= 0x20:
			b = append(b, c)
		default:
			b = jsonControl(b, c)
		}
	}
	return append(b, '"')
}

func jsonControl(b []byte, c byte) []byte {
	switch c {
	case '\b':
		return append(b, `\b`...)
	case '\f':
		return append(b, `\f`...)
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	}
	return jsonEscape(b, uint16(c))
}

func jsonEscape(b []byte, c uint16) []byte {
	return append(b, '\\', 'u', hexDigits[c>>12&15], hexDigits[c>>8&15], hexDigits[c>>4&15], hexDigits[c&15])
}
