package providera

import (
	"slices"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
)

// leaves are the elements of a group. Elements without a value are left out.
type leaves []*wire.Element

func (l *leaves) text(name, text string) {
	if text != "" {
		*l = append(*l, wire.TextElement(name, text))
	}
}

// raw adds a number or a boolean.
func (l *leaves) raw(name, literal string) {
	if literal != "" {
		*l = append(*l, wire.RawElement(name, literal))
	}
}

func (l *leaves) group(name string, members ...*wire.Element) {
	if len(members) > 0 {
		*l = append(*l, wire.GroupElement(name, members...))
	}
}

func (l *leaves) list(name string, items ...*wire.Element) {
	if len(items) > 0 {
		*l = append(*l, wire.ListElement(name, items...))
	}
}

// first marks the members that JSON writes before the others: the members of the derived type.
func first(l leaves, names ...string) leaves {
	for _, e := range l {
		e.JSONFirst = slices.Contains(names, e.Name)
	}
	return l
}
