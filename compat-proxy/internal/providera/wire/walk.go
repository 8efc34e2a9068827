package wire

import (
	"strings"

	"github.com/beevik/etree"
)

// walker checks a tree against the schema in document order, so that it reports the first violation
// of the document.
type walker struct {
	lenient bool
}

// element checks one element. It returns the fault text, or "" if the element is valid.
func (w *walker) element(n *etree.Element, t *schemaType) string {
	if t.any {
		return ""
	}
	if name := undeclared(n); name != "" {
		return "The '" + visible(name) + "' attribute is not declared."
	}
	if t.simple != nil {
		for _, token := range n.Child {
			if c, ok := token.(*etree.Element); ok {
				return textOnly(n, c)
			}
		}
		return t.simple.check(n.Tag, textIn(n))
	}
	if text := textIn(n); text != "" && strings.Trim(text, xmlBlank) == "" {
		n.Child = nil // the reader left out blank text between child elements
	}
	if w.lenient {
		return w.anyOrder(n, t)
	}
	return w.inOrder(n, t)
}

// inOrder checks children that must follow the sequence.
func (w *walker) inOrder(n *etree.Element, t *schemaType) string {
	at, count := 0, 0 // the position in the sequence and its occurrences so far
	for _, token := range n.Child {
		c, ok := token.(*etree.Element)
		if !ok {
			return cannotContainText(n, expected(t, at, count))
		}
		next, typ := advance(t, at, count, c)
		if typ == nil {
			return invalidChild(n, c, expected(t, at, count))
		}
		if next != at {
			at, count = next, 0
		}
		count++
		if fault := w.element(c, typ); fault != "" {
			return fault
		}
	}
	for i, seen := at, count; i < len(t.content); i, seen = i+1, 0 {
		if seen < t.content[i].min {
			return incomplete(n, expected(t, at, count))
		}
	}
	return ""
}

// advance finds the position of child c. The type is nil if there is none.
func advance(t *schemaType, at, count int, c *etree.Element) (int, *schemaType) {
	if namespaceOf(c) != Namespace {
		return at, nil
	}
	for i := at; i < len(t.content); i++ {
		p := &t.content[i]
		if count < p.max {
			if typ := p.find(c.Tag); typ != nil {
				return i, typ
			}
		}
		if count < p.min {
			return at, nil
		}
		count = 0
	}
	return at, nil
}

// expected returns the names that may follow: every element up to and including the next required
// position.
func expected(t *schemaType, at, count int) string {
	var names []string
	for i := at; i < len(t.content); i++ {
		p := &t.content[i]
		if count < p.max {
			names = appendNames(names, p)
		}
		if count < p.min {
			break
		}
		count = 0
	}
	return strings.Join(names, ", ")
}

func appendNames(names []string, p *particle) []string {
	for i := range p.fields {
		names = append(names, p.fields[i].name)
	}
	return names
}

// anyOrder checks children in any order.
func (w *walker) anyOrder(n *etree.Element, t *schemaType) string {
	counts := make([]int, len(t.content))
	for _, token := range n.Child {
		c, ok := token.(*etree.Element)
		if !ok {
			return cannotContainText(n, allowed(t, counts))
		}
		position, typ := locate(t, counts, c)
		if typ == nil {
			return invalidChild(n, c, allowed(t, counts))
		}
		counts[position]++
		if fault := w.element(c, typ); fault != "" {
			return fault
		}
	}
	for i := range t.content {
		if counts[i] < t.content[i].min {
			return incomplete(n, allowed(t, counts))
		}
	}
	return ""
}

// locate finds a position that still accepts c.
func locate(t *schemaType, counts []int, c *etree.Element) (int, *schemaType) {
	if namespaceOf(c) != Namespace {
		return 0, nil
	}
	for i := range t.content {
		if typ := t.content[i].find(c.Tag); typ != nil && counts[i] < t.content[i].max {
			return i, typ
		}
	}
	return 0, nil
}

// allowed returns the names that are still allowed, up to the next required position.
func allowed(t *schemaType, counts []int) string {
	var names []string
	for i := range t.content {
		p := &t.content[i]
		if counts[i] < p.max {
			names = appendNames(names, p)
		}
		if counts[i] < p.min {
			break
		}
	}
	return strings.Join(names, ", ")
}
