package providerb

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/shared/money"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// encodeDetails adds level 2 and 3 data. The provider counts items in whole numbers, so an item
// with another quantity is left out.
func encodeDetails(o *order, details []byte, currency string) error {
	if len(details) == 0 {
		return nil
	}
	var in v1.Order
	if err := json.Unmarshal(details, &in); err != nil {
		return fmt.Errorf("%w: details of the order", errRequest)
	}
	c, _ := money.Lookup(currency)
	for _, a := range []struct {
		into *string
		from *int64
	}{
		{&o.Amounts.Tax, in.TaxAmount},
		{&o.Amounts.Duty, in.DutyAmount},
		{&o.Amounts.Freight, in.ShippingAmount},
		{&o.Amounts.Discount, in.DiscountAmount},
	} {
		if a.from != nil {
			*a.into = money.Format(*a.from, c.Exponent)
		}
	}
	if in.PurchaseOrderNumber != nil || in.TaxExempt != nil {
		o.Invoice = &invoice{PurchaseOrderNumber: cut(v1.Text(in.PurchaseOrderNumber), 25)}
		if in.TaxExempt != nil {
			o.Invoice.Taxable = new(!*in.TaxExempt)
		}
	}
	if in.LineItems != nil {
		o.LineItems = encodeItems(*in.LineItems)
	}
	return nil
}

func encodeItems(items []v1.LineItem) []lineItem {
	var out []lineItem
	for _, item := range items {
		whole, decimals, _ := strings.Cut(item.Quantity, ".")
		n, err := strconv.Atoi(whole)
		if err != nil || n < 1 || n > 999_999_999 || strings.Trim(decimals, "0") != "" {
			continue
		}
		out = append(out, lineItem{
			ProductName: cut(item.Name, 255), ProductSKU: cut(v1.Text(item.ID), 255),
			ProductDescription: cut(v1.Text(item.Description), 255), Quantity: n, UnitPrice: item.UnitPrice,
		})
	}
	return out
}
