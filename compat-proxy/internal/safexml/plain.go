package safexml

import (
	"slices"
	"strings"
)

// plain reads the documents that nearly all clients send, at a tenth of the work. They consist of
// elements, namespace declarations in double quotes and text without references. One of the usual
// XML declarations may come first. On any other document, valid or not, plain stops, and the token
// stream decides. So it returns the tree that the stream would return. Its strings are parts of one
// copy of the body.
//
// It reads a document twice, and builds the tree only the second time. A document that is not plain
// because of its last characters would otherwise cost two trees.
type plain struct {
	src      string
	at       int
	stack    []plainFrame
	root     *Element
	slab     []Element // the elements of the tree that are not used yet; nil the first time
	elements int
	nodes    int
	// prefixes are the prefixes declared so far, "" for the default namespace.
	prefixes []string
}

// plainFrame is one open element, and the default namespace inside it.
type plainFrame struct {
	el     *Element // nil the first time
	name   string
	space  string
	parent bool // it has a child
}

// maxPlainAttrs is the largest number of namespace declarations in a plain document.
const maxPlainAttrs = 8

// prologs are the declarations that plain accepts.
var prologs = []string{
	`<?xml version="1.0" encoding="utf-8"?>`,
	`<?xml version="1.0" encoding="UTF-8"?>`,
	`<?xml version="1.0" encoding="UTF-8" standalone="yes"?>`,
	`<?xml version="1.0"?>`,
}

// readPlain returns the tree of a body that scan let pass, or nil for one that is not plain.
func readPlain(body []byte) *Element {
	src := string(body)
	first := plain{src: src, stack: make([]plainFrame, 0, 8)}
	if !first.read() || first.elements == 0 {
		return nil
	}
	second := plain{src: src, stack: first.stack, slab: make([]Element, first.elements)}
	second.read()
	return second.root
}

// read reads the whole document.
func (p *plain) read() bool {
	for _, prolog := range prologs {
		if strings.HasPrefix(p.src, prolog) {
			p.at = len(prolog)
			break
		}
	}
	for p.at < len(p.src) {
		if !p.step() || p.nodes > MaxNodes {
			return false
		}
	}
	return len(p.stack) == 0
}

// step reads one tag or one run of text. Like the other methods, it returns false if the document
// is not plain.
func (p *plain) step() bool {
	if p.src[p.at] != '<' {
		return p.text()
	}
	if strings.HasPrefix(p.src[p.at:], "</") {
		return p.end()
	}
	return p.start()
}

func (p *plain) text() bool {
	from := p.at
	blank := true
	for ; p.at < len(p.src) && p.src[p.at] != '<'; p.at++ {
		switch p.src[p.at] {
		case ' ', '\t', '\n':
		case '&', ']', '\r':
			return false
		default:
			blank = false
		}
	}
	if len(p.stack) == 0 {
		return blank
	}
	p.nodes++
	f := &p.stack[len(p.stack)-1]
	switch {
	case f.parent:
		return blank
	case f.el == nil:
		return true
	case !blank:
		f.el.TextAt = 0
	}
	f.el.Text = p.src[from:p.at] // the only run before a child, since comments are not plain
	return true
}

func (p *plain) end() bool {
	if len(p.stack) == 0 {
		return false
	}
	name := p.stack[len(p.stack)-1].name
	rest := p.src[p.at+len("</"):]
	if !strings.HasPrefix(rest, name) || len(rest) == len(name) || rest[len(name)] != '>' {
		return false
	}
	p.at += len("</") + len(name) + len(">")
	p.stack = p.stack[:len(p.stack)-1]
	return true
}

func (p *plain) start() bool {
	if len(p.stack) >= MaxDepth || len(p.stack) == 0 && p.elements > 0 {
		return false
	}
	p.at++
	name := p.name()
	if name == "" {
		return false
	}
	f := plainFrame{name: name}
	if len(p.stack) > 0 {
		f.space = p.stack[len(p.stack)-1].space
	}
	for p.skip() {
		if p.at < len(p.src) && (p.src[p.at] == '>' || p.src[p.at] == '/') {
			break
		}
		if !p.declaration(&f) {
			return false
		}
	}
	p.nodes++
	p.elements++
	f.el = p.push(name, f.space)
	switch rest := p.src[p.at:]; {
	case strings.HasPrefix(rest, ">"):
		p.at++
		p.stack = append(p.stack, f)
		return true
	case strings.HasPrefix(rest, "/>"):
		p.at += len("/>")
		return true
	}
	return false
}

// push adds an element to the open one. It returns nil the first time.
func (p *plain) push(name, space string) *Element {
	var parent *plainFrame
	if len(p.stack) > 0 {
		parent = &p.stack[len(p.stack)-1]
		parent.parent = true
	}
	if p.slab == nil {
		return nil
	}
	el := &p.slab[0]
	p.slab = p.slab[1:]
	el.Name, el.Space, el.TextAt = name, space, -1
	if parent == nil {
		p.root = el
		return el
	}
	if parent.el.Children == nil {
		parent.el.Children = make([]*Element, 0, 6)
	}
	parent.el.Children = append(parent.el.Children, el)
	return el
}

// declaration reads one xmlns="…" or xmlns:p="…". It only records the prefix, because a document
// that uses one in a name is not plain.
func (p *plain) declaration(f *plainFrame) bool {
	const xmlns = "xmlns"
	if len(p.prefixes) == maxPlainAttrs || !strings.HasPrefix(p.src[p.at:], xmlns) {
		return false
	}
	p.at += len(xmlns)
	prefix := ""
	if strings.HasPrefix(p.src[p.at:], ":") {
		p.at++
		if prefix = p.name(); prefix == "" || strings.HasPrefix(prefix, "xml") {
			return false
		}
	}
	if !strings.HasPrefix(p.src[p.at:], `="`) {
		return false
	}
	p.at += len(`="`)
	value, _, closed := strings.Cut(p.src[p.at:], `"`)
	if !closed || value == "" || value == xmlSpace || value == xmlnsSpace || strings.ContainsAny(value, "<&\r\n\t") {
		return false
	}
	p.at += len(value) + len(`"`)
	p.nodes++
	if slices.Contains(p.prefixes, prefix) {
		return false // rare, and perhaps a duplicate
	}
	p.prefixes = append(p.prefixes, prefix)
	if prefix == "" {
		f.space = value
	}
	return true
}

// skip reports whether there was white space, which it passes over.
func (p *plain) skip() bool {
	from := p.at
	for p.at < len(p.src) && (p.src[p.at] == ' ' || p.src[p.at] == '\n' || p.src[p.at] == '\t') {
		p.at++
	}
	return p.at > from
}

// name reads a name of ASCII letters, digits and the usual signs; "" when there is none here.
func (p *plain) name() string {
	from := p.at
	for p.at < len(p.src) && inName(p.src[p.at], p.at > from) {
		p.at++
	}
	return p.src[from:p.at]
}

func inName(c byte, inside bool) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_':
		return true
	case c >= '0' && c <= '9', c == '-', c == '.':
		return inside
	}
	return false
}
