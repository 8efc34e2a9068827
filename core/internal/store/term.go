package store

import "github.com/causeway-pay/causeway/core/internal/payment"

var insertTerm = declare("insertTerm")

// The kinds of terms.
const (
	termCustomer  = 1
	termReference = 2
)

// InsertTerms has lists find a transaction by what it names. Without any it costs nothing, and what is known already changes nothing.
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
