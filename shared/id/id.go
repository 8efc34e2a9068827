package id

import (
	"errors"
	"fmt"
	"strconv"
)

// Prefix names the kind of object an id belongs to.
type Prefix string

// The prefixes of v1.
const (
	Transaction     Prefix = "txn"
	Capture         Prefix = "cap"
	Refund          Prefix = "re"
	Customer        Prefix = "cus"
	PaymentMethod   Prefix = "pm"
	ShippingAddress Prefix = "addr"
	Token           Prefix = "tok"
	Event           Prefix = "evt"
	WebhookEndpoint Prefix = "we"
	APIKey          Prefix = "key"
	Merchant        Prefix = "mer"
	Operator        Prefix = "opr" // of an operator token
	Request         Prefix = "req"
	Delivery        Prefix = "del"
	Rotation        Prefix = "rot" // of certificates
	PolicyChange    Prefix = "pol" // of the TLS policy
	MLERequirement  Prefix = "mlr"
	Account         Prefix = "acct" // of a merchant at an acquirer
	SettlementDay   Prefix = "day"
)

// ErrMalformed is wrapped by every error of this package: the text is not an id of the wanted kind.
var ErrMalformed = errors.New("malformed id")

const (
	alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
	digits   = 13 // 13 characters of 5 bits hold 65 bits; the first one stays below '8' for 63
)

// Format returns the id of kind p for n. n must be positive: Parse refuses the text of any other n.
func Format(p Prefix, n int64) string {
	b := make([]byte, len(p)+1+digits)
	copy(b, p)
	b[len(p)] = '_'
	for i, u := len(b)-1, uint64(n); i > len(p); i-- { //nolint:gosec // the sign bit is kept on purpose: Parse refuses it
		b[i] = alphabet[u&31]
		u >>= 5
	}
	return string(b)
}

// Parse returns the integer in s, which must be exactly what Format gives for kind p: lower case,
// full length, positive. The error wraps ErrMalformed and does not repeat s.
func Parse(p Prefix, s string) (int64, error) {
	if len(s) != len(p)+1+digits || s[:len(p)] != string(p) || s[len(p)] != '_' {
		return 0, fmt.Errorf("%w: want %s_ and %d characters", ErrMalformed, p, digits)
	}
	var n int64
	for i := len(p) + 1; i < len(s); i++ {
		v := value(s[i])
		if v < 0 {
			return 0, fmt.Errorf("%w: character outside the alphabet", ErrMalformed)
		}
		if i == len(p)+1 && v > 7 {
			return 0, fmt.Errorf("%w: number above 63 bits", ErrMalformed)
		}
		n = n<<5 | v
	}
	if n == 0 {
		return 0, fmt.Errorf("%w: zero", ErrMalformed)
	}
	return n, nil
}

// ParseFilter is Parse for a filter or a cursor, which can name an object that does not exist. It
// also takes the id of zero, as the patterns of the contract do. The result is then 1: no object
// has that id.
func ParseFilter(p Prefix, s string) (int64, error) {
	if s == Format(p, 0) {
		return 1, nil
	}
	return Parse(p, s)
}

// Decimal returns the id of kind p whose integer is written in decimal: digits only, no sign, no
// leading zero, below 2^63. The error wraps ErrMalformed and does not repeat the text.
func Decimal(p Prefix, decimal string) (string, error) {
	if decimal == "" || decimal[0] < '1' || decimal[0] > '9' {
		return "", fmt.Errorf("%w: want decimal digits without a leading zero", ErrMalformed)
	}
	n, err := strconv.ParseInt(decimal, 10, 64)
	if err != nil {
		return "", fmt.Errorf("%w: want decimal digits of a number below 2^63", ErrMalformed)
	}
	return Format(p, n), nil
}

// ToDecimal returns the decimal digits of the integer in s, an id of kind p. Its errors are the
// errors of Parse.
func ToDecimal(p Prefix, s string) (string, error) {
	n, err := Parse(p, s)
	if err != nil {
		return "", err
	}
	return strconv.FormatInt(n, 10), nil
}

// value returns the five bits c stands for, or -1. Crockford's letters leave out i, l, o and u.
func value(c byte) int64 {
	switch {
	case c >= '0' && c <= '9':
		return int64(c - '0')
	case c >= 'a' && c <= 'h':
		return int64(c-'a') + 10
	case c == 'j' || c == 'k':
		return int64(c-'j') + 18
	case c == 'm' || c == 'n':
		return int64(c-'m') + 20
	case c >= 'p' && c <= 't':
		return int64(c-'p') + 22
	case c >= 'v' && c <= 'z':
		return int64(c-'v') + 27
	}
	return -1
}
