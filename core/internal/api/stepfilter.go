package api

import (
	"net/url"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// stepParameters are the parameters of the list filter of captures and refunds.
var stepParameters = []string{"transaction", "settlement", "settlement_day", metadataEntries}

// refundParameters are the parameters of the list filter of refunds.
var refundParameters = append([]string{"customer"}, stepParameters...)

// settlementFilter reads the parameter of the state of settlement.
func settlementFilter(q url.Values) (payment.Settlement, error) {
	const name = "settlement"
	if q.Has(name) && !v1.SettlementFilter(q.Get(name)).Valid() {
		return "", &fault{code: codeInvalidValue, param: name}
	}
	return payment.Settlement(q.Get(name)), nil
}

// dayFilter reads the parameter of the settlement day, 0 if it is absent.
func dayFilter(q url.Values) (int64, error) {
	const name = "settlement_day"
	if !q.Has(name) {
		return 0, nil
	}
	day, err := id.ParseFilter(id.SettlementDay, q.Get(name))
	if err != nil {
		return 0, &fault{code: codeInvalidValue, param: name, message: "The value must be the id of a settlement day.", cause: err}
	}
	return day, nil
}

// paidBy reads the parameter of the customer whose transactions were refunded, "" if it is absent.
func paidBy(q url.Values) (string, error) {
	const name = "customer"
	if !q.Has(name) {
		return "", nil
	}
	if _, err := id.ParseFilter(id.Customer, q.Get(name)); err != nil {
		return "", &fault{code: codeInvalidValue, param: name, message: "The value must be the id of a customer.", cause: err}
	}
	return q.Get(name), nil
}

// stepFilter reads the list filter of captures and refunds.
func stepFilter(q url.Values) (f payment.StepFilter, err error) {
	const name = "transaction"
	if q.Has(name) {
		if f.Transaction, err = id.ParseFilter(id.Transaction, q.Get(name)); err != nil {
			return f, &fault{code: codeInvalidValue, param: name, message: "The value must be the id of a transaction.", cause: err}
		}
	}
	if f.Settlement, err = settlementFilter(q); err != nil {
		return f, err
	}
	if f.Day, err = dayFilter(q); err != nil {
		return f, err
	}
	f.Metadata, err = metadataFilter(q)
	return f, err
}
