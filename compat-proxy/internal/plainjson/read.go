package plainjson

import (
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Unmarshal is json.Unmarshal into a value that v points to and that is zero.
func Unmarshal(b []byte, v any) error {
	target := reflect.ValueOf(v).Elem()
	// One string, of which every text in v becomes a part.
	r := reader{rest: string(b)}
	if r.value(planOf(target.Type()), target) && r.rest == "" {
		return nil
	}
	target.SetZero()
	return json.Unmarshal(b, v)
}

// reader reads from the front of rest. Its methods report false on input that is not plain; the
// part that they have read then does not count.
type reader struct{ rest string }

func (r *reader) value(p *plan, v reflect.Value) bool {
	switch p.reads {
	case text:
		s, ok := r.text()
		v.SetString(s)
		return ok
	case whole:
		n, ok := r.whole()
		if !ok || v.OverflowInt(n) {
			return false
		}
		v.SetInt(n)
		return true
	case truth:
		v.SetBool(strings.HasPrefix(r.rest, "true"))
		return r.take("true") || r.take("false")
	case moment:
		return r.moment(v)
	case textMap:
		return r.textMap(v)
	case list:
		return r.list(p, v)
	case pointer:
		made := reflect.New(p.elem.typ)
		v.Set(made)
		return r.value(p.elem, made.Elem())
	case document:
		return r.document(p, v)
	case never, hidden:
	}
	return false
}

// take takes s if it is next.
func (r *reader) take(s string) bool {
	rest, ok := strings.CutPrefix(r.rest, s)
	r.rest = rest
	return ok
}

// text takes a string of ASCII without escapes.
func (r *reader) text() (string, bool) {
	if !r.take(`"`) {
		return "", false
	}
	for i := range len(r.rest) {
		switch c := r.rest[i]; {
		case c == '"':
			s := r.rest[:i]
			r.rest = r.rest[i+1:]
			return s, true
		case c < ' ' || c == '\\' || c >= 0x7f:
			return "", false
		}
	}
	return "", false
}

// maxDigits of any number fit into 64 bits.
const maxDigits = 18

// whole takes a whole number. A point or an exponent after it makes it another number, which is not
// plain.
func (r *reader) whole() (int64, bool) {
	negative := r.take("-")
	n, i := int64(0), 0
	for i < len(r.rest) && i <= maxDigits && '0' <= r.rest[i] && r.rest[i] <= '9' {
		n = n*10 + int64(r.rest[i]-'0')
		i++
	}
	if i == 0 || i > maxDigits || i > 1 && r.rest[0] == '0' {
		return 0, false
	}
	r.rest = r.rest[i:]
	if negative {
		n = -n
	}
	return n, true
}

func (r *reader) moment(v reflect.Value) bool {
	s, ok := r.text()
	t, is := v.Addr().Interface().(*v1.Time)
	return ok && is && t.UnmarshalText([]byte(s)) == nil
}

// next takes the character after a member or an element: it reports false for more when end does.
func (r *reader) next(end string) (more, ok bool) {
	if r.take(",") {
		return true, true
	}
	return false, r.take(end)
}

func (r *reader) textMap(v reflect.Value) bool {
	if !r.take("{") {
		return false
	}
	m := map[string]string{}
	more, ok := !r.take("}"), true
	for more && ok {
		name, named := r.text()
		if !named || !r.take(":") {
			return false
		}
		if _, twice := m[name]; twice {
			return false
		}
		if m[name], ok = r.text(); !ok {
			return false
		}
		more, ok = r.next("}")
	}
	v.Set(reflect.ValueOf(m).Convert(v.Type()))
	return ok
}

func (r *reader) list(p *plan, v reflect.Value) bool {
	if !r.take("[") {
		return false
	}
	all := reflect.MakeSlice(p.typ, 0, 4)
	more, ok := !r.take("]"), true
	for more && ok {
		element := reflect.New(p.elem.typ).Elem()
		if !r.value(p.elem, element) {
			return false
		}
		all = reflect.Append(all, element)
		more, ok = r.next("]")
	}
	v.Set(all)
	return ok
}

func (r *reader) document(p *plan, v reflect.Value) bool {
	if !r.take("{") {
		return false
	}
	var seen uint64
	at := -1
	more, ok := !r.take("}"), true
	for more && ok {
		name, named := r.text()
		if !named || !r.take(":") {
			return false
		}
		at = p.find(name, at+1)
		if at < 0 || seen&(1<<at) != 0 {
			return false
		}
		seen |= 1 << at
		if f := &p.fields[at]; !r.value(f.plan, v.Field(f.index)) {
			return false
		}
		more, ok = r.next("}")
	}
	return ok
}

// find returns where the member of that name is, or -1. It looks from a place where it is likely to
// be.
func (p *plan) find(name string, from int) int {
	at := from
	for range p.fields {
		if at >= len(p.fields) {
			at = 0
		}
		if p.fields[at].name == name {
			return at
		}
		at++
	}
	return -1
}
