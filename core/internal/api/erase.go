package api

import (
	"strings"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Erased returns the data of an event of a customer or payment method without personal data.
func Erased(kind string, data []byte) []byte {
	if strings.HasPrefix(kind, string(v1.CustomerObjectCustomer)+".") {
		var c v1.Customer
		decodeDetails(data, &c)
		return encode(&v1.Customer{
			ID: c.ID, Object: c.Object, Mode: c.Mode, Metadata: v1.Metadata{}, Version: c.Version, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
		})
	}
	var m v1.PaymentMethod
	decodeDetails(data, &m)
	return encode(&v1.PaymentMethod{
		ID: m.ID, Object: m.Object, Mode: m.Mode, Customer: m.Customer, Kind: m.Kind, Metadata: v1.Metadata{}, CreatedAt: m.CreatedAt,
	})
}
