package api

import (
	"strings"

	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Impersonal returns the data of a transaction, capture or refund, or of an event of one, without
// personal data. Amount, currency, dates, states, references, order, brand, the last four digits
// and the expiry remain, for the books and for disputes. Holder, addresses, customer, stored
// payment method, description, metadata, fingerprints and 3-D Secure data go. Data of another kind
// stays as it is.
func Impersonal(kind string, data []byte) []byte {
	object, _, event := strings.Cut(kind, ".")
	switch {
	case object == "transaction" && event:
		return impersonalAs(data, func(t *v1.Transaction) {
			source := shownSource{t.Card, t.NetworkToken, t.BankAccount}
			source.clearPersonal()
			t.PaymentMethod = source.unnamed(t.PaymentMethod)
			t.Billing, t.Shipping, t.Customer, t.Description, t.ThreeDSecure, t.Metadata = nil, nil, nil, nil, nil, v1.Metadata{}
		})
	case object == "transaction":
		return impersonalAs(data, func(d *transactionDetails) {
			d.clearPersonal()
			d.Billing, d.Shipping, d.Customer, d.Description, d.ThreeDSecure, d.Metadata = nil, nil, nil, nil, nil, nil
		})
	case object == "capture" && event:
		return impersonalAs(data, func(c *v1.Capture) { c.Metadata = v1.Metadata{} })
	case object == "refund" && event:
		return impersonalAs(data, func(r *v1.Refund) {
			source := shownSource{r.Card, nil, r.BankAccount}
			source.clearPersonal()
			if r.Metadata = (v1.Metadata{}); r.PaymentMethod != nil {
				*r.PaymentMethod = source.unnamed(*r.PaymentMethod)
			}
		})
	case object == "capture", object == "refund":
		return impersonalAs(data, func(d *stepDetails) {
			d.clearPersonal()
			if d.Metadata = nil; d.PaymentMethod != nil {
				*d.PaymentMethod = d.unnamed(*d.PaymentMethod)
			}
		})
	}
	return data
}

func impersonalAs[T any](data []byte, change func(*T)) []byte {
	var v T
	decodeDetails(data, &v)
	change(&v)
	return encode(&v)
}

// unnamed returns the kind of a source that a stored payment method of a customer named, else its
// name.
func (s shownSource) unnamed(method string) string {
	if _, err := id.Parse(id.PaymentMethod, method); err != nil {
		return method
	}
	if s.BankAccount != nil {
		return "bank_account"
	}
	return "card"
}

// clearPersonal empties the personal fields of a source.
func (s shownSource) clearPersonal() {
	if s.Card != nil {
		s.Card.Holder, s.Card.Fingerprint = nil, ""
	}
	if s.NetworkToken != nil {
		s.NetworkToken.Fingerprint = ""
	}
	if s.BankAccount != nil {
		s.BankAccount.Holder, s.BankAccount.Fingerprint = "", ""
	}
}
