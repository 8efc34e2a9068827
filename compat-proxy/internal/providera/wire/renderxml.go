package wire

import (
	"bytes"
	"slices"

	"github.com/beevik/etree"
)

// prolog begins every response in XML.
const prolog = BOM + `<?xml version="1.0" encoding="utf-8"?>`

// document renders e as the root of a document in XML.
func (e *Element) document() []byte {
	e.CreateAttr("xmlns:xsi", schemaInstance)
	e.CreateAttr("xmlns:xsd", "http://www.w3.org/2001/XMLSchema")
	e.CreateAttr("xmlns", Namespace)
	b := bytes.NewBuffer(make([]byte, 0, 1536))
	b.WriteString(prolog)
	// Canonical text leaves quotes as they are. A carriage return becomes a character reference,
	// because a client's parser would drop it. Characters that XML cannot carry become U+FFFD.
	e.WriteTo(b, &etree.WriteSettings{CanonicalText: true})
	return b.Bytes()
}

// WriteTo implements etree.Token. It writes an empty element with a space, as the provider does.
func (e *Element) WriteTo(w etree.Writer, s *etree.WriteSettings) {
	switch {
	case !inXML(e):
	case e.Form == Repeated:
		for _, c := range e.Child {
			c.WriteTo(w, s)
		}
	case slices.ContainsFunc(e.Child, inXML):
		e.Element.WriteTo(w, s)
	default:
		for _, part := range [...]string{"<", e.Tag, " />"} {
			_, _ = w.WriteString(part)
		}
	}
}

// inXML reports whether XML has the token. The names of elements need no escapes.
func inXML(t etree.Token) bool {
	e, ok := t.(*Element)
	return !ok || !e.JSONOnly
}
