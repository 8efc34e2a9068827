package card

import "github.com/causeway-pay/causeway/shared/secret"

// The rules for a number that the definition of MaskText needs, and the value of a digit.
var (
	Likely  = likely
	Digit   = digit
	Decimal = decimal
)

// BytesToMask returns how many bytes MaskText reads of a text, with repetitions.
func BytesToMask(text string, own ...secret.String) (n int) {
	for _, s := range searches(text, own) {
		s.text = text
		text = s.masked()
		n += s.read
	}
	return n
}

// BytesToFind returns how many bytes InText reads of a text, with repetitions, until it finds a
// number.
func BytesToFind(text string, own ...secret.String) (n int, found bool) {
	for _, s := range searches(text, own) {
		_, _, found = s.next(0)
		if n += s.read; found {
			return n, true
		}
	}
	return n, false
}
