package card

import (
	"bytes"
	_ "embed"
	"fmt"
	"html"
	"strings"
	"sync"
	"unicode/utf8"
)

// entityNames are the names of all HTML entities. Package html has them too, but it looks up an
// unknown name seven times.
//
//go:embed entities.txt
var entityNames string

// unclosed are the names of the entities that need no semicolon. No name begins with another one.
const unclosed = "AElig AMP Aacute Acirc Agrave Aring Atilde Auml COPY Ccedil ETH Eacute Ecirc Egrave Euml GT " +
	"Iacute Icirc Igrave Iuml LT Ntilde Oacute Ocirc Ograve Oslash Otilde Ouml QUOT REG THORN Uacute Ucirc Ugrave " +
	"Uuml Yacute aacute acirc acute aelig agrave amp aring atilde auml brvbar ccedil cedil cent copy curren deg " +
	"divide eacute ecirc egrave eth euml frac12 frac14 frac34 gt iacute icirc iexcl igrave iquest iuml laquo lt " +
	"macr micro middot nbsp not ntilde oacute ocirc ograve ordf ordm oslash otilde ouml para plusmn pound quot " +
	"raquo reg sect shy sup1 sup2 sup3 szlig thorn times uacute ucirc ugrave uml uuml yacute yen yuml"

// entityTable has the texts that entities stand for.
type entityTable struct {
	closed   map[string]string       // by name
	unclosed [utf8.RuneSelf][]string // names by first letter
	windows  [0xa0 - 0x80]string     // the numbers 0x80 to 0x9f, which are of Windows-1252
}

var entities = sync.OnceValue(func() *entityTable {
	t := &entityTable{closed: map[string]string{}}
	for _, name := range strings.Fields(entityNames) {
		t.closed[name] = html.UnescapeString("&" + name + ";")
	}
	for _, name := range strings.Fields(unclosed) {
		t.unclosed[name[0]] = append(t.unclosed[name[0]], name)
	}
	for i := range t.windows {
		t.windows[i] = html.UnescapeString(fmt.Sprintf("&#%d;", 0x80+i))
	}
	return t
})

// replaceEntities is html.UnescapeString, in place. It reports whether the text had entities.
func replaceEntities(text []byte) (out []byte, found bool) {
	at := bytes.IndexByte(text, '&')
	if at < 0 {
		return text, false
	}
	t := entities()
	out = text[:at]
	for i := at; i < len(text); {
		if text[i] == '&' {
			var size int
			if out, size = t.appendEntity(out, text[i:]); size > 0 {
				i, found = i+size, true
				continue
			}
		}
		out = append(out, text[i])
		i++
	}
	return out, found
}

// appendEntity appends the characters of the entity that begins a text. It returns the size of the
// entity in bytes, or 0 if none begins there.
func (t *entityTable) appendEntity(out, text []byte) (longer []byte, size int) {
	if len(text) > 1 && text[1] == '#' {
		return t.appendNumeric(out, text)
	}
	end := 1
	for end < len(text) && isWordByte(text[end]) {
		end++
	}
	name := text[1:end]
	if end < len(text) && text[end] == ';' {
		if value := t.closed[string(name)]; value != "" {
			return append(out, value...), end + 1
		}
	}
	if len(name) == 0 {
		return out, 0
	}
	for _, begin := range t.unclosed[name[0]] {
		if len(name) >= len(begin) && string(name[:len(begin)]) == begin {
			return append(out, t.closed[begin]...), 1 + len(begin)
		}
	}
	return out, 0
}

// appendNumeric is appendEntity for an entity that begins with "&#". Such an entity has at least
// four bytes, and its number has 32 bits.
func (t *entityTable) appendNumeric(out, text []byte) (longer []byte, size int) {
	base, size := rune(10), 2
	if size < len(text) && text[size]|0x20 == 'x' {
		base, size = 16, 3
	}
	number := rune(0)
	for size < len(text) && (isDigit(text[size]) || base == 16 && isHex(text[size])) {
		number = number*base + hexDigit(text[size])
		size++
	}
	if size < len(text) && text[size] == ';' {
		size++
	}
	switch {
	case size <= len("&#0"):
		return out, 0
	case number >= 0x80 && number < 0xa0:
		return append(out, t.windows[number-0x80]...), size
	case number == 0:
		number = utf8.RuneError
	}
	return utf8.AppendRune(out, number), size
}
