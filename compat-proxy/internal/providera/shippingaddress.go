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

// faxKey is the metadata entry of a shipping address with its fax number.
const faxKey = "fax"

// shippingInput converts a shipping address to v1's form. It returns false if the address has no
// field that v1 stores: a fax number alone is no address.
func shippingInput(address wire.Node) (v1.ShippingAddressInput, bool) {
	c := contact(address)
	if c == nil {
		return v1.ShippingAddressInput{}, false
	}
	in := v1.ShippingAddressInput{
		FirstName: c.FirstName, LastName: c.LastName, Company: c.Company, Email: c.Email, Phone: c.Phone, Address: c.Address,
	}
	if fax := address.Get("faxNumber"); fax != "" {
		in.Metadata = &v1.Metadata{faxKey: fax}
	}
	return in, true
}

// isDefault returns the mark of a request whose address becomes the default, nil for any other: it
// leaves the marks as they are.
func isDefault(req wire.Node) *bool {
	if !isTrue(req.Get("defaultShippingAddress")) {
		return nil
	}
	return new(true)
}

// duplicateAddress refuses a shipping address that the profile has already.
var duplicateAddress = problem{API: apiDuplicate, Text: "A duplicate customer shipping address already exists."}

// addressResult returns the problem of a request that creates or changes a shipping address.
func addressResult(r command.Result) problem {
	switch {
	case r.Outcome == command.Repeated:
		return duplicateAddress
	case r.Unmet == command.ConditionMost:
		return refuse(apiTooManyAddresses)
	}
	return recordProblem(r)
}

// createAddress serves a createCustomerShippingAddressRequest.
func (h *Handler) createAddress(ctx context.Context, c call) (*wire.Document, problem) {
	in, ok := shippingInput(c.req.Root.Child("address"))
	if !ok {
		return finished(createAddressResponse, c.req.RefID, refuse(apiEmptyProfile))
	}
	in.Default = isDefault(c.req.Root)
	do := command.AddAddress{Customer: number(c.req.Root.Get("customerProfileId")), Address: in}
	if p := h.bind(ctx, c, createAddressResponse, do); !p.none() {
		return finished(createAddressResponse, c.req.RefID, p)
	}
	r := h.execute(ctx, c, do)
	p := addressResult(r)
	var own elementList
	if p.none() || p.API == apiDuplicate {
		own.text("customerProfileId", decimal(id.Customer, r.Customer.ID))
		own.text("customerAddressId", decimal(id.ShippingAddress, r.Address.ID))
	}
	if p.none() {
		return document(createAddressResponse, c.req.RefID, wire.ResultOK, refuse(apiOK), own...), p
	}
	return document(createAddressResponse, c.req.RefID, wire.ResultError, p, own...), p
}

// findAddress returns the shipping address of a customer with a number, or the default one if the
// number is empty; nil for none.
func findAddress(of *v1.Customer, number string) *v1.ShippingAddress {
	if of.ShippingAddresses == nil {
		return nil
	}
	number = withoutZeros(number)
	for i := range *of.ShippingAddresses {
		a := &(*of.ShippingAddresses)[i]
		if number == "" && a.Default || number != "" && decimal(id.ShippingAddress, a.ID) == number {
			return a
		}
	}
	return nil
}

// getAddress serves a getCustomerShippingAddressRequest.
func (h *Handler) getAddress(ctx context.Context, c call) (*wire.Document, problem) {
	r := h.execute(ctx, c, command.GetCustomer{Customer: number(c.req.Root.Get("customerProfileId"))})
	p := recordProblem(r)
	var found *v1.ShippingAddress
	if p.none() {
		given := c.req.Root.Get("customerAddressId")
		switch found = findAddress(r.Customer, given); {
		case found == nil && given == "":
			p = refuse(apiNoDefault)
		case found == nil:
			p = refuse(apiNoRecord)
		}
	}
	if !p.none() {
		return finished(getAddressResponse, c.req.RefID, p)
	}
	var own elementList
	if found.Default {
		own.raw("defaultShippingAddress", "true")
	}
	own.group("address", shippingAddress(found)...)
	return document(getAddressResponse, c.req.RefID, wire.ResultOK, refuse(apiOK), own...), p
}

// updateAddress serves an updateCustomerShippingAddressRequest. The members that it does not have
// are removed.
func (h *Handler) updateAddress(ctx context.Context, c call) (*wire.Document, problem) {
	address := c.req.Root.Child("address")
	in, ok := shippingInput(address)
	if !ok {
		return finished(updateAddressResponse, c.req.RefID, refuse(apiEmptyProfile))
	}
	in.Default, in.Metadata = isDefault(c.req.Root), &v1.Metadata{faxKey: address.Get("faxNumber")}
	do := command.ChangeAddress{
		Customer: number(c.req.Root.Get("customerProfileId")), Address: number(address.Get("customerAddressId")), Body: in,
	}
	if p := h.bind(ctx, c, updateAddressResponse, do); !p.none() {
		return finished(updateAddressResponse, c.req.RefID, p)
	}
	p := addressResult(h.execute(ctx, c, do))
	if p.API == apiNoRecord {
		p.Text = "Cannot find the specified shipping address."
	}
	return finished(updateAddressResponse, c.req.RefID, p)
}

// deleteAddress serves a deleteCustomerShippingAddressRequest.
func (h *Handler) deleteAddress(ctx context.Context, c call) (*wire.Document, problem) {
	return h.remove(ctx, c, deleteAddressResponse, command.DeleteAddress{
		Customer: number(c.req.Root.Get("customerProfileId")), Address: number(c.req.Root.Get("customerAddressId")),
	})
}

// noAddress refuses the number of a shipping address that the profile of a payment does not have.
func noAddress() problem {
	return problem{API: apiNoRecord, Text: "Customer Shipping Address ID not found."}
}
