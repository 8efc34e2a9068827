package providera

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// unstoredKey begins the metadata entries of a customer with the masked numbers of the payment
// profiles that v1 does not store. The position in the request follows.
const unstoredKey = "unstored_card_"

// storable reports whether v1 stores a payment profile: newMethod leaves out a card with a wrong
// check digit.
func storable(m command.NewMethod) bool { return m.Token.Body != (v1.TokenCreate{}) }

// The number of a payment profile that v1 does not store: unstoredPrefix, its customer's number
// padded to numberWidth digits, and two digits for its position. No v1 id has as many digits.
const (
	unstoredPrefix = "9"
	numberWidth    = 19
)

// unstoredNumbers returns the beginning of the numbers of a customer's payment profiles that v1
// does not store.
func unstoredNumbers(customer string) string {
	return unstoredPrefix + strings.Repeat("0", max(0, numberWidth-len(customer))) + customer
}

// unstoredNumber returns the number of the payment profile at a position of the request.
func unstoredNumber(customer string, position int) string {
	return unstoredNumbers(customer) + fmt.Sprintf("%02d", position)
}

// unstored reports whether the payment profile is one that v1 does not store.
func (p profileIDs) unstored() bool {
	return len(p.Method) == len(unstoredPrefix)+numberWidth+2 && strings.HasPrefix(p.Method, unstoredNumbers(p.Customer))
}

// position returns the position of a payment profile that v1 does not store.
func (p profileIDs) position() int {
	n, _ := strconv.Atoi(p.Method[len(p.Method)-2:])
	return n
}

// numbers returns the numbers of a new profile and its parts, in the order of the request.
func (p profilePlan) numbers(r command.Result) profileNumbers {
	m := newProfileNumbers(r)
	if m.customer == "" {
		return m
	}
	for _, position := range p.Unstored {
		at := min(position-1, len(m.methods))
		m.methods = slices.Insert(m.methods, at, unstoredNumber(m.customer, position))
	}
	return m
}
