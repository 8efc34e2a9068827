package wire

import "github.com/beevik/etree"

// The last sentences of a value fault.
const (
	reasonTooLong  = "The actual length is greater than the MaxLength value."
	reasonTooShort = "The actual length is less than the MinLength value."
	reasonPattern  = "The Pattern constraint failed."
	reasonEnum     = "The Enumeration constraint failed."
	reasonMinimum  = "The MinInclusive constraint failed."
	reasonMaximum  = "The MaxInclusive constraint failed."
	reasonFraction = "The FractionDigits constraint failed."
	reasonTotal    = "The TotalDigits constraint failed."
)

// quote is an apostrophe around a value. The provider escapes it in the text itself, so it is
// escaped twice in XML.
const quote = "&#39;"

// named returns the name of an element for a fault.
func named(n *etree.Element) string {
	s := "'" + visible(n.Tag) + "'"
	if space := namespaceOf(n); space != "" {
		s += " in namespace '" + visible(space) + "'"
	}
	return s
}

// possible returns the sentence about the expected elements, "" if there are none.
func possible(names string) string {
	if names == "" {
		return ""
	}
	return " List of possible elements expected: '" + names + "' in namespace '" + Namespace + "'."
}

func invalidChild(n, child *etree.Element, names string) string {
	return "The element " + named(n) + " has invalid child element " + named(child) + "." + possible(names)
}

func incomplete(n *etree.Element, names string) string {
	return "The element " + named(n) + " has incomplete content." + possible(names)
}

func cannotContainText(n *etree.Element, names string) string {
	return "The element " + named(n) + " cannot contain text." + possible(names)
}

func textOnly(n, child *etree.Element) string {
	return "The element " + named(n) + " cannot contain child element " + named(child) +
		" because the parent element's content model is text only."
}

func invalidValue(name string, t *simpleType, value, reason string) string {
	shown := visible(value)
	if t.secret {
		shown = maskSecret(value, reason == reasonTooShort)
	}
	return "The '" + Namespace + ":" + name + "' element is invalid - The value " + quote + shown + quote +
		" is invalid according to its datatype '" + t.label + "' - " + maskDigits(reason)
}
