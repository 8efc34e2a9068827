package wire

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// xmlBlank is the white space that may surround typed values.
const xmlBlank = " \t\r\n"

// dateTimeLayout has no time zone. time.Parse accepts fractions of a second too.
const dateTimeLayout = "2006-01-02T15:04:05"

// check returns the fault text for the text of the element name, "" if it fits.
func (t *simpleType) check(name, value string) string {
	if reason := t.violation(value); reason != "" {
		return invalidValue(name, t, value, reason)
	}
	return ""
}

// violation returns the last sentence of the fault, or "".
func (t *simpleType) violation(value string) string {
	switch t.base {
	case decimalBase:
		return t.decimal(strings.Trim(value, xmlBlank))
	case booleanBase:
		return boolReason(strings.Trim(value, xmlBlank))
	case dateBase:
		return timeReason(time.DateOnly, strings.Trim(value, xmlBlank))
	case dateTimeBase:
		return timeReason(dateTimeLayout, strings.Trim(value, xmlBlank))
	case integerBase:
		return t.integer(strings.Trim(value, xmlBlank))
	}
	switch {
	case !matches(t.pattern, value):
		return reasonPattern
	case t.least > 0 && units(value) < t.least:
		return reasonTooShort
	case t.most >= 0 && len(value) > t.most && units(value) > t.limit(value):
		return reasonTooLong
	case t.enum != nil && !slices.Contains(t.enum, value):
		return reasonEnum
	}
	return ""
}

// limit returns the greatest length for this value.
func (t *simpleType) limit(value string) int {
	if t.keyMost > 0 && strings.HasPrefix(value, "sk_") {
		return t.keyMost
	}
	return t.most
}

// units counts UTF-16 units.
func units(s string) int {
	n := 0
	for _, r := range s {
		if n++; r > 0xFFFF {
			n++
		}
	}
	return n
}

// matches applies a pattern. digitsOnly requires at least one character.
func matches(pattern int, s string) bool {
	if pattern == anyChars {
		return true
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		digit := c >= '0' && c <= '9'
		wide := pattern == alphanumericOrBlank && (c == ' ' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z')
		if !digit && !wide {
			return false
		}
	}
	return s != "" || pattern != digitsOnly
}

// maxIntegerDigits is a number of digits that the provider's decimal type can hold.
const maxIntegerDigits = 28

// decimal checks sign, digits and one dot, then the digit facets.
func (t *simpleType) decimal(s string) string {
	unsigned, negative := s, false
	if s != "" && (s[0] == '+' || s[0] == '-') {
		unsigned, negative = s[1:], s[0] == '-'
	}
	whole, part, _ := strings.Cut(unsigned, ".")
	whole = strings.TrimLeft(whole, "0")
	switch {
	case unsigned == "" || unsigned == "." || !allDigits(whole) || !allDigits(part) || len(whole) > maxIntegerDigits:
		return "The string '" + head(s) + "' is not a valid Decimal value."
	case !t.digitFacets():
		return ""
	}
	part = strings.TrimRight(part, "0")
	switch {
	case t.unsigned && negative && whole+part != "", t.cent && (negative || whole == "" && part < "01"):
		return reasonMinimum
	case t.total >= 0 && len(whole)+len(part) > t.total:
		return reasonTotal
	case t.fraction >= 0 && len(part) > t.fraction:
		return reasonFraction
	}
	return ""
}

func (t *simpleType) digitFacets() bool {
	return t.unsigned || t.cent || t.total >= 0 || t.fraction >= 0
}

func allDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// integer checks a whole number of 32 bits and its bounds.
func (t *simpleType) integer(s string) string {
	n, err := strconv.ParseInt(s, 10, 32)
	switch {
	case err != nil:
		return "The string '" + head(s) + "' is not a valid Int32 value."
	case int(n) < t.least:
		return reasonMinimum
	case int(n) > t.most:
		return reasonMaximum
	}
	return ""
}

func boolReason(s string) string {
	switch s {
	case "true", "false", "1", "0":
		return ""
	}
	return "The string '" + head(s) + "' is not a valid Boolean value."
}

// timeReason accepts a time in the layout, with or without a time zone.
func timeReason(layout, s string) string {
	for _, zone := range [...]string{"", "Z07:00"} {
		if _, err := time.Parse(layout+zone, s); err == nil {
			return ""
		}
	}
	return "The string '" + head(s) + "' is not a valid XsdDateTime value."
}
