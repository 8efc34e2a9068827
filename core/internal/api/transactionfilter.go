package api

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/money"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// transactionParameters are the parameters of the list filter of transactions.
var transactionParameters = []string{
	"status", "settlement", "settlement_day", "customer", "reference", "card_fingerprint", "amount", "currency", "created_after", "created_before",
	metadataEntries,
}

// transactionFilter reads the list filter of transactions.
func transactionFilter(q url.Values) (f payment.TransactionFilter, err error) {
	for _, by := range []struct {
		name  string
		valid func(string) bool
	}{
		{"status", each(func(s string) bool { return v1.TransactionStatus(s).Valid() })},
		{"settlement", each(func(s string) bool { return v1.SettlementFilter(s).Valid() })},
		{"customer", func(s string) bool { _, err := id.ParseFilter(id.Customer, s); return err == nil }},
		{"reference", func(s string) bool {
			return s != "" && utf8.ValidString(s) && utf8.RuneCountInString(s) <= 255
		}},
		{"card_fingerprint", printable},
		{"currency", func(s string) bool { _, ok := money.Lookup(s); return ok }},
	} {
		if q.Has(by.name) && !by.valid(q.Get(by.name)) {
			return f, &fault{code: codeInvalidValue, param: by.name}
		}
	}
	f = payment.TransactionFilter{
		Statuses: q.Get("status"), Settlements: q.Get("settlement"), Customer: q.Get("customer"), Reference: q.Get("reference"),
		CardFingerprint: q.Get("card_fingerprint"), Currency: q.Get("currency"),
	}
	if f.Day, err = dayFilter(q); err != nil {
		return f, err
	}
	if q.Has("amount") {
		amount, err := strconv.ParseInt(q.Get("amount"), 10, 64)
		if err != nil || !isDigits(q.Get("amount"), 1, 12) || amount > money.Max {
			return f, &fault{code: codeInvalidAmount, param: "amount", message: "The amount must be an integer from 0 to 999999999999."}
		}
		f.Amount = &amount
	}
	if f.After, err = moment(q, "created_after"); err != nil {
		return f, err
	}
	if f.Before, err = moment(q, "created_before"); err != nil {
		return f, err
	}
	f.Metadata, err = metadataFilter(q)
	return f, err
}

// each returns a check of a parameter that has one value or more, each once, with commas between
// them.
func each(valid func(string) bool) func(string) bool {
	return func(s string) bool {
		values := strings.Split(s, ",")
		for i, value := range values {
			if !valid(value) || slices.Contains(values[:i], value) {
				return false
			}
		}
		return true
	}
}
