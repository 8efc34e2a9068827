package providerb

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/causeway-pay/causeway/compat-proxy/internal/chars"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
	"github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/money"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// What v1 takes of texts. What is longer is cut: none of it decides anything.
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
	maxDefined     = 40 // of 50 entries, which leaves room for our own
	maxLineItems   = 100
)

// details puts everything of the request that is not the payment itself into body.
func (d *decoder) details(body *v1.TransactionCreate, c money.Currency) problem {
	body.Reference = given(d.req.ClientReference.Code, maxCode)
	body.Description = given(d.req.ClientReference.Comments, maxDescription)
	body.StatementDescriptor = descriptor(d.req.Merchant.Descriptor.Name)
	body.Billing = contact(&d.req.Order.BillTo)
	body.Shipping = contact(&d.req.Order.ShipTo)
	if m := d.metadata(); len(m) > 0 {
		metadata := v1.Metadata(m)
		body.Metadata = &metadata
	}
	order, p := d.order(c)
	body.Order = order
	return p
}

// order collects level 2 and 3 data; nil when there is none.
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
	if number := given(in.InvoiceDetails.PurchaseOrderNumber, maxOrderNumber); number != nil {
		o.PurchaseOrderNumber, found = number, true
	}
	if taxable := in.InvoiceDetails.Taxable; taxable != "" {
		exempt := strings.EqualFold(string(taxable), "false") || taxable == "0"
		o.TaxExempt, found = &exempt, true
	}
	items, p := lineItems(in.LineItems)
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

// unitPrice is a price as v1 keeps it: at most twelve digits and four decimals; further ones are cut off.
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

func lineItems(in []wire.LineItem) ([]v1.LineItem, problem) {
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
			ID: given(item.ProductSKU, maxOrderNumber), Name: cut(string(name), maxLine), Description: given(item.ProductDescription, maxLine),
			Quantity: strconv.FormatInt(count, 10), UnitPrice: price,
		})
	}
	return items, problem{}
}

// quantity is a count; one where none is given.
func quantity(text wire.Text) (int64, bool) {
	if text == "" {
		return 1, true
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	return n, err == nil && n >= 1 && n <= 999_999_999
}

// itemField is the dotted path of a line item's field.
func itemField(i int, name string) string {
	return "orderInformation.lineItems." + strconv.Itoa(i) + "." + name
}

// metadata is what later answers give back, or reports look for, and v1 has no field for, under names that say nothing of the dialect.
func (d *decoder) metadata() map[string]string {
	m := map[string]string{}
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
			m[e.name] = cut(string(e.value), maxValue)
		}
	}
	for _, e := range d.req.Defined[:min(len(d.req.Defined), maxDefined)] {
		if e.Key != "" && e.Value != "" {
			m[cut("field_"+string(e.Key), maxKey)] = cut(string(e.Value), maxValue)
		}
	}
	return m
}

// channel is how the order came, where the client tells one that is not the internet.
func (d *decoder) channel() wire.Text {
	switch c := strings.ToLower(string(d.req.Processing.CommerceIndicator)); c {
	case "moto", "retail":
		return wire.Text(c)
	}
	return ""
}

// contact is a billTo or shipTo; nil when it says nothing.
func contact(in *wire.Person) *v1.Contact {
	address := v1.Address{
		Line1: given(in.Address1, maxLine), Line2: given(in.Address2, maxLine), City: given(in.Locality, maxName),
		State: given(in.AdministrativeArea, maxName), PostalCode: given(in.PostalCode, maxPostalCode), Country: given(in.Country, maxCountry),
	}
	c := v1.Contact{
		FirstName: given(in.FirstName, maxName), LastName: given(in.LastName, maxName), Company: given(wire.Text(in.Company), maxName),
		Email: given(in.Email, maxLine), Phone: given(in.PhoneNumber, maxPhone),
	}
	if address != (v1.Address{}) {
		c.Address = &address
	}
	if c == (v1.Contact{}) {
		return nil
	}
	return &c
}

// given is nil for an empty text, and else its first n characters.
func given(text wire.Text, n int) *string {
	if text == "" {
		return nil
	}
	s := cut(string(text), n)
	return &s
}

// descriptor is what the cardholder reads of the merchant; nil for nothing.
func descriptor(name wire.Text) *string {
	s := strings.TrimSpace(cut(strings.TrimSpace(chars.Printable(string(name))), maxDescriptor))
	if s == "" {
		return nil
	}
	return &s
}

// cut shortens s to at most n bytes, between characters. It masks card numbers first: the rest of one
// that was cut off is not recognized any more.
func cut(s string, n int) string {
	s = card.MaskText(s)
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
