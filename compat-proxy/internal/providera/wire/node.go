package wire

import (
	"fmt"
	"log/slog"
	"strings"
)

// Node is one element of a request, in document order. A nil *Node is an absent element: every
// method works on it.
type Node struct {
	// Name is the local element name or JSON key.
	Name string
	// Text is the content of an element without children, untrimmed. It may be a card number or a key.
	Text string
	// Children holds the child elements; a JSON array is its items one by one.
	Children []*Node

	space string // namespace URI
	attr  string // first undeclared attribute
	// textAt is the number of children before the first non-blank text, -1 for none. The walk must
	// meet text at its position in the document.
	textAt int
}

// Child returns the first child of that name, or nil.
func (n *Node) Child(name string) *Node {
	if n == nil {
		return nil
	}
	for _, c := range n.Children {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// All returns the children of that name in order, nil if there are none.
func (n *Node) All(name string) []*Node {
	if n == nil {
		return nil
	}
	var out []*Node
	for _, c := range n.Children {
		if c.Name == name {
			out = append(out, c)
		}
	}
	return out
}

// Get returns the text at the path of first children, without leading and trailing white space. It
// returns "" if the element is absent or has children. An empty path means the node itself.
func (n *Node) Get(path ...string) string {
	n = n.at(path)
	if n == nil {
		return ""
	}
	return strings.TrimSpace(n.Text)
}

// Has reports whether the element at the path of first children, or a descendant, has non-blank
// text.
func (n *Node) Has(path ...string) bool {
	return n.at(path).filled()
}

// at follows a path of first children.
func (n *Node) at(path []string) *Node {
	for _, name := range path {
		n = n.Child(name)
	}
	return n
}

func (n *Node) filled() bool {
	if n == nil {
		return false
	}
	if strings.TrimSpace(n.Text) != "" {
		return true
	}
	for _, c := range n.Children {
		if c.filled() {
			return true
		}
	}
	return false
}

// String returns the names of the tree and no text.
func (n *Node) String() string {
	if n == nil {
		return "<absent>"
	}
	var b strings.Builder
	n.names(&b)
	return b.String()
}

func (n *Node) names(b *strings.Builder) {
	b.WriteString(visible(n.Name))
	if len(n.Children) == 0 {
		return
	}
	b.WriteByte('{')
	for i, c := range n.Children {
		if i > 0 {
			b.WriteByte(' ')
		}
		c.names(b)
	}
	b.WriteByte('}')
}

// GoString returns the same as String, so %#v prints no text either.
func (n *Node) GoString() string { return n.String() }

// LogValue is String.
func (n *Node) LogValue() slog.Value { return slog.StringValue(n.String()) }

// Format writes String for every verb and flag. Like MarshalText it works on values too, so that a
// copy prints no more than a pointer.
func (n Node) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte(n.String())) }

// MarshalText is String, so that no encoder can write the texts.
func (n Node) MarshalText() ([]byte, error) { return []byte(n.String()), nil }
