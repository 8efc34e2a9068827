package wire

import (
	"bytes"

	"github.com/beevik/etree"

	"github.com/causeway-pay/causeway/compat-proxy/internal/safexml"
)

const schemaInstance = "http://www.w3.org/2001/XMLSchema-instance"

// Sniff returns the format, by the first significant byte, and the document from that byte on. Any
// other text counts as XML.
func Sniff(body []byte) (Format, []byte) {
	doc := bytes.TrimLeft(bytes.TrimPrefix(body, []byte(BOM)), " \t\r\n")
	if len(doc) > 0 && (doc[0] == '{' || doc[0] == '[') {
		return JSON, doc
	}
	return XML, doc
}

// read builds the tree of a document in the given format.
func read(f Format, doc []byte, o Options) (*etree.Element, *Fault) {
	limit := o.MaxBytes
	if limit == 0 {
		limit = DefaultMaxBytes
	}
	if len(doc) == 0 || len(doc) > limit {
		return nil, Malformed(f)
	}
	if f == JSON {
		return readJSON(doc)
	}
	root, reason := safexml.Parse(doc, limit)
	if reason != "" {
		return nil, Malformed(XML)
	}
	return root, nil
}

// namespaceOf returns the namespace URI of an element. etree does not bind the prefix xml.
func namespaceOf(el *etree.Element) string {
	if el.Space == "xml" {
		return safexml.XMLNamespace
	}
	return el.NamespaceURI()
}

// undeclared returns the name of the first attribute that is in no schema.
func undeclared(el *etree.Element) string {
	for _, a := range el.Attr {
		space := a.NamespaceURI()
		switch {
		case a.Space == "xmlns" || a.Space == "xml" || space == schemaInstance || a.FullKey() == "xmlns":
		case a.Space == "":
			return a.Key
		default:
			return space + ":" + a.Key
		}
	}
	return ""
}
