package money

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Max is the greatest amount, in minor units of any currency.
const Max int64 = 999_999_999_999

// The errors of Parse. Parse wraps them, and never includes the parsed text.
var (
	ErrSyntax    = errors.New("not a decimal amount")
	ErrPrecision = errors.New("more decimals than the currency has")
	ErrRange     = errors.New("amount out of range")
)

// Format writes minor units as a decimal with exactly exponent decimals: 1250 and 2 give "12.50",
// 1500 and 0 give "1500".
func Format(minor int64, exponent int) string {
	sign, u := "", uint64(minor) //nolint:gosec // negative values are handled on the next lines
	if minor < 0 {
		sign, u = "-", -u
	}
	s := strconv.FormatUint(u, 10)
	if exponent <= 0 {
		return sign + s
	}
	if missing := exponent + 1 - len(s); missing > 0 {
		s = strings.Repeat("0", missing) + s
	}
	point := len(s) - exponent
	return sign + s[:point] + "." + s[point:]
}

// Parse reads an optional sign, digits, and optionally a point followed by digits, and returns
// minor units: "12.5" with exponent 2 gives 1250. Decimals beyond the exponent must be zero.
// Nothing is trimmed.
//
// The error wraps ErrSyntax, ErrPrecision, or ErrRange when the amount lies beyond ±Max.
func Parse(s string, exponent int) (int64, error) {
	negative := strings.HasPrefix(s, "-")
	if negative || strings.HasPrefix(s, "+") {
		s = s[1:]
	}
	whole, decimals, pointed := strings.Cut(s, ".")
	if !allDigits(whole) || (pointed && !allDigits(decimals)) {
		return 0, fmt.Errorf("parse amount: %w", ErrSyntax)
	}
	exponent = max(exponent, 0)
	if len(decimals) > exponent {
		if strings.Trim(decimals[exponent:], "0") != "" {
			return 0, fmt.Errorf("parse amount: %w: want at most %d", ErrPrecision, exponent)
		}
		decimals = decimals[:exponent]
	}
	n, ok := accumulate(0, whole)
	if ok {
		n, ok = accumulate(n, decimals)
	}
	for i := len(decimals); ok && i < exponent; i++ {
		n, ok = accumulate(n, "0")
	}
	if !ok {
		return 0, fmt.Errorf("parse amount: %w", ErrRange)
	}
	if negative {
		n = -n
	}
	return n, nil
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// accumulate appends decimal digits to n, and reports false as soon as n passes Max: well before
// int64 could overflow.
func accumulate(n int64, digits string) (int64, bool) {
	for i := range len(digits) {
		n = n*10 + int64(digits[i]-'0')
		if n > Max {
			return 0, false
		}
	}
	return n, true
}
