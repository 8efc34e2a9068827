package providera

import (
	"strconv"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
)

const (
	defaultWindow = 120   // seconds
	longestWindow = 28800 // seconds
)

// billingParts are the fields of billTo that two requests must share to be duplicates.
var billingParts = []string{"firstName", "lastName", "company", "address", "city", "state", "zip", "country"}

// once says when a request is the duplicate of an earlier one, by the dialect's list of fields and its duplicateWindow: with 0 of none, but later
// ones may be its. Amount, currency and what is charged are the command's own.
func (d *decoder) once(more ...string) command.Once {
	same := []string{
		d.login, d.txn.Get("transactionType"), d.txn.Get("poNumber"), d.txn.Get("order", "invoiceNumber"), d.txn.Get("customer", "id"),
	}
	for _, name := range billingParts {
		same = append(same, d.txn.Get("billTo", name))
	}
	return command.Once{Window: d.window(), Same: append(same, more...)}
}

// window is the duplicateWindow in seconds. What is no number, or a negative one, is taken for not given.
func (d *decoder) window() int {
	seconds, err := strconv.Atoi(d.setting("duplicateWindow"))
	if err != nil || seconds < 0 {
		return defaultWindow
	}
	return min(seconds, longestWindow)
}
