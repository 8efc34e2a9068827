package wire

import (
	"bytes"

	"github.com/causeway-pay/causeway/compat-proxy/internal/safexml"
)

const schemaInstance = "http://www.w3.org/2001/XMLSchema-instance"

// sniff returns the format, by the first significant byte, and the document from that byte on. Any
// other text counts as XML.
func sniff(body []byte) (Format, []byte) {
	doc := bytes.TrimLeft(bytes.TrimPrefix(body, []byte(bom)), " \t\r\n")
	if len(doc) > 0 && (doc[0] == '{' || doc[0] == '[') {
		return JSON, doc
	}
	return XML, doc
}

// read builds the tree of a document in the given format.
func read(f Format, doc []byte, o Options) (*Node, *Fault) {
	limit := o.MaxBytes
	if limit == 0 {
		limit = DefaultMaxBytes
	}
	if len(doc) == 0 || len(doc) > limit {
		return nil, malformed(f)
	}
	if f == JSON {
		return readJSON(doc)
	}
	el, err := safexml.Parse(doc, limit)
	if err != nil {
		return nil, malformed(XML)
	}
	return fromXML(el, &slab{}), nil
}

// fromXML copies an XML tree. safexml bounds the depth.
func fromXML(el *safexml.Element, s *slab) *Node {
	n := s.node()
	n.Name, n.Text, n.space, n.textAt = el.Name, el.Text, el.Space, el.TextAt
	n.attr = undeclared(el.Attrs)
	if len(el.Children) == 0 {
		return n
	}
	n.Text = "" // textAt records that it was not blank
	n.Children = s.list(len(el.Children))
	for i, c := range el.Children {
		n.Children[i] = fromXML(c, s)
	}
	return n
}

// undeclared returns the name of the first attribute that is in no schema.
func undeclared(attrs []safexml.Attr) string {
	for _, a := range attrs {
		if a.Space == schemaInstance || a.Space == "http://www.w3.org/XML/1998/namespace" {
			continue
		}
		if a.Space == "" {
			return a.Name
		}
		return a.Space + ":" + a.Name
	}
	return ""
}

// slab allocates nodes and child lists from larger blocks.
type slab struct {
	nodes []Node
	lists []*Node
}

func (s *slab) node() *Node {
	if len(s.nodes) == 0 {
		s.nodes = make([]Node, 48)
	}
	n := &s.nodes[0]
	s.nodes = s.nodes[1:]
	return n
}

// list returns a child list of exactly n entries.
func (s *slab) list(n int) []*Node {
	if len(s.lists) < n {
		s.lists = make([]*Node, max(n, 64))
	}
	l := s.lists[:n:n]
	s.lists = s.lists[n:]
	return l
}
