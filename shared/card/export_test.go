package card

import "github.com/causeway-pay/causeway/shared/secret"

// Likely is the rule for a number that the definition of MaskText needs.
func Likely(text string) bool {
	oldVisa := len(text) == 13 && text[0] == '4'
	decimalID := len(text) == MaxDigits && (text[0] == '3' || text[0] == '4')
	return known(text) && !oldVisa && !decimalID
}

// Digit returns the ASCII form of a decimal digit.
func Digit(r rune) byte { return symbolOf(r) }

// Decimal returns the ASCII digit of a digit in another shape, and any other character as it is.
func Decimal(r rune) rune {
	if s := symbolOf(r); s != other && s > shaped {
		return rune(s &^ shaped)
	}
	return r
}

// BytesToMask returns how many bytes MaskText reads of a text, with repetitions, until all numbers
// are masked.
func BytesToMask(text string, own ...secret.String) int {
	r := newReader(text, own)
	r.masked()
	return r.read
}

// BytesToRead returns how many bytes InText reads of a text, with repetitions and in all encodings.
func BytesToRead(text string, own ...secret.String) int {
	r := newReader(text, own)
	r.inText()
	return r.read
}

// BytesToFind returns how many symbols of a text InText searches, with repetitions, until it finds
// a number.
func BytesToFind(text string, own ...secret.String) (n int, found bool) {
	r := newReader(text, own)
	r.fold()
	folded := r.read
	found = r.hasNumber(plainKinds)
	return r.read - folded, found
}
