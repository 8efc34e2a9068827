package wire

import (
	"bytes"
	"errors"
	"io"

	"github.com/beevik/etree"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/compat-proxy/internal/safexml"
)

// jsonReader builds a tree from JSON tokens. The decoder rejects bad UTF-8 and lone surrogates. A
// repeated key is a repeated element, which the schema checks.
type jsonReader struct {
	dec   *jsontext.Decoder
	nodes int
}

// readJSON reads {"method":{...}} and rejects everything else.
func readJSON(doc []byte) (*etree.Element, *Fault) {
	r := jsonReader{dec: jsontext.NewDecoder(bytes.NewBuffer(doc), jsontext.AllowDuplicateNames(true))}
	top := etree.NewDocument()
	if !r.open(jsontext.KindBeginObject) || !r.members(&top.Element, 1) || len(top.Child) != 1 {
		return nil, Malformed(JSON)
	}
	if _, err := r.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, Malformed(JSON)
	}
	root := top.Root()
	root.CreateAttr("xmlns", Namespace)
	return root, nil
}

func (r *jsonReader) open(kind jsontext.Kind) bool {
	tok, err := r.dec.ReadToken()
	return err == nil && tok.Kind() == kind
}

// members reads the members of an object into parent, up to its end.
func (r *jsonReader) members(parent *etree.Element, depth int) bool {
	for {
		tok, err := r.dec.ReadToken()
		if err != nil {
			return false
		}
		if tok.Kind() == jsontext.KindEndObject {
			return true
		}
		name := tok.String()
		// The root must not be an array, which would be several documents.
		if !validName(name) || !r.value(parent, name, depth, depth > 1) {
			return false
		}
	}
}

// value reads one value and adds its elements to parent.
func (r *jsonReader) value(parent *etree.Element, name string, depth int, array bool) bool {
	tok, err := r.dec.ReadToken()
	if r.nodes++; err != nil || r.nodes > safexml.MaxNodes || depth > safexml.MaxDepth {
		return false
	}
	switch tok.Kind() {
	case jsontext.KindNull:
		if depth == 1 {
			parent.CreateElement(name)
		}
		return true
	case jsontext.KindString, jsontext.KindNumber, jsontext.KindTrue, jsontext.KindFalse:
		text := tok.String()
		if el := parent.CreateElement(name); text != "" {
			el.CreateText(text)
		}
		return validText(text)
	case jsontext.KindBeginObject:
		return r.members(parent.CreateElement(name), depth+1)
	case jsontext.KindBeginArray:
		return array && r.items(parent, name, depth)
	default:
		return false
	}
}

// items reads the items of an array, up to its end. An array in an array has no XML form.
func (r *jsonReader) items(parent *etree.Element, name string, depth int) bool {
	for r.dec.PeekKind() != jsontext.KindEndArray {
		if !r.value(parent, name, depth, false) {
			return false
		}
	}
	_, err := r.dec.ReadToken()
	return err == nil
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
