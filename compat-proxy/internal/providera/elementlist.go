package providera

import (
	"slices"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
)

// elementList are the elements of a group. Elements without a value are left out.
type elementList []*wire.Element

func (l *elementList) text(name, text string) {
	if text != "" {
		*l = append(*l, wire.TextElement(name, text))
	}
}

// typed adds a text, unless the schema does not allow it.
func (l *elementList) typed(name, text string, as wire.Datatype) {
	if as.Allows(text) {
		l.text(name, text)
	}
}

// raw adds a number or a boolean.
func (l *elementList) raw(name, literal string) {
	if literal != "" {
		*l = append(*l, wire.RawElement(name, literal))
	}
}

func (l *elementList) group(name string, members ...*wire.Element) {
	if len(members) > 0 {
		*l = append(*l, wire.GroupElement(name, members...))
	}
}

func (l *elementList) list(name string, items ...*wire.Element) {
	if len(items) > 0 {
		*l = append(*l, wire.ListElement(name, items...))
	}
}

// jsonFirst marks the members that JSON writes before the others: the members of the derived type.
func jsonFirst(l elementList, names ...string) elementList {
	for _, e := range l {
		e.JSONFirst = slices.Contains(names, e.Tag)
	}
	return l
}
