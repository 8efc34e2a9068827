package providera

import (
	"cmp"
	"context"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// The roots of the responses about profiles.
const (
	getProfileResponse    = "getCustomerProfileResponse"
	profileIDsResponse    = "getCustomerProfileIdsResponse"
	updateProfileResponse = "updateCustomerProfileResponse"
	deleteProfileResponse = "deleteCustomerProfileResponse"
)

// getProfile serves a getCustomerProfileRequest.
func (h *Handler) getProfile(ctx context.Context, c call) (*wire.Document, problem) {
	find := command.GetCustomer{Customer: number(c.req.Root.Get("customerProfileId"))}
	if find.Customer == "" {
		find.Reference, find.Email = c.req.Root.Get("merchantCustomerId"), c.req.Root.Get("email")
	}
	if find == (command.GetCustomer{}) {
		p := missing("Customer Profile ID")
		return refusal(getProfileResponse, c.req.RefID, p), p
	}
	return profileDocument(c.req, h.execute(ctx, c, find))
}

// profileDocument builds the response to a getCustomerProfileRequest. It is pure.
func profileDocument(req *wire.Request, r command.Result) (*wire.Document, problem) {
	if p := recordProblem(r); !p.none() {
		return refusal(getProfileResponse, req.RefID, p), p
	}
	profile := wire.GroupElement("profile", newProfileView(req).profile(r)...)
	return document(getProfileResponse, req.RefID, wire.ResultOK, refuse(apiOK), profile), problem{}
}

// profileIDs serves a getCustomerProfileIdsRequest.
func (h *Handler) profileIDs(ctx context.Context, c call) (*wire.Document, problem) {
	r := h.execute(ctx, c, command.ListCustomers{})
	if p := recordProblem(r); !p.none() {
		return refusal(profileIDsResponse, c.req.RefID, p), p
	}
	numbers := make([]string, len(r.CustomerIDs))
	for i, customer := range r.CustomerIDs {
		numbers[i] = decimal(id.Customer, customer)
	}
	return document(profileIDsResponse, c.req.RefID, wire.ResultOK, refuse(apiOK),
		texts("ids", "numericString", numbers)), problem{}
}

// updateProfile serves an updateCustomerProfileRequest. The fields that it does not have are
// removed.
func (h *Handler) updateProfile(ctx context.Context, c call) (*wire.Document, problem) {
	profile := c.req.Root.Child("profile")
	do := command.IdentifyCustomer{
		Customer: number(profile.Get("customerProfileId")), Body: identifying(profile),
	}
	p := problem{}
	switch {
	case do.Customer == "":
		p = missing("Customer Profile ID")
	case do.Body == (v1.CustomerInput{}):
		p = refuse(apiEmptyProfile)
	}
	do.Body.Metadata = &v1.Metadata{emptyProfileKey: ""}
	if kind := profile.Get("profileType"); kind != "" {
		(*do.Body.Metadata)[customerKindKey] = kind
	}
	if p.none() {
		p = h.bind(ctx, c, updateProfileResponse, do)
	}
	if p.none() {
		p = recordProblem(h.execute(ctx, c, do))
	}
	return finished(updateProfileResponse, c.req.RefID, p)
}

// deleteProfile serves a deleteCustomerProfileRequest.
func (h *Handler) deleteProfile(ctx context.Context, c call) (*wire.Document, problem) {
	return h.remove(ctx, c, deleteProfileResponse, command.DeleteCustomer{
		Customer: number(c.req.Root.Get("customerProfileId")),
	})
}

// remove serves a request that deletes a record. It has no name: a repetition deletes nothing else.
func (h *Handler) remove(ctx context.Context, c call, root string, do command.Command) (*wire.Document, problem) {
	c.name = ""
	return finished(root, c.req.RefID, recordProblem(h.execute(ctx, c, do)))
}

// finished builds the response to a request that returns nothing but its result.
func finished(root string, refID *string, p problem) (*wire.Document, problem) {
	if !p.none() {
		return refusal(root, refID, p), p
	}
	return document(root, refID, wire.ResultOK, refuse(apiOK)), p
}

// recordProblem returns the problem of a request about a stored record.
func recordProblem(r command.Result) problem {
	if r.Outcome == command.NotFound {
		return refuse(apiNoRecord)
	}
	return judgeProfile(r)
}

// regularProfile is the kind of a profile that was made without one.
const regularProfile = "regular"

// profile returns the elements of a customer and its parts, in schema order.
func (v profileView) profile(r command.Result) elementList {
	customer := r.Customer
	reference := customer.Reference
	if customer.Metadata["reference_from"] != "" { // v1 lists the customer by a copy of its description
		reference = nil
	}
	methods := make([]*wire.Element, len(r.Methods))
	for i := range r.Methods {
		methods[i] = wire.GroupElement("paymentProfiles", v.method(customer, &r.Methods[i])...)
	}
	var l elementList
	l.stored("merchantCustomerId", reference, 20)
	l.stored("description", customer.Description, 255)
	l.stored("email", customer.Email, 255)
	l = withEmpty(l, customer.Metadata[emptyProfileKey], identifyingFields)
	l.text("customerProfileId", decimal(id.Customer, customer.ID))
	l.repeated("paymentProfiles", v.withUnstored(customer, methods)...)
	l.repeated("shipToList", shippingAddresses(customer)...)
	kind := customer.Metadata[customerKindKey]
	if !wire.ProfileType.Allows(kind) {
		kind = ""
	}
	l.text("profileType", cmp.Or(kind, regularProfile))
	return derived(derived(l, 2, "paymentProfiles", "shipToList", "profileType"), 1, "customerProfileId")
}
