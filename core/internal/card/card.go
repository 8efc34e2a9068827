// Package card knows card numbers: whose brand they are and whether they can be right.
package card

// Brand returns the contract's brand of a card number by its leading digits, "unknown" when none fits.
func Brand(number string) string {
	for _, r := range ranges {
		if p := prefix(number, r.digits); p >= r.from && p <= r.to {
			return r.brand
		}
	}
	return "unknown"
}

// ranges are the issuer identification ranges, the narrower before the wider that contain them.
var ranges = []struct {
	brand    string
	digits   int
	from, to int
}{
	{"amex", 2, 34, 34},
	{"amex", 2, 37, 37},
	{"mastercard", 2, 51, 55},
	{"mastercard", 4, 2221, 2720},
	{"discover", 4, 6011, 6011},
	{"discover", 3, 644, 649},
	{"discover", 2, 65, 65},
	{"unionpay", 2, 62, 62},
	{"unionpay", 2, 81, 81},
	{"jcb", 4, 3528, 3589},
	{"jcb", 4, 3088, 3088},
	{"diners", 3, 300, 305},
	{"diners", 2, 36, 36},
	{"diners", 2, 38, 39},
	{"visa", 1, 4, 4},
}

func prefix(number string, digits int) int {
	if len(number) < digits {
		return -1
	}
	n := 0
	for i := range digits {
		if number[i] < '0' || number[i] > '9' {
			return -1
		}
		n = n*10 + int(number[i]-'0')
	}
	return n
}

// Valid reports whether number is 12 to 19 digits with a right Luhn check digit.
func Valid(number string) bool {
	if len(number) < 12 || len(number) > 19 {
		return false
	}
	sum, double := 0, false
	for i := len(number) - 1; i >= 0; i-- {
		d := int(number[i]) - '0'
		if d < 0 || d > 9 {
			return false
		}
		if double {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
		double = !double
	}
	return sum%10 == 0
}
