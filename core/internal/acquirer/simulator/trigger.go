package simulator

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Trigger is a value that makes the simulator respond in another way, for documentation.
type Trigger struct {
	Field   string // where it stands: a field of the v1 contract, or of a step such as a capture
	Value   string // the value, or its pattern
	Effect  string // in words, with codes between backquotes
	Outcome string // approved, or the decline code
}

// Triggers lists all entries of the catalogue that are not cards, in the order of the payment's
// fields. Each is generated from its entry.
func (s *Simulator) Triggers() []Trigger { return slices.Clone(s.catalogue.triggers) }

func (doc document) triggers() []Trigger {
	var out []Trigger
	for _, value := range slices.Sorted(maps.Keys(doc.CVCs)) {
		out = append(out, doc.CVCs[value].trigger(value))
	}
	out = append(out, doc.OtherCVC.trigger("any other"))
	for _, value := range slices.Sorted(maps.Keys(doc.PostalCodes)) {
		out = append(out, doc.PostalCodes[value].trigger(value, doc))
	}
	out = append(out, Trigger{"billing.address", "any other", fmt.Sprintf("a given value: `match`, letter `%s`; a missing value: `not_provided`", doc.AVSCode), outcomeApproved})
	out = append(out, Trigger{"three_d_secure.cavv", "any", fmt.Sprintf("`cavv_result_code` `%s`", doc.CAVVCode), outcomeApproved})
	for _, r := range doc.Refusals {
		of, effect := "amount of a "+r.Operation, "a "+r.Operation+" of exactly that is refused"
		if r.Operation == "void" {
			of, effect = "amount of a payment", "its void is refused"
		}
		out = append(out, Trigger{of, strconv.FormatInt(r.Amount, 10), effect, r.Decline.outcome()})
	}
	for _, a := range doc.BankAccounts {
		out = append(out, Trigger{"bank_account.account_number", a.AccountNumber, "with any valid routing number", a.Decline.outcome()})
	}
	if l := doc.BankAccountLimit; l != (limitEntry{}) {
		out = append(out, Trigger{"amount from a bank account", fmt.Sprintf("above %d", l.Amount), "the payment is declined", l.Decline.outcome()})
	}
	return out
}

const outcomeApproved = "approved"

func (d declineEntry) outcome() string { return cmp.Or(d.DeclineCode, outcomeApproved) }

func (e cvcEntry) trigger(value string) Trigger {
	return Trigger{"card.cvc", value, fmt.Sprintf("CVC `%s`, letter `%s`", e.Check, e.Code), e.Decline.outcome()}
}

func (e postalEntry) trigger(value string, doc document) Trigger {
	effects := []string{fmt.Sprintf("address line `%s`, postal code `%s`, letter `%s`", e.AddressLine, e.PostalCode, cmp.Or(e.Code, doc.AVSCode))}
	if e.Approve > 0 {
		effects = append(effects, fmt.Sprintf("approves at most %d, and declines with `%s` if a larger payment does not accept a part", e.Approve, doc.Declines.TooLittle.DeclineCode))
	}
	if e.Balance != nil {
		effects = append(effects, fmt.Sprintf("prepaid: balance %d left", *e.Balance))
	}
	return Trigger{"billing.address.postal_code", value, strings.Join(effects, "; "), e.Decline.outcome()}
}
