package store

import "github.com/causeway-pay/causeway/core/internal/payment"

var insertTerm = declare("insertTerm")

// The kinds of terms, by which lists find transactions.
const (
	termCustomer  = 1
	termReference = 2
)

// InsertTerms links a transaction to the customer and the reference of t, by which lists find it.
// It runs no statement for an empty term, and a link that exists stays.
func (tx *Tx) InsertTerms(tenant payment.Tenant, transaction int64, t payment.Terms) error {
	if t == (payment.Terms{}) {
		return nil
	}
	for i, term := range []string{t.Customer, t.Reference} {
		if term == "" {
			continue
		}
		kind := termCustomer + i
		err := tx.exec(insertTerm, tenant.Merchant, tenant.Live, kind, term, transaction)
		if err != nil {
			return err
		}
	}
	return nil
}
