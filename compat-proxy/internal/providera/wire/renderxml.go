package wire

import "unicode/utf8"

// prolog is the XML declaration. rootAttributes follow the root name.
const (
	prolog         = `<?xml version="1.0" encoding="utf-8"?>`
	rootAttributes = ` xmlns:xsi="` + schemaInstance + `" xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns="` +
		Namespace + `">`
)

func (d *Document) appendXML(b []byte) []byte {
	b = append(b, prolog...)
	b = append(b, '<')
	b = append(b, d.Root...)
	b = append(b, rootAttributes...)
	if d.RefID != nil {
		b = xmlLeaf(b, "refId", *d.RefID)
	}
	b = append(b, "<messages>"...)
	b = xmlLeaf(b, "resultCode", d.ResultCode)
	for _, m := range d.Messages {
		b = append(b, "<message>"...)
		b = xmlLeaf(b, "code", m.Code)
		b = xmlLeaf(b, "text", m.Text)
		b = append(b, "</message>"...)
	}
	b = append(b, "</messages>"...)
	for _, e := range d.Own {
		b = e.appendXML(b)
	}
	b = append(b, "</"...)
	b = append(b, d.Root...)
	return append(b, '>')
}

func (e *Element) appendXML(b []byte) []byte {
	switch {
	case e.JSONOnly:
		return b
	case e.Form == Text || e.Form == Raw:
		return xmlLeaf(b, e.Name, e.Text)
	}
	if e.Form == Many {
		for _, c := range e.Children {
			b = c.appendXML(b)
		}
		return b
	}
	open := len(b)
	b = append(b, '<')
	b = append(b, e.Name...)
	b = append(b, '>')
	content := len(b)
	for _, c := range e.Children {
		b = c.appendXML(b)
	}
	if len(b) == content {
		return xmlLeaf(b[:open], e.Name, "")
	}
	b = append(b, "</"...)
	b = append(b, e.Name...)
	return append(b, '>')
}

// xmlLeaf writes an element with text. The name must need no escapes.
func xmlLeaf(b []byte, name, text string) []byte {
	b = append(b, '<')
	b = append(b, name...)
	if text == "" {
		return append(b, " />"...)
	}
	b = append(b, '>')
	b = xmlText(b, text)
	b = append(b, "</"...)
	b = append(b, name...)
	return append(b, '>')
}

// xmlText escapes the text of an element. Quotes stay. A carriage return becomes a character
// reference, because a client's parser would drop it. Characters that XML cannot carry become
// U+FFFD.
func xmlText(b []byte, s string) []byte {
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == 0xFFFE || r == 0xFFFF {
				r = utf8.RuneError
			}
			b = utf8.AppendRune(b, r)
			i += n
			continue
		}
		switch {
		case c == '&':
			b = append(b, "&amp;"...)
		case c == '<':
			b = append(b, "&lt;"...)
		case c == '>':
			b = append(b, "&gt;"...)
		case c == '\r':
			b = append(b, "&#xD;"...)
		case c < 0x20 && c != '\t' && c != '\n':
			b = utf8.AppendRune(b, utf8.RuneError)
		default:
			b = append(b, c)
		}
		i++
	}
	return b
}
