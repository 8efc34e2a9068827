package wire

import "math"

// A schemaType describes the allowed content of an element: text that fits simple, or children that
// fit content, or anything.
type schemaType struct {
	simple  *simpleType
	content []particle
	any     bool
}

// A particle is one position in a sequence. More than one field makes it a choice.
type particle struct {
	min, max int
	fields   []field
}

type field struct {
	name string
	typ  *schemaType
}

const unbounded = math.MaxInt32

// sequence returns a complex type of the given positions.
func sequence(positions ...particle) *schemaType { return &schemaType{content: positions} }

// extend returns base followed by more positions, as in a derived type.
func extend(base *schemaType, positions ...particle) *schemaType {
	content := make([]particle, 0, len(base.content)+len(positions))
	return &schemaType{content: append(append(content, base.content...), positions...)}
}

func required(name string, t *schemaType) particle { return repeated(1, 1, name, t) }
func optional(name string, t *schemaType) particle { return repeated(0, 1, name, t) }

// repeated returns a position that may occur from least to most times.
func repeated(least, most int, name string, t *schemaType) particle {
	return particle{min: least, max: most, fields: []field{{name, t}}}
}

// oneOf returns a choice. least is 0 if it may be omitted.
func oneOf(least int, fields ...field) particle {
	return particle{min: least, max: 1, fields: fields}
}

// find returns the type of the field of that name, or nil.
func (p *particle) find(name string) *schemaType {
	for i := range p.fields {
		if p.fields[i].name == name {
			return p.fields[i].typ
		}
	}
	return nil
}

// The bases of simple types.
const (
	stringBase = iota
	decimalBase
	booleanBase
	dateBase
	dateTimeBase
	integerBase
)

// The patterns of string types.
const (
	anyChars = iota
	digitsOnly
	alphanumericOrBlank
)

// A simpleType is a datatype with its facets. Lengths are UTF-16 units. For an integer, least and
// most are its bounds. most is -1 without a limit, and so are fraction and total, the limits for
// the digits of a decimal.
type simpleType struct {
	// label is the name of the datatype in fault texts.
	label    string
	base     int
	pattern  int
	least    int
	most     int
	enum     []string
	fraction int
	total    int
	// unsigned rejects decimals below zero.
	unsigned bool
	// cent rejects decimals below 0.01.
	cent bool
	// secret masks values that a fault quotes.
	secret bool
	// keyMost is the limit for a value that begins with a v1 key prefix.
	keyMost int
}

const (
	xsdPrefix = "http://www.w3.org/2001/XMLSchema:"
	ownPrefix = Namespace + ":"
)

// text returns a string with a least and a greatest length.
func text(least, most int) *schemaType {
	return &schemaType{simple: &simpleType{label: "String", least: least, most: most}}
}

// upTo returns a string with a greatest length.
func upTo(most int) *schemaType { return text(0, most) }

// secret returns a string that faults must mask.
func secret(least, most int) *schemaType {
	t := text(least, most)
	t.simple.secret = true
	return t
}

// enumeration returns a named list of values.
func enumeration(name string, values ...string) *schemaType {
	return &schemaType{simple: &simpleType{label: ownPrefix + name, most: -1, enum: values}}
}

// decimal returns a number with limits for its fraction digits and all its digits.
func decimal(label string, unsigned bool, fraction, total int) *schemaType {
	return &schemaType{simple: &simpleType{
		label: label, base: decimalBase, most: -1, fraction: fraction, total: total, unsigned: unsigned,
	}}
}

// integer returns a whole number from least to most.
func integer(least, most int) *schemaType {
	return &schemaType{simple: &simpleType{label: "Int", base: integerBase, least: least, most: most}}
}

// The datatypes without further facets.
var (
	anyType       = &schemaType{any: true}
	plainString   = upTo(-1)
	hiddenString  = secret(0, -1)
	plainDecimal  = decimal(xsdPrefix+"decimal", false, -1, -1)
	moneyAmount   = decimal("Decimal", true, 4, -1)
	taxRate       = decimal("Decimal", false, 5, 5)
	boolean       = &schemaType{simple: &simpleType{label: xsdPrefix + "boolean", base: booleanBase, most: -1}}
	ownBoolean    = &schemaType{simple: &simpleType{label: "Boolean", base: booleanBase, most: -1}}
	date          = &schemaType{simple: &simpleType{label: xsdPrefix + "date", base: dateBase, most: -1}}
	dateTime      = &schemaType{simple: &simpleType{label: xsdPrefix + "dateTime", base: dateTimeBase, most: -1}}
	numericString = &schemaType{simple: &simpleType{label: ownPrefix + "numericString", pattern: digitsOnly, most: -1}}
	positive      = &schemaType{simple: &simpleType{
		label: "Decimal", base: decimalBase, most: -1, fraction: 4, total: -1, unsigned: true, cent: true,
	}}
	cardCode = &schemaType{simple: &simpleType{
		label: ownPrefix + "cardCode", pattern: digitsOnly, least: 3, most: 4, secret: true,
	}}
)
