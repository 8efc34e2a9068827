package providera

import (
	"cmp"
	"regexp"
	"strings"
	"unicode/utf16"

	"github.com/causeway-pay/causeway/compat-proxy/internal/chars"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	"github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/money"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// maxDescriptor is v1's limit of a statement descriptor. Card networks cut longer ones.
const maxDescriptor = 22

// maxLineItems is the dialect's limit of line items in a request.
const maxLineItems = 30

// details adds the rest of the request to body.
func (d *decoder) details(body *v1.TransactionCreate, c money.Currency) problem {
	body.Reference = textOrNil(d.txn.Get("order", "invoiceNumber"))
	body.Description = textOrNil(d.txn.Get("order", "description"))
	descriptor := card.MaskText(chars.Printable(d.txn.Get("merchantDescriptor")), ownNumber(body))
	body.StatementDescriptor = textOrNil(cut(descriptor, maxDescriptor))
	body.Billing = contact(d.txn.Child("billTo"))
	// A billing contact would replace the whole one of a stored profile.
	if email := d.txn.Get("customer", "email"); email != "" && body.Customer == nil {
		if body.Billing == nil {
			body.Billing = &v1.Contact{}
		}
		if body.Billing.Email == nil {
			body.Billing.Email = &email
		}
	}
	body.Shipping = contact(d.txn.Child("shipTo"))
	if m := d.metadata(); len(m) > 0 {
		metadata := v1.Metadata(m)
		body.Metadata = &metadata
	}
	order, p := d.order(c)
	body.Order = order
	return p
}

// order returns the level 2 and 3 data of the request, or nil if there is none.
func (d *decoder) order(c money.Currency) (*v1.Order, problem) {
	var o v1.Order
	amounts := []struct {
		into **int64
		from wire.Node
		bad  reason
	}{
		{&o.TaxAmount, d.txn.Child("tax").Child("amount"), reasonTax},
		{&o.DutyAmount, d.txn.Child("duty").Child("amount"), reasonDuty},
		{&o.ShippingAmount, d.txn.Child("shipping").Child("amount"), reasonFreight},
		{&o.DiscountAmount, d.txn.Child("order").Child("discountAmount"), reasonField},
	}
	found := false
	for _, a := range amounts {
		if !a.from.Has() {
			continue
		}
		minor, p := minorAmount(a.from.Get(), c)
		if !p.none() {
			return nil, because(a.bad)
		}
		*a.into, found = &minor, true
	}
	if exempt := d.txn.Get("taxExempt"); exempt != "" {
		value := isTrue(exempt)
		o.TaxExempt, found = &value, true
	}
	if o.PurchaseOrderNumber = textOrNil(d.txn.Get("poNumber")); o.PurchaseOrderNumber != nil {
		found = true
	}
	items, p := d.lineItems()
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

// The decimals that v1 accepts as quantities and unit prices.
var (
	quantityForm  = regexp.MustCompile(`^[0-9]{1,10}([.][0-9]{1,4})?$`)
	unitPriceForm = regexp.MustCompile(`^[0-9]{1,12}([.][0-9]{1,4})?$`)
)

func (d *decoder) lineItems() ([]v1.LineItem, problem) {
	nodes := d.txn.Child("lineItems").All("lineItem")
	if len(nodes) > maxLineItems {
		return nil, because(reasonLineItems)
	}
	items := make([]v1.LineItem, 0, len(nodes))
	for i, n := range nodes {
		item := v1.LineItem{
			ID: textOrNil(n.Get("itemId")), Name: n.Get("name"), Description: textOrNil(n.Get("description")),
			Quantity: canonical(n.Get("quantity")), UnitPrice: canonical(n.Get("unitPrice")),
		}
		if !quantityForm.MatchString(item.Quantity) || !unitPriceForm.MatchString(item.UnitPrice) {
			return nil, lineItemInvalid(i + 1)
		}
		if taxable := n.Get("taxable"); taxable != "" {
			value := isTrue(taxable)
			item.Taxable = &value
		}
		items = append(items, item)
	}
	return items, problem{}
}

// The metadata keys of values that v1 has no field for. The first two are suffixes to the name of
// an extended amount.
const (
	nameKey             = "_name"
	descriptionKey      = "_description"
	taxAfterDiscountKey = "tax_after_discount"
	// billingEmailKey is set only if the billing e-mail address equals the customer's, because v1 has
	// one field for both.
	billingEmailKey = "billing_email"
	// bankAuthorizationKey marks the authorization of a bank account by the rule BankAuthorization,
	// which is a debit in v1.
	bankAuthorizationKey = "authorization_only"
	// finalKey marks an authorization that the client called final.
	finalKey = "final_authorization"
)

// The indicators of authorizations.
const (
	indicatorPre   = "pre"
	indicatorFinal = "final"
)

// extendedAmounts are the amounts with a name and a description.
var extendedAmounts = []string{"tax", "duty", "shipping", "tip", "surcharge"}

// marketRetail is the market type of payments with a present card. It is the default of a retail
// element.
const marketRetail = "2"

// market returns the market type, or "" if the request has none. A request with track data has the
// card present.
func (d *decoder) market() string {
	if d.txn.Has("retail") || d.txn.Has("payment", "trackData") {
		return cmp.Or(d.txn.Get("retail", "marketType"), marketRetail)
	}
	return ""
}

// metadata returns the values that later responses repeat and that v1 has no field for. Its keys do
// not name the dialect.
func (d *decoder) metadata() map[string]string {
	m := d.ownMetadata()
	add := func(name, value string) {
		if value != "" {
			m[name] = value
		}
	}
	add("customer_reference", d.txn.Get("customer", "id"))
	add("customer_type", d.txn.Get("customer", "type"))
	add("customer_email", d.txn.Get("customer", "email"))
	add("billing_fax", d.txn.Get("billTo", "faxNumber"))
	add("client_ip", d.txn.Get("customerIP"))
	add("tip_amount", amountText(d.txn.Child("tip")))
	add("surcharge_amount", amountText(d.txn.Child("surcharge")))
	for _, name := range extendedAmounts {
		add(name+nameKey, d.txn.Get(name, "name"))
		add(name+descriptionKey, d.txn.Get(name, "description"))
	}
	add("market_type", d.market())
	if isTrue(d.txn.Get("order", "taxIsAfterDiscount")) {
		add(taxAfterDiscountKey, "true")
	}
	if email := d.txn.Get("billTo", "email"); email == d.txn.Get("customer", "email") {
		add(billingEmailKey, email)
	}
	add("echeck_type", d.txn.Get("payment", "bankAccount", "echeckType"))
	add("bank_name", d.txn.Get("payment", "bankAccount", "bankName"))
	add("check_number", d.txn.Get("payment", "bankAccount", "checkNumber"))
	if d.txn.Get("transactionType") == typeAuthorize {
		if d.txn.Has("payment", "bankAccount") {
			add(bankAuthorizationKey, "true")
		}
		if d.txn.Get("authorizationIndicatorType", "authorizationIndicator") == indicatorFinal {
			add(finalKey, "true")
		}
	}
	add("solution_id", d.txn.Get("solution", "id"))
	if d.echo.Profile.Address != "" {
		m[shippingKey] = d.echo.Profile.Address
	}
	if isTrue(d.setting("recurringBilling")) {
		add("recurring", "true")
	}
	return m
}

// ownMetadata returns the metadata of every command of a request. It is never nil.
func (d *decoder) ownMetadata() map[string]string {
	m := map[string]string{}
	if d.refID != "" {
		m["client_reference"] = d.refID
	}
	if id := d.txn.Get("employeeId"); id != "" {
		m["employee_id"] = id
	}
	return m
}

func amountText(extended wire.Node) string {
	if !extended.Has("amount") {
		return ""
	}
	return canonical(extended.Get("amount"))
}

// contact converts a billTo or shipTo element. It returns nil if the element is empty.
func contact(n wire.Node) *v1.Contact {
	line1, line2 := lines(n.Get("address"))
	address := v1.Address{
		Line1: textOrNil(line1), Line2: textOrNil(line2), City: textOrNil(n.Get("city")), State: textOrNil(n.Get("state")),
		PostalCode: textOrNil(n.Get("zip")), Country: textOrNil(n.Get("country")),
	}
	c := v1.Contact{
		FirstName: textOrNil(n.Get("firstName")), LastName: textOrNil(n.Get("lastName")),
		Company: textOrNil(n.Get("company")), Email: textOrNil(n.Get("email")), Phone: textOrNil(n.Get("phoneNumber")),
	}
	if address != (v1.Address{}) {
		c.Address = &address
	}
	if c == (v1.Contact{}) {
		return nil
	}
	return &c
}

// lines splits an address at its first line break, which some clients send between two lines.
func lines(address string) (first, rest string) {
	parts := strings.FieldsFunc(address, func(r rune) bool { return r == '\n' || r == '\r' })
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	if len(parts) < 2 {
		return strings.Join(parts, ""), ""
	}
	return parts[0], strings.Join(parts[1:], ", ")
}

// textOrNil returns nil for an empty text, and for "n/a", which clients send instead of one.
func textOrNil(s string) *string {
	if s == "" || strings.EqualFold(s, "n/a") {
		return nil
	}
	return &s
}

// ownNumber returns the number of the card or network token that a payment charges, or zero.
func ownNumber(body *v1.TransactionCreate) secret.String {
	switch {
	case body.Card != nil:
		return body.Card.Number
	case body.NetworkToken != nil:
		return body.NetworkToken.Number
	}
	return secret.String{}
}

// cut shortens s to at most n UTF-16 units, the dialect's unit of text length. It does not split a
// character.
func cut(s string, n int) string {
	for i, r := range s {
		if n -= utf16.RuneLen(r); n < 0 {
			return s[:i]
		}
	}
	return s
}
