package providera

import (
	"slices"
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
)

// The metadata entries with the names of the fields that were sent empty. v1 stores no empty
// fields, and the dialect shows them again.
const (
	emptyBillingKey = "billing_empty"
	emptyProfileKey = "profile_empty"
)

// The fields of an address, and the identifying ones of a profile, in schema order.
var (
	billingFields     = append(slices.Clone(addressParts), "phoneNumber", "faxNumber", "email")
	identifyingFields = []string{"merchantCustomerId", "description", "email"}
)

// sentEmpty returns which of the fields a request has empty, as metadata.
func sentEmpty(n wire.Node, fields []string) string {
	var empty []string
	for _, name := range fields {
		if child := n.Child(name); child.Present() && child.Get() == "" {
			empty = append(empty, name)
		}
	}
	return strings.Join(empty, " ")
}

// withEmpty adds the empty elements that metadata names to a list in the order of the fields.
func withEmpty(l elementList, metadata string, fields []string) elementList {
	if metadata == "" {
		return l
	}
	var out elementList
	names := strings.Fields(metadata)
	for _, name := range fields {
		i := slices.IndexFunc(l, func(e *wire.Element) bool { return e.Tag == name })
		switch {
		case i >= 0:
			out = append(out, l[i])
		case slices.Contains(names, name):
			out = append(out, wire.TextElement(name, ""))
		}
	}
	return out
}
