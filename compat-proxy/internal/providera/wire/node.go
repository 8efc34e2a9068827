package wire

import (
	"strings"

	"github.com/beevik/etree"
)

// Node is one element of a request. The zero Node is an absent element: every method works on it.
// It hides the etree element from encoders, which write the texts of exported fields, and from fmt,
// which follows only the outermost pointer.
type Node struct {
	el *etree.Element
}

// Leaf returns an element with a text, and an absent one for an empty text.
func Leaf(name, text string) Node {
	if text == "" {
		return Node{}
	}
	el := etree.NewElement(name)
	el.CreateText(text)
	return Node{el}
}

// Branch returns an element with the present ones of the children, and an absent one if none is.
// The children also stay in their own trees.
func Branch(name string, children ...Node) Node {
	el := etree.NewElement(name)
	for _, c := range children {
		if c.Present() {
			el.Child = append(el.Child, c.el)
		}
	}
	if len(el.Child) == 0 {
		return Node{}
	}
	return Node{el}
}

// As returns the element under another name.
func (n Node) As(name string) Node {
	if n.el == nil {
		return n
	}
	renamed := *n.el
	renamed.Space, renamed.Tag = "", name
	return Node{&renamed}
}

// Present reports whether the element is in the document.
func (n Node) Present() bool { return n.el != nil }

// Text returns the content of an element without child elements, untrimmed. It may be a card number
// or a key.
func (n Node) Text() string {
	if n.el == nil {
		return ""
	}
	return textIn(n.el)
}

// textIn returns the untrimmed text of an element without child elements. Such an element has at
// most one text token.
func textIn(el *etree.Element) string {
	if len(el.Child) != 1 {
		return ""
	}
	text, _ := el.Child[0].(*etree.CharData)
	if text == nil {
		return ""
	}
	return text.Data
}

// Child returns the first child of that name.
func (n Node) Child(name string) Node {
	if n.el == nil {
		return Node{}
	}
	return Node{n.el.SelectElement(name)}
}

// All returns the children of that name in order, nil if there are none.
func (n Node) All(name string) []Node {
	if n.el == nil {
		return nil
	}
	var out []Node
	for c := range n.el.SelectElementsSeq(name) {
		out = append(out, Node{c})
	}
	return out
}

// Get returns the text at the path of first children, without leading and trailing white space. It
// returns "" if the element is absent or has children. An empty path means the node itself.
func (n Node) Get(path ...string) string { return strings.TrimSpace(n.at(path).Text()) }

// Has reports whether the element at the path of first children, or a descendant, has non-blank
// text.
func (n Node) Has(path ...string) bool {
	return n.at(path).filled()
}

// at follows a path of first children.
func (n Node) at(path []string) Node {
	for _, name := range path {
		n = n.Child(name)
	}
	return n
}

func (n Node) filled() bool {
	if n.Get() != "" {
		return true
	}
	if n.el == nil {
		return false
	}
	for c := range n.el.ChildElementsSeq() {
		if (Node{c}).filled() {
			return true
		}
	}
	return false
}

// String returns the names of the tree and no text.
func (n Node) String() string {
	if n.el == nil {
		return "<absent>"
	}
	var b strings.Builder
	names(&b, n.el)
	return b.String()
}

func names(b *strings.Builder, el *etree.Element) {
	b.WriteString(visible(el.Tag))
	before := "{"
	for c := range el.ChildElementsSeq() {
		b.WriteString(before)
		names(b, c)
		before = " "
	}
	if before == " " {
		b.WriteByte('}')
	}
}
