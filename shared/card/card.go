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
	sum := 0
	for i := range len(text) {
		d := int(text[len(text)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

func digits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != ""
}
