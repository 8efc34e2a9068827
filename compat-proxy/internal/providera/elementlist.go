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

// stored adds a text of at most n characters, unless it was never stored.
func (l *elementList) stored(name string, text *string, n int) {
	if text != nil {
		*l = append(*l, wire.TextElement(name, cut(*text, n)))
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

// repeated adds items of one name without a wrapper.
func (l *elementList) repeated(name string, items ...*wire.Element) {
	if len(items) > 0 {
		*l = append(*l, wire.RepeatedElement(name, items...))
	}
}

func (l *elementList) list(name string, items ...*wire.Element) {
	if len(items) > 0 {
		*l = append(*l, wire.ListElement(name, items...))
	}
}

// derived marks the members of a derived type, for their place in JSON.
func derived(l elementList, depth int, names ...string) elementList {
	for _, e := range l {
		if slices.Contains(names, e.Tag) {
			e.Depth = depth
		}
	}
	return l
}
