package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/compat-proxy/internal/safexml"
)

// jsonReader builds a tree from JSON tokens. The decoder rejects bad UTF-8 and lone surrogates. A
// repeated key is a repeated element, which the schema checks.
type jsonReader struct {
	dec   *jsontext.Decoder
	slab  slab
	nodes int
}

// readJSON reads {"method":{...}} and rejects everything else.
func readJSON(doc []byte) (*Node, *Fault) {
	r := jsonReader{dec: jsontext.NewDecoder(bytes.NewBuffer(doc), jsontext.AllowDuplicateNames(true))}
	var top Node
	if !r.open(jsontext.KindBeginObject) || !r.members(&top, 1) || len(top.Children) != 1 {
		return nil, malformed(JSON)
	}
	if _, err := r.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, malformed(JSON)
	}
	return top.Children[0], nil
}

func (r *jsonReader) open(kind jsontext.Kind) bool {
	tok, err := r.dec.ReadToken()
	return err == nil && tok.Kind() == kind
}

// members reads the members of an object into parent, up to its end.
func (r *jsonReader) members(parent *Node, depth int) bool {
	var list [12]*Node
	children := list[:0]
	for {
		tok, err := r.dec.ReadToken()
		if err != nil {
			return false
		}
		if tok.Kind() == jsontext.KindEndObject {
			parent.Children = r.slab.list(len(children))
			copy(parent.Children, children)
			return true
		}
		name := tok.String()
		if !validName(name) {
			return false
		}
		var ok bool
		// The root must not be an array, which would be several documents.
		if children, ok = r.value(children, name, depth, depth > 1); !ok {
			return false
		}
	}
}

// value reads one value and appends its nodes.
func (r *jsonReader) value(to []*Node, name string, depth int, array bool) ([]*Node, bool) {
	tok, err := r.dec.ReadToken()
	if r.nodes++; err != nil || r.nodes > safexml.MaxNodes || depth > safexml.MaxDepth {
		return to, false
	}
	switch tok.Kind() {
	case jsontext.KindNull:
		if depth > 1 {
			return to, true
		}
		return append(to, r.leaf(name, "")), true
	case jsontext.KindString, jsontext.KindNumber, jsontext.KindTrue, jsontext.KindFalse:
		text := tok.String()
		return append(to, r.leaf(name, text)), validText(text)
	case jsontext.KindBeginObject:
		n := r.leaf(name, "")
		return append(to, n), r.members(n, depth+1)
	case jsontext.KindBeginArray:
		return r.items(to, name, depth, array)
	default:
		return to, false
	}
}

// items reads the items of an array, up to its end. An array in an array has no XML form.
func (r *jsonReader) items(to []*Node, name string, depth int, allowed bool) ([]*Node, bool) {
	for allowed {
		if r.dec.PeekKind() == jsontext.KindEndArray {
			_, err := r.dec.ReadToken()
			return to, err == nil
		}
		var ok bool
		if to, ok = r.value(to, name, depth, false); !ok {
			return to, false
		}
	}
	return to, false
}

func (r *jsonReader) leaf(name, text string) *Node {
	n := r.slab.node()
	n.Name, n.Text, n.space, n.textAt = name, text, Namespace, -1
	if strings.TrimLeft(text, " \t\r\n") != "" {
		n.textAt = 0
	}
	return n
}

// validName reports whether a key can be the name of an XML element. All names
// of the schema are ASCII.
func validName(name string) bool {
	for i := 0; i < len(name); i++ {
		c := name[i]
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || (c != '-' && c != '.' && (c < '0' || c > '9'))) {
			return false
		}
	}
	return name != ""
}

// validText reports whether XML can carry the text too.
func validText(text string) bool {
	for _, c := range text {
		if !safexml.Allowed(c) {
			return false
		}
	}
	return true
}
