package card

import "github.com/causeway-pay/causeway/shared/secret"

// The digits a card number has at least and at most, by ISO/IEC 7812 and the brands here.
const (
	MinDigits = 12
	MaxDigits = 19
)

// Valid reports whether number is 12 to 19 ASCII digits and nothing else, of which the last is the
// right Luhn check digit. It does not check the brand: see Brand.FitsNumber.
func Valid(number secret.String) bool {
	return valid(number.Reveal())
}

func valid(text string) bool {
	return len(text) >= MinDigits && len(text) <= MaxDigits && digits(text) && luhn(text)
}

// luhn reports whether the last digit is the check digit of the digits before it (ISO/IEC 7812-1,
// annex B).
func luhn(text string) bool {
	var sum luhnSum
	for i := range len(text) {
		sum = sum.push(text[i] - '0')
	}
	return sum.valid()
}

// luhnSum has the two sums of digits of which each second one is doubled: single if the last digit
// is not, double if it is. From a doubled digit of two places, nine is subtracted. The sums of 28
// digits fit.
type luhnSum struct{ single, double byte }

var doubled = [16]byte{0, 2, 4, 6, 8, 1, 3, 5, 7, 9} // an index of four bits needs no check

// push appends a digit.
func (l luhnSum) push(digit byte) luhnSum {
	return luhnSum{l.double + digit, l.single + doubled[digit&0xf]}
}

// join appends the n digits of another sum.
func (l luhnSum) join(of luhnSum, n int) luhnSum {
	if n%2 == 1 {
		l.single, l.double = l.double, l.single
	}
	return luhnSum{l.single + of.single, l.double + of.double}
}

// valid reports whether the last digit is the check digit.
func (l luhnSum) valid() bool { return l.single%10 == 0 }

func digits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != ""
}
