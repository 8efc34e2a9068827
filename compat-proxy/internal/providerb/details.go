package providerb

import (
	"strconv"
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
	"github.com/causeway-pay/causeway/shared/money"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// The limits of v1's texts. Longer texts are cut, because they decide nothing.
const (
	maxDescriptor  = 22
	maxName        = 100
	maxLine        = 255
	maxPostalCode  = 20
	maxCountry     = 60
	maxPhone       = 40
	maxDescription = 1000
	maxOrderNumber = 64
	maxKey         = 40
	maxValue       = 500
	maxDefined     = 40 // of 50 entries, which leaves room for the proxy's own
	maxLineItems   = 100
)

// details adds the rest of the request to body.
func (d *decoder) details(body *v1.TransactionCreate, c money.Currency) problem {
	texts := textsOf(d.req)
	body.Reference = texts.given(d.req.ClientReference.Code, maxCode)
	body.Description = texts.given(d.req.ClientReference.Comments, maxDescription)
	body.StatementDescriptor = texts.descriptor(d.req.Merchant.Descriptor.Name)
	body.Billing = texts.contact(&d.req.Order.BillTo)
	body.Shipping = texts.contact(&d.req.Order.ShipTo)
	if m := d.metadata(); len(m) > 0 {
		metadata := v1.Metadata(m)
		body.Metadata = &metadata
	}
	order, p := d.order(c)
	body.Order = order
	return p
}

// order collects level 2 and 3 data; nil if there is none.
func (d *decoder) order(c money.Currency) (*v1.Order, problem) {
	var o v1.Order
	in := &d.req.Order
	found := false
	for _, a := range []struct {
		into **int64
		name string
		from wire.Text
	}{
		{&o.TaxAmount, "taxAmount", in.AmountDetails.TaxAmount},
		{&o.DutyAmount, "dutyAmount", in.AmountDetails.DutyAmount},
		{&o.ShippingAmount, "freightAmount", in.AmountDetails.FreightAmount},
		{&o.DiscountAmount, "discountAmount", in.AmountDetails.DiscountAmount},
	} {
		if a.from == "" {
			continue
		}
		n, err := minor(a.from, c)
		if err != nil {
			return nil, invalid("orderInformation.amountDetails." + a.name)
		}
		*a.into, found = &n, true
	}
	texts := textsOf(d.req)
	if number := texts.given(in.InvoiceDetails.PurchaseOrderNumber, maxOrderNumber); number != nil {
		o.PurchaseOrderNumber, found = number, true
	}
	if taxable := in.InvoiceDetails.Taxable; taxable != "" {
		exempt := strings.EqualFold(string(taxable), "false") || taxable == "0"
		o.TaxExempt, found = &exempt, true
	}
	items, p := texts.lineItems(in.LineItems)
	if !p.none() {
		return nil, p
	}
	if len(items) > 0 {
		o.LineItems, found = &items, true
	}
	if !found {
		return nil, problem{}
	}
	return &o, problem{}
}

// unitPrice returns a price in v1's form, with at most twelve digits and four decimals. It cuts off
// further decimals.
func unitPrice(text wire.Text) (string, bool) {
	const digits, decimals = 12, 4
	if !amountForm.MatchString(string(text)) {
		return "", false
	}
	whole, rest, _ := strings.Cut(string(text), ".")
	if whole == "" {
		whole = "0"
	}
	if rest = rest[:min(len(rest), decimals)]; rest != "" {
		rest = "." + rest
	}
	return whole + rest, len(whole) <= digits
}

// lineItems returns the line items of an order, at most maxLineItems, or the problem of the first
// invalid one.
func (t texts) lineItems(in []wire.LineItem) ([]v1.LineItem, problem) {
	items := make([]v1.LineItem, 0, len(in))
	for i := range min(len(in), maxLineItems) {
		item := &in[i]
		price, ok := unitPrice(item.UnitPrice)
		switch {
		case item.UnitPrice == "":
			price = "0"
		case !ok:
			return nil, invalid(itemField(i, "unitPrice"))
		}
		count, ok := quantity(item.Quantity)
		if !ok {
			return nil, invalid(itemField(i, "quantity"))
		}
		name := item.ProductName
		for _, other := range []wire.Text{item.ProductSKU, item.ProductCode, "item"} {
			if name == "" {
				name = other
			}
		}
		items = append(items, v1.LineItem{
			ID: t.given(item.ProductSKU, maxOrderNumber), Name: t.cut(string(name), maxLine),
			Description: t.given(item.ProductDescription, maxLine), Quantity: strconv.FormatInt(count, 10), UnitPrice: price,
		})
	}
	return items, problem{}
}

// quantity parses a count. The default is one.
func quantity(text wire.Text) (int64, bool) {
	if text == "" {
		return 1, true
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	return n, err == nil && n >= 1 && n <= 999_999_999
}

// itemField returns the dotted path of a line item's field.
func itemField(i int, name string) string {
	return "orderInformation.lineItems." + strconv.Itoa(i) + "." + name
}

// metadata holds the values that later responses repeat, or reports search, and that v1 has no
// field for. Its names do not mention the dialect.
func (d *decoder) metadata() map[string]string {
	m, texts := map[string]string{}, textsOf(d.req)
	for _, e := range []struct {
		name  string
		value wire.Text
	}{
		{"client_transaction", d.req.ClientReference.TransactionID},
		{"customer_reference", d.req.Buyer.MerchantCustomerID},
		{"client_ip", d.req.Device.IPAddress},
		{"invoice_number", d.req.Order.InvoiceDetails.InvoiceNumber},
		{"shipping_method", d.req.Order.ShippingDetails.ShippingMethod},
		{"settlement_reference", d.req.Processing.ReconciliationID},
		{"order_channel", d.channel()},
		{"bank_entry_class", d.req.Processing.BankTransferOptions.SECCode},
	} {
		if e.value != "" {
			m[e.name] = texts.cut(string(e.value), maxValue)
		}
	}
	d.merchantDefined(m)
	return m
}

// merchantDefined adds the merchant-defined fields to the metadata. Keys that are equal only after
// they are masked or cut get a number at their end, in the order of the request.
func (d *decoder) merchantDefined(m map[string]string) {
	texts, keys := textsOf(d.req), map[string]wire.Text{} // keys maps names at v1 to keys of the client
	for _, e := range d.req.MerchantDefined[:min(len(d.req.MerchantDefined), maxDefined)] {
		if e.Key == "" || e.Value == "" {
			continue
		}
		name := texts.cut("field_"+string(e.Key), maxKey)
		for n := 2; keys[name] != "" && keys[name] != e.Key; n++ {
			number := "_" + strconv.Itoa(n)
			name = texts.cut("field_"+string(e.Key), maxKey-len(number)) + number
		}
		keys[name], m[name] = e.Key, texts.cut(string(e.Value), maxValue)
	}
}

// channel returns the order channel, if it is not the internet.
func (d *decoder) channel() wire.Text {
	switch c := strings.ToLower(string(d.req.Processing.CommerceIndicator)); c {
	case "moto", "retail":
		return wire.Text(c)
	}
	return ""
}
