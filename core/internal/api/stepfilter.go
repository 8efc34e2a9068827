package api

import (
	"net/url"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
)

// stepParameters are the parameters of the list filter of captures and refunds.
var stepParameters = []string{"transaction", metadataEntries}

// stepFilter reads the list filter of captures and refunds.
func stepFilter(q url.Values) (f payment.StepFilter, err error) {
	const name = "transaction"
	if q.Has(name) {
		if f.Transaction, err = id.ParseFilter(id.Transaction, q.Get(name)); err != nil {
			return f, &fault{code: codeInvalidValue, param: name, message: "The value must be the id of a transaction.", cause: err}
		}
	}
	f.Metadata, err = metadataFilter(q)
	return f, err
}
