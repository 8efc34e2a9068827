package wire

// Name returns the name of an element.
func (n Node) Name() string { return n.el.Tag }

// Children returns the child elements.
func (n Node) Children() []Node {
	var out []Node
	for _, c := range n.el.ChildElements() {
		out = append(out, Node{c})
	}
	return out
}

// Shape is a schema type in the form that the property tests need to make valid values.
type Shape struct {
	Any, Simple   bool
	Base, Pattern int
	Least, Most   int
	Enum          []string
	Fraction      int
	Total         int
	Unsigned      bool
	Cent          bool
	Positions     []Position
}

// Position is one position in a sequence. Several fields make it a choice.
type Position struct {
	Min, Max int
	Names    []string
	Shapes   []Shape
}

// The bases and patterns of simple types.
const (
	StringBase  = stringBase
	DecimalBase = decimalBase
	BooleanBase = booleanBase
	DateBase    = dateBase
	InstantBase = dateTimeBase
	IntegerBase = integerBase
	DigitsOnly  = digitsOnly
)

// MethodShape returns the shape of the root of that name.
func MethodShape(name string) Shape { return shapeOf(methodType(name)) }

func shapeOf(t *schemaType) Shape {
	if t.any {
		return Shape{Any: true}
	}
	if s := t.simple; s != nil {
		return Shape{
			Simple: true, Base: s.base, Pattern: s.pattern, Least: s.least, Most: s.most,
			Enum: s.enum, Fraction: s.fraction, Total: s.total, Unsigned: s.unsigned, Cent: s.cent,
		}
	}
	out := Shape{}
	for _, p := range t.content {
		position := Position{Min: p.min, Max: p.max}
		for _, f := range p.fields {
			position.Names = append(position.Names, f.name)
			position.Shapes = append(position.Shapes, shapeOf(f.typ))
		}
		out.Positions = append(out.Positions, position)
	}
	return out
}
