package providerb

import (
	"strings"

	"github.com/causeway-pay/causeway/shared/id"
)

// Reversals and voids have no v1 object. Their number is the number of the payment, padded to
// numberWidth digits, and three more digits for the operation. It is longer than the number of any
// v1 id, so the two cannot be confused. parseReversalNumber returns the payment.
const (
	numberWidth    = 19
	suffixReversal = "901"
	suffixVoid     = "902"
)

// decimalOf returns the decimal form of a v1 id; "" for an id with another prefix.
func decimalOf(prefix id.Prefix, v1ID string) string {
	n, err := id.ToDecimal(prefix, v1ID)
	if err != nil {
		return ""
	}
	return n
}

// reversalNumber returns the number of the reversal or void of a payment.
func reversalNumber(payment, suffix string) string {
	return strings.Repeat("0", max(0, numberWidth-len(payment))) + payment + suffix
}

// parseReversalNumber splits the number of a reversal or void; false for any other number.
func parseReversalNumber(number string) (payment, suffix string, ok bool) {
	if len(number) != numberWidth+len(suffixVoid) {
		return "", "", false
	}
	payment, suffix = strings.TrimLeft(number[:numberWidth], "0"), number[numberWidth:]
	return payment, suffix, suffix == suffixReversal || suffix == suffixVoid
}

// reconciliationOf returns the settlement reference of a v1 object, with the length that clients
// expect. Captures and reversals use their payment's.
func reconciliationOf(v1ID string) string {
	const length = 16
	_, name, _ := strings.Cut(v1ID, "_")
	return strings.Repeat("0", max(0, length-len(name))) + strings.ToUpper(name)
}
