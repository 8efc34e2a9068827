package plainjson

import (
	"reflect"
	"strings"
	"sync"

	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// reads is how values of one type are read.
type reads uint8

const (
	never reads = iota // a type that only the general decoder reads
	text
	whole // a whole number
	truth
	moment   // v1.Time
	textMap  // map[string]string
	list     // a slice of elem
	pointer  // to elem
	document // a struct
	hidden   // secret.String, which is only written
)

// plan describes how values of one type are read. It is made once for each type and not changed.
type plan struct {
	reads  reads
	typ    reflect.Type
	elem   *plan
	fields []field // of a document, in the order of the struct, which is that of v1's responses
}

type field struct {
	name  string
	label string // the name as it is written
	index int
	omit  omits
	plan  *plan
}

// omits is the rule by which a member is left out.
type omits uint8

const (
	always        omits = iota // written
	ifZero                     // left out when it is the zero value
	ifEmpty                    // left out if its JSON is empty
	ifZeroOrEmpty              // the same, and the zero value always is
	ownZero                    // left out by a rule of the general encoder alone
)

func omitsOf(options string, t reflect.Type) omits {
	kind := t.Kind()
	_, own := t.MethodByName("IsZero")
	switch {
	case options == "":
		return always
	case options == "omitzero" && (own || kind == reflect.Struct):
		return ownZero
	case options == "omitzero":
		return ifZero
	case kind == reflect.String || kind == reflect.Pointer:
		return ifZeroOrEmpty
	}
	return ifEmpty
}

// maxFields is how many members a document may have: one bit for each records which ones came.
const maxFields = 64

// plans are by reflect.Type.
var plans sync.Map

func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	p, _ := plans.LoadOrStore(t, newPlan(t, 0))
	return p.(*plan)
}

// maxDepth ends types that contain themselves.
const maxDepth = 16

func newPlan(t reflect.Type, depth int) *plan {
	p := &plan{typ: t}
	switch kind := t.Kind(); {
	case depth > maxDepth:
	case t == reflect.TypeFor[v1.Time]():
		p.reads = moment
	case t == reflect.TypeFor[secret.String]():
		p.reads = hidden
	case ownWay(t):
	case kind == reflect.String:
		p.reads = text
	case kind == reflect.Int, kind == reflect.Int64:
		p.reads = whole
	case kind == reflect.Bool:
		p.reads = truth
	case kind == reflect.Map && t.ConvertibleTo(reflect.TypeFor[map[string]string]()):
		p.reads = textMap
	case kind == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		p.reads, p.elem = list, newPlan(t.Elem(), depth+1)
	case kind == reflect.Pointer:
		p.reads, p.elem = pointer, newPlan(t.Elem(), depth+1)
	case kind == reflect.Struct:
		p.document(depth)
	}
	return p
}

// ownWay reports whether a type has methods by which decoders read it or encoders write it.
func ownWay(t reflect.Type) bool {
	for _, name := range []string{
		"UnmarshalJSON", "UnmarshalJSONFrom", "UnmarshalText", "MarshalJSON", "MarshalJSONTo",
		"MarshalText",
	} {
		if _, has := reflect.PointerTo(t).MethodByName(name); has {
			return true
		}
	}
	return false
}

// document plans a struct, unless its members are more than plain ones.
func (p *plan) document(depth int) {
	for i := range p.typ.NumField() {
		f := p.typ.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		plain := options == "" || options == "omitempty" || options == "omitzero"
		if f.Anonymous || !f.IsExported() || name == "" || strings.ContainsAny(name, `-'\`) || !plain || i == maxFields {
			return
		}
		p.fields = append(p.fields,
			field{
				name: name, label: `"` + name + `":`, index: i, omit: omitsOf(options, f.Type),
				plan: newPlan(f.Type, depth+1),
			})
	}
	p.reads = document
}
