package providerb

import (
	"strings"

	"github.com/causeway-pay/causeway/shared/id"
)

// What v1 has no object for is known by the number of its payment, padded to numberWidth digits, with three more that tell what it is: too
// long for a v1 id's, so the two are never mixed up, and whoever comes back with it is led to the payment.
const (
	numberWidth    = 19
	suffixReversal = "901"
	suffixVoid     = "902"
)

// decimalOf is the decimal form of a v1 id; "" for what is none of that kind.
func decimalOf(kind id.Prefix, v1ID string) string {
	n, err := id.ToDecimal(kind, v1ID)
	if err != nil {
		return ""
	}
	return n
}

// undoingOf is the number of the reversal or void of a payment.
func undoingOf(payment, suffix string) string {
	return strings.Repeat("0", max(0, numberWidth-len(payment))) + payment + suffix
}

// undoing takes the number of a reversal or void apart; false for any other.
func undoing(number string) (payment, suffix string, ok bool) {
	if len(number) != numberWidth+len(suffixVoid) {
		return "", "", false
	}
	payment, suffix = strings.TrimLeft(number[:numberWidth], "0"), number[numberWidth:]
	return payment, suffix, suffix == suffixReversal || suffix == suffixVoid
}

// reconciliationOf is the name under which what has a v1 id is settled, of the length that clients know. A capture and a reversal have their
// payment's.
func reconciliationOf(v1ID string) string {
	const length = 16
	_, name, _ := strings.Cut(v1ID, "_")
	return strings.Repeat("0", max(0, length-len(name))) + strings.ToUpper(name)
}
