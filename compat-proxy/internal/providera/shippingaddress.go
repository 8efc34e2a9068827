package providera

import (
	"context"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// The roots of the responses about shipping addresses.
const (
	createAddressResponse = "createCustomerShippingAddressResponse"
	getAddressResponse    = "getCustomerShippingAddressResponse"
	updateAddressResponse = "updateCustomerShippingAddressResponse"
	deleteAddressResponse = "deleteCustomerShippingAddressResponse"
)

// The metadata entries of a customer about its shipping address.
const (
	shippingFaxKey     = "shipping_fax"
	defaultShippingKey = "shipping_default"
)

// addressOwner reads the customer of a request about a shipping address.
func (h *Handler) addressOwner(ctx context.Context, c call) (*v1.Customer, problem) {
	r := h.execute(ctx, c, command.GetCustomer{Customer: number(c.req.Root.Get("customerProfileId"))})
	return r.Customer, recordProblem(r)
}

// hasAddress reports whether a customer has the shipping address with a number: the one address has
// the number of its customer.
func hasAddress(of *v1.Customer, number string) bool {
	return of.Shipping != nil && withoutZeros(number) == decimal(id.Customer, of.ID)
}

// setAddress returns the command that replaces the shipping address of a customer. Without an
// address it removes the stored one.
func setAddress(of *v1.Customer, address wire.Node, isDefault string) command.UpdateCustomer {
	shipping, mark := contact(address), ""
	if shipping == nil {
		shipping = &v1.Contact{}
	}
	if isTrue(isDefault) {
		mark = "true"
	}
	return command.UpdateCustomer{Customer: command.Number(decimal(id.Customer, of.ID)), Body: v1.CustomerInput{
		Shipping: shipping,
		Metadata: &v1.Metadata{shippingFaxKey: address.Get("faxNumber"), defaultShippingKey: mark},
	}}
}

// createAddress serves a createCustomerShippingAddressRequest.
func (h *Handler) createAddress(ctx context.Context, c call) (*wire.Document, problem) {
	address := c.req.Root.Child("address")
	if contact(address) == nil { // a fax number alone is no address in v1
		return finished(createAddressResponse, c.req.RefID, refuse(apiEmptyProfile))
	}
	c.name = "" // a retry finds its address, and responds as to a duplicate
	of, p := h.addressOwner(ctx, c)
	if !p.none() {
		return finished(createAddressResponse, c.req.RefID, p)
	}
	switch {
	case of.Shipping == nil:
		p = recordProblem(h.execute(ctx, c, setAddress(of, address, c.req.Root.Get("defaultShippingAddress"))))
	case sameAddress(of.Shipping, contact(address)):
		p = problem{API: apiDuplicate, Text: "A duplicate customer shipping address already exists."}
	default:
		p = refuse(apiTooManyAddresses)
	}
	var own elementList
	if p.none() || p.API == apiDuplicate {
		number := decimal(id.Customer, of.ID)
		own.text("customerProfileId", number)
		own.text("customerAddressId", number)
	}
	if p.none() {
		return document(createAddressResponse, c.req.RefID, wire.ResultOK, refuse(apiOK), own...), p
	}
	return document(createAddressResponse, c.req.RefID, wire.ResultError, p, own...), p
}

// sameAddress reports whether two addresses are equal by the fields that the dialect compares.
func sameAddress(a, b *v1.Contact) bool {
	same := func(a, b *string) bool { return v1.Text(a) == v1.Text(b) }
	if a == nil || b == nil || !same(a.FirstName, b.FirstName) || !same(a.LastName, b.LastName) ||
		!same(a.Phone, b.Phone) {
		return false
	}
	var first, second v1.Address
	if a.Address != nil {
		first = *a.Address
	}
	if b.Address != nil {
		second = *b.Address
	}
	return same(first.Line1, second.Line1) && same(first.Line2, second.Line2) && same(first.PostalCode, second.PostalCode)
}

// getAddress serves a getCustomerShippingAddressRequest.
func (h *Handler) getAddress(ctx context.Context, c call) (*wire.Document, problem) {
	of, p := h.addressOwner(ctx, c)
	number := c.req.Root.Get("customerAddressId")
	switch {
	case !p.none():
	case number == "" && (of.Shipping == nil || of.Metadata[defaultShippingKey] == ""):
		p = refuse(apiNoDefault)
	case number != "" && !hasAddress(of, number):
		p = refuse(apiNoRecord)
	}
	if !p.none() {
		return finished(getAddressResponse, c.req.RefID, p)
	}
	var own elementList
	if of.Metadata[defaultShippingKey] != "" {
		own.raw("defaultShippingAddress", "true")
	}
	own.group("address", shippingAddress(of)...)
	return document(getAddressResponse, c.req.RefID, wire.ResultOK, refuse(apiOK), own...), p
}

// updateAddress serves an updateCustomerShippingAddressRequest. The members that it does not have
// are removed.
func (h *Handler) updateAddress(ctx context.Context, c call) (*wire.Document, problem) {
	c.name = "" // it sets the whole address, so a repetition has no other effect
	address := c.req.Root.Child("address")
	isDefault := c.req.Root.Get("defaultShippingAddress")
	of, p := h.addressOwner(ctx, c)
	switch {
	case p.API == apiNoRecord, p.none() && !hasAddress(of, address.Get("customerAddressId")):
		p = problem{API: apiNoRecord, Text: "Cannot find the specified shipping address."}
	case p.none() && contact(address) == nil:
		p = refuse(apiEmptyProfile)
	case p.none():
		if of.Metadata[defaultShippingKey] != "" {
			isDefault = "true"
		}
		p = recordProblem(h.execute(ctx, c, setAddress(of, address, isDefault)))
	}
	return finished(updateAddressResponse, c.req.RefID, p)
}

// deleteAddress serves a deleteCustomerShippingAddressRequest.
func (h *Handler) deleteAddress(ctx context.Context, c call) (*wire.Document, problem) {
	of, p := h.addressOwner(ctx, c)
	if p.none() && !hasAddress(of, c.req.Root.Get("customerAddressId")) {
		p = refuse(apiNoRecord)
	}
	if !p.none() {
		return finished(deleteAddressResponse, c.req.RefID, p)
	}
	return h.remove(ctx, c, deleteAddressResponse, setAddress(of, wire.Node{}, ""))
}
