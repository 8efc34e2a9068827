// Package bankaccount validates the numbers of bank accounts in the United States, and masks them
// for display.
package bankaccount

// The bounds of an account number, in digits.
const (
	minNumber = 4
	maxNumber = 17
)

// ValidRouting reports whether number is nine digits with a right ABA check digit. The digits,
// weighed 3, 7, 1 over and over, add up to a multiple of ten. Nine zeros also do, but belong to no
// bank and are not valid.
func ValidRouting(number string) bool {
	if len(number) != 9 || !digits(number) || number == "000000000" {
		return false
	}
	sum := 0
	for i := range len(number) {
		sum += int(number[i]-'0') * [3]int{3, 7, 1}[i%3]
	}
	return sum%10 == 0
}

// ValidNumber reports whether number is 4 to 17 digits. Account numbers have no check digit in
// common.
func ValidNumber(number string) bool {
	return len(number) >= minNumber && len(number) <= maxNumber && digits(number)
}

// Last4 returns the part of an account number that may be shown: its last four digits, but at most
// half of its digits.
func Last4(number string) string {
	return number[len(number)-min(4, len(number)/2):]
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}
