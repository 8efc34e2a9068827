package safexml

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

const (
	xmlSpace   = "http://www.w3.org/XML/1998/namespace"
	xmlnsSpace = "http://www.w3.org/2000/xmlns/"
	// slabSize is the number of elements in one allocation.
	slabSize = 48
	// maxBindings bounds the namespace declarations in scope, so that looking
	// a prefix up stays cheap.
	maxBindings = 64
)

// frame is one open element.
type frame struct {
	el       *Element
	raw      xml.Name // as written, to match the end tag
	bindings int      // in scope before this element
	text     []byte   // the text so far, from the second run on
}

// binding is one namespace declaration in scope.
type binding struct{ prefix, uri string }

// parser builds the tree from raw tokens; it resolves namespaces itself
// because the decoder takes an unbound prefix for a namespace name.
type parser struct {
	dec      *xml.Decoder
	body     []byte
	root     *Element
	stack    []frame
	bindings []binding
	nodes    int
	slab     []Element
}

// run reads all tokens; the empty reason means success.
func (p *parser) run() Reason {
	for {
		start := p.dec.InputOffset()
		tok, err := p.dec.RawToken()
		if errors.Is(err, io.EOF) {
			return p.finish()
		}
		if err != nil {
			return Malformed
		}
		if reason := p.token(tok, start); reason != "" {
			return reason
		}
	}
}

func (p *parser) finish() Reason {
	if p.root == nil || len(p.stack) > 0 {
		return Malformed
	}
	return ""
}

func (p *parser) token(tok xml.Token, start int64) Reason {
	switch t := tok.(type) {
	case xml.StartElement:
		return p.open(t, start)
	case xml.EndElement:
		return p.end(t)
	case xml.CharData:
		return p.text(t, start)
	case xml.Comment:
		return p.count(1)
	case xml.ProcInst:
		return p.instruction(t, start)
	case xml.Directive:
		return Directive
	}
	return Malformed
}

// count adds n nodes to the budget.
func (p *parser) count(n int) Reason {
	if p.nodes += n; p.nodes > MaxNodes {
		return TooMany
	}
	return ""
}

func (p *parser) open(t xml.StartElement, start int64) Reason {
	switch {
	case len(p.stack) == 0 && p.root != nil:
		return SecondRoot
	case len(p.stack) >= MaxDepth:
		return TooDeep
	case len(t.Attr) > MaxAttrs:
		return TooMany
	}
	if reason := p.count(1 + len(t.Attr)); reason != "" {
		return reason
	}
	f := frame{el: p.newElement(), raw: t.Name, bindings: len(p.bindings)}
	if reason := p.declare(t.Attr); reason != "" {
		return reason
	}
	space, reason := p.resolve(t.Name, true)
	if reason != "" {
		return reason
	}
	f.el.Space, f.el.Name, f.el.TextAt = space, t.Name.Local, -1
	if reason := p.attributes(f.el, t.Attr, start); reason != "" {
		return reason
	}
	p.push(f)
	return ""
}

func (p *parser) push(f frame) {
	if len(p.stack) == 0 {
		p.root = f.el
	} else {
		parent := p.stack[len(p.stack)-1].el
		parent.Children = append(parent.Children, f.el)
	}
	p.stack = append(p.stack, f)
}

func (p *parser) end(t xml.EndElement) Reason {
	if len(p.stack) == 0 || p.stack[len(p.stack)-1].raw != t.Name {
		return Malformed
	}
	f := &p.stack[len(p.stack)-1]
	if f.text != nil {
		f.el.Text = string(f.text)
	}
	p.bindings = p.bindings[:f.bindings]
	p.stack = p.stack[:len(p.stack)-1]
	return ""
}

func (p *parser) text(t xml.CharData, start int64) Reason {
	blank := len(bytes.Trim(t, " \t\r\n")) == 0
	if len(p.stack) == 0 {
		// The bytes as sent, not decoded: CDATA and character references are forbidden here, even ones
		// that decode to a blank.
		raw := p.body[start:p.dec.InputOffset()]
		if len(bytes.Trim(raw, " \t\r\n")) > 0 {
			return Outside
		}
		return ""
	}
	f := &p.stack[len(p.stack)-1]
	el := f.el
	if blank && len(el.Children) > 0 {
		return p.count(1) // indentation: keeping it would only cost memory
	}
	if p.replaced(bytes.Count(t, replacement), start) {
		return Character
	}
	if !blank && el.TextAt < 0 {
		el.TextAt = len(el.Children)
	}
	if f.text == nil && el.Text == "" {
		el.Text = string(t)
	} else {
		if f.text == nil {
			f.text = []byte(el.Text)
		}
		f.text = append(f.text, t...)
	}
	return p.count(1)
}

// replacement is U+FFFD, by which the decoder silently replaces a reference to a surrogate.
var replacement = []byte("\uFFFD")

// replaced reports whether a token has more replacement characters, n, than
// were written in it.
func (p *parser) replaced(n int, start int64) bool {
	return n > 0 && n > bytes.Count(p.body[start:p.dec.InputOffset()], replacement)
}

func (p *parser) instruction(t xml.ProcInst, start int64) Reason {
	if t.Target != "xml" || start != 0 {
		return Instruction
	}
	return declaration(string(t.Inst))
}

// newElement returns an element from a slab, which holds many elements in one allocation.
func (p *parser) newElement() *Element {
	if len(p.slab) == 0 {
		p.slab = make([]Element, slabSize)
	}
	el := &p.slab[0]
	p.slab = p.slab[1:]
	return el
}

// declaration judges the pseudo attributes of the XML declaration.
func declaration(inst string) Reason {
	order := []string{"version", "encoding", "standalone"}
	rest := strings.Trim(inst, " \t\r\n")
	for first := true; rest != ""; first = false {
		name, tail, ok := strings.Cut(rest, "=")
		name, tail = strings.TrimRight(name, " \t\r\n"), strings.TrimLeft(tail, " \t\r\n")
		if !ok || tail == "" || (tail[0] != '"' && tail[0] != '\'') {
			return Malformed
		}
		value, after, ok := strings.Cut(tail[1:], tail[:1])
		if !ok || first != (name == "version") {
			return Malformed
		}
		for len(order) > 0 && order[0] != name {
			order = order[1:]
		}
		if len(order) == 0 {
			return Malformed
		}
		order = order[1:]
		if name == "encoding" && !strings.EqualFold(value, "utf-8") && !strings.EqualFold(value, "us-ascii") {
			return Encoding
		}
		rest = strings.TrimLeft(after, " \t\r\n")
	}
	return ""
}
