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

// deduplication returns the conditions under which a request is a duplicate: the dialect's list of
// fields, and its duplicateWindow. With a window of 0 it never is, but later requests can be
// duplicates of it. The command itself compares amount, currency and payment source.
func (d *decoder) deduplication(more ...string) command.Deduplication {
	same := []string{
		d.login, d.txn.Get("transactionType"), d.txn.Get("poNumber"), d.txn.Get("order", "invoiceNumber"),
		d.txn.Get("customer", "id"),
	}
	for _, name := range billingParts {
		same = append(same, d.txn.Get("billTo", name))
	}
	return command.Deduplication{Window: d.window(), Same: append(same, more...)}
}

// window returns the duplicateWindow in seconds. An invalid or negative value counts as not given.
func (d *decoder) window() int {
	seconds, err := strconv.Atoi(d.setting("duplicateWindow"))
	if err != nil || seconds < 0 {
		return defaultWindow
	}
	return min(seconds, longestWindow)
}
