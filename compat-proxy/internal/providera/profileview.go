package providera

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/chars"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	"github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// profileView shows stored profiles as a request wants them.
type profileView struct {
	unmaskExpiration bool
	// issuer adds the first digits of card numbers.
	issuer bool
	// names adds the number of the customer to each payment profile.
	names bool
}

// newProfileView reads the flags of a request.
func newProfileView(req *wire.Request) profileView {
	return profileView{
		unmaskExpiration: isTrue(req.Root.Get("unmaskExpirationDate")), issuer: isTrue(req.Root.Get("includeIssuerInfo")),
	}
}

// method returns the elements of a payment profile in schema order.
func (v profileView) method(customer *v1.Customer, m *v1.PaymentMethod) elementList {
	var l elementList
	l.typed("customerType", m.Metadata["customer_type"], wire.CustomerType)
	l.group("billTo", billingAddress(m)...)
	if v.names {
		l.text("customerProfileId", decimal(id.Customer, customer.ID))
	}
	l.text("customerPaymentProfileId", decimal(id.PaymentMethod, m.ID))
	if v1.Text(customer.DefaultPaymentMethod) == m.ID {
		l.raw("defaultPaymentProfile", "true")
	}
	l.group("payment", v.payment(m)...)
	return paymentProfileOrder(l)
}

// issuerKey is the metadata entry of a payment method with the first digits of its number, which v1
// does not show.
const (
	issuerKey    = "issuer_number"
	issuerLength = 6
)

// paymentProfileOrder marks the members of a payment profile for their places in JSON. Recorded
// responses have the mark of the default first.
func paymentProfileOrder(l elementList) elementList {
	return derived(derived(l, 2, "defaultPaymentProfile"), 1, "customerProfileId", "customerPaymentProfileId", "payment")
}

// payment returns the masked payment source of a payment profile.
func (v profileView) payment(m *v1.PaymentMethod) elementList {
	switch {
	case m.Card != nil:
		month := maskedMonth
		if v.unmaskExpiration {
			month = fmt.Sprintf("%04d-%02d", m.Card.ExpYear, m.Card.ExpMonth)
		}
		shown := maskedCard(masked(m.Card.Last4), month, accounts[card.Brand(m.Card.Brand)].name)
		if first := m.Metadata[issuerKey]; v.issuer && len(first) == issuerLength && chars.Digits(first) {
			shown.Add(wire.TextElement("issuerNumber", first))
		}
		return elementList{shown}
	case m.BankAccount != nil:
		return elementList{maskedBank(m.BankAccount, m.Metadata)}
	}
	return nil
}

// shippingAddresses returns the shipping addresses of a customer, oldest first.
func shippingAddresses(customer *v1.Customer) []*wire.Element {
	if customer.ShippingAddresses == nil {
		return nil
	}
	var out []*wire.Element
	for i := range *customer.ShippingAddresses {
		out = append(out, wire.GroupElement("shipToList", shippingAddress(&(*customer.ShippingAddresses)[i])...))
	}
	return out
}

// shippingAddress returns the elements of a shipping address.
func shippingAddress(a *v1.ShippingAddress) elementList {
	l := customerAddress(a.Contact(), a.Metadata[faxKey], v1.Text(a.Email))
	l.text("customerAddressId", decimal(id.ShippingAddress, a.ID))
	return derived(l, 2, "customerAddressId")
}

// withUnstored inserts the payment profiles that v1 does not store at their places in the request
// that made the customer.
func (v profileView) withUnstored(customer *v1.Customer, methods []*wire.Element) []*wire.Element {
	for position := 1; position <= maxPaymentProfiles; position++ {
		if l := v.unstored(customer, position); l != nil {
			methods = slices.Insert(methods, min(position-1, len(methods)), wire.GroupElement("paymentProfiles", l...))
		}
	}
	return methods
}

// unstored returns the elements of a payment profile that v1 does not store, nil if there is
// none at that position.
func (v profileView) unstored(customer *v1.Customer, position int) elementList {
	number := customer.Metadata[unstoredKey+strconv.Itoa(position)]
	if number == "" || strings.Trim(number, "X0123456789") != "" {
		return nil
	}
	var l elementList
	of := decimal(id.Customer, customer.ID)
	if v.names {
		l.text("customerProfileId", of)
	}
	l.text("customerPaymentProfileId", unstoredNumber(of, position))
	l.group("payment", maskedCard(number, maskedMonth, ""))
	return paymentProfileOrder(l)
}
