package plainjson

import (
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Marshal is json.Marshal.
func Marshal(v any) ([]byte, error) {
	if b, ok := write(v, false); ok {
		return b, nil
	}
	return json.Marshal(v)
}

// MarshalRevealed is v1.Marshal, which writes secrets in the clear.
func MarshalRevealed(v any) ([]byte, error) {
	if b, ok := write(v, true); ok {
		return b, nil
	}
	return v1.Marshal(v)
}

func write(v any, reveal bool) ([]byte, bool) {
	value := reflect.ValueOf(v)
	if !value.IsValid() {
		return nil, false
	}
	w := writer{b: make([]byte, 0, 1024), reveal: reveal}
	ok := w.value(planOf(value.Type()), value)
	return w.b, ok
}

// writer writes to the end of b. Its methods report false on a value that is not plain; the part
// that they have written then does not count.
type writer struct {
	b      []byte
	reveal bool
}

func (w *writer) value(p *plan, v reflect.Value) bool {
	switch p.reads {
	case text:
		return w.text(v.String())
	case whole:
		w.b = strconv.AppendInt(w.b, v.Int(), 10)
		return true
	case truth:
		w.b = strconv.AppendBool(w.b, v.Bool())
		return true
	case textMap:
		return w.textMap(v)
	case list:
		return w.list(p, v)
	case pointer:
		if v.IsNil() {
			w.b = append(w.b, "null"...)
			return true
		}
		return w.value(p.elem, v.Elem())
	case document:
		return w.document(p, v)
	case hidden:
		s, is := v.Interface().(secret.String)
		return is && w.reveal && w.text(s.Reveal())
	case never, moment:
	}
	return false
}

func (w *writer) text(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			quoted, err := jsontext.AppendQuote(w.b, s)
			w.b = quoted
			return err == nil
		}
	}
	w.b = append(w.b, '"')
	w.b = append(w.b, s...)
	w.b = append(w.b, '"')
	return true
}

// textMap writes the members by name.
func (w *writer) textMap(v reflect.Value) bool {
	m, is := v.Convert(reflect.TypeFor[map[string]string]()).Interface().(map[string]string)
	w.b = append(w.b, '{')
	for i, name := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		if !w.text(name) {
			return false
		}
		w.b = append(w.b, ':')
		if !w.text(m[name]) {
			return false
		}
	}
	w.b = append(w.b, '}')
	return is
}

func (w *writer) list(p *plan, v reflect.Value) bool {
	w.b = append(w.b, '[')
	for i := range v.Len() {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		if !w.value(p.elem, v.Index(i)) {
			return false
		}
	}
	w.b = append(w.b, ']')
	return true
}

func (w *writer) document(p *plan, v reflect.Value) bool {
	w.b = append(w.b, '{')
	first := len(w.b)
	for i := range p.fields {
		f := &p.fields[i]
		member := v.Field(f.index)
		if f.omit == ownZero {
			return false
		}
		if (f.omit == ifZero || f.omit == ifZeroOrEmpty) && member.IsZero() {
			continue
		}
		if !w.member(f, member, first) {
			return false
		}
	}
	w.b = append(w.b, '}')
	return true
}

// member writes a member of a document whose first one begins at first.
func (w *writer) member(f *field, v reflect.Value, first int) bool {
	before := len(w.b)
	if before > first {
		w.b = append(w.b, ',')
	}
	w.b = append(w.b, f.label...)
	start := len(w.b)
	if !w.value(f.plan, v) {
		return false
	}
	if (f.omit == ifEmpty || f.omit == ifZeroOrEmpty) && empty(w.b[start:]) {
		w.b = w.b[:before]
	}
	return true
}

// empty reports whether a member of that value is left out with omitempty.
func empty(value []byte) bool {
	switch string(value) {
	case `""`, "{}", "[]", "null":
		return true
	}
	return false
}
