package providera

import (
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// payer adds the data of the payer.
func (r record) payer(l *elementList) {
	if r.refund != nil {
		return
	}
	var customer elementList
	customer.typed("type", r.metadata["customer_type"], wire.CustomerType)
	customer.text("id", cut(r.metadata["customer_reference"], 20))
	customer.text("email", cut(r.metadata["customer_email"], 255))
	l.group("customer", customer...)
	l.group("billTo", r.billTo()...)
	l.group("shipTo", address(r.payment.Shipping)...)
}

func (r record) billTo() []*wire.Element {
	email := ""
	if b := r.payment.Billing; b != nil &&
		(v1.Text(b.Email) != r.metadata["customer_email"] || r.metadata[billingEmailKey] != "") {
		email = v1.Text(b.Email) // else it is only the customer's, and responses have it there
	}
	return customerAddress(r.payment.Billing, r.metadata["billing_fax"], email)
}

// customerAddress returns the elements of a contact with telephone numbers.
func customerAddress(c *v1.Contact, fax, email string) elementList {
	l := elementList(address(c))
	if c != nil {
		l.text("phoneNumber", cut(v1.Text(c.Phone), 25))
	}
	l.text("faxNumber", cut(fax, 25))
	l.text("email", email)
	return derived(l, 1, "phoneNumber", "faxNumber", "email")
}

// address returns the elements of a contact's name and address.
func address(c *v1.Contact) []*wire.Element {
	if c == nil {
		return nil
	}
	a := v1.Address{}
	if c.Address != nil {
		a = *c.Address
	}
	street := v1.Text(a.Line1)
	if second := v1.Text(a.Line2); second != "" {
		street += "\n" + second
	}
	var l elementList
	l.text("firstName", cut(v1.Text(c.FirstName), 50))
	l.text("lastName", cut(v1.Text(c.LastName), 50))
	l.text("company", cut(v1.Text(c.Company), 50))
	l.text("address", cut(street, 60))
	l.text("city", cut(v1.Text(a.City), 40))
	l.text("state", cut(v1.Text(a.State), 40))
	l.text("zip", cut(v1.Text(a.PostalCode), 20))
	l.text("country", v1.Text(a.Country))
	return l
}
