package executor

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// maxCustomers bounds the list of all customers, and so the calls for it.
const maxCustomers = 20_000

// getCustomer reads a customer with its payment methods. A customer that is not complete yet is not
// found.
func (s session) getCustomer(ctx context.Context, c command.GetCustomer) command.Result {
	found, r := s.findCustomer(ctx, c)
	if found == nil {
		return r
	}
	methods, failed := s.methods(ctx, found.ID)
	if failed != nil {
		return *failed
	}
	return command.Result{Outcome: command.Done, Status: http.StatusOK, Customer: found, Methods: methods}
}

// findCustomer reads the customer that a command selects. It returns nil and the result to give if
// there is none.
func (s session) findCustomer(ctx context.Context, c command.GetCustomer) (*v1.Customer, command.Result) {
	none := command.Result{Outcome: command.NotFound, Status: http.StatusNotFound}
	if c.Customer != "" {
		name, err := id.Decimal(id.Customer, string(c.Customer))
		if err != nil {
			return nil, none
		}
		found, r := s.customer(ctx, name)
		switch {
		case found == nil:
			return nil, r
		case !complete(&found.Customer):
			return nil, none
		}
		return &found.Customer, command.Result{}
	}
	if c.Reference == "" && c.Email == "" { // it would select the merchant's oldest customer
		return nil, none
	}
	var oldest *v1.Customer
	params := v1.ListCustomersParams{Reference: v1.Optional(c.Reference), Email: v1.Optional(c.Email)}
	failed := s.eachCustomer(ctx, params, func(found seenCustomer) bool {
		if complete(&found.Customer) && (c.Reference == "" || found.Metadata[referenceFrom] == "") {
			oldest = &found.Customer
		}
		return true
	})
	switch {
	case failed != nil:
		return nil, *failed
	case oldest == nil:
		return nil, none
	}
	return oldest, command.Result{}
}

// listCustomers lists the ids of all complete customers.
func (s session) listCustomers(ctx context.Context) command.Result {
	r := command.Result{Outcome: command.Done, Status: http.StatusOK}
	failed := s.eachCustomer(ctx, v1.ListCustomersParams{}, func(found seenCustomer) bool {
		if complete(&found.Customer) {
			r.CustomerIDs = append(r.CustomerIDs, found.ID)
		}
		return len(r.CustomerIDs) <= maxCustomers
	})
	switch {
	case failed != nil:
		return *failed
	case len(r.CustomerIDs) > maxCustomers:
		return command.Result{Outcome: command.Refused, Code: command.CodeTooMany}
	}
	slices.Reverse(r.CustomerIDs)
	return r
}

// eachCustomer calls fn with the customers of a list of v1, newest first, until fn returns false.
func (s session) eachCustomer(
	ctx context.Context, of v1.ListCustomersParams, fn func(seenCustomer) bool,
) *command.Result {
	limit := pageOfV1
	of.Limit = &limit
	for {
		resp := s.x.call(ctx, func(ctx context.Context) (*http.Response, error) {
			return s.x.client.API.ListCustomers(ctx, &of, s.WithKey)
		})
		var page v1.CustomerList
		if r, ok := resp.read(&page, func() bool { return page.Data != nil }); !ok {
			return &r
		}
		for i := range page.Data {
			if !fn(seenCustomer{page.Data[i], resp.Date}) {
				return nil
			}
		}
		if !page.HasMore || len(page.Data) == 0 {
			return nil
		}
		of.StartingAfter = &page.Data[len(page.Data)-1].ID
	}
}

// methods reads the payment methods of a customer, oldest first. V1 bounds their number.
func (s session) methods(ctx context.Context, customer string) ([]v1.PaymentMethod, *command.Result) {
	limit := pageOfV1
	of := v1.ListPaymentMethodsParams{Limit: &limit}
	var methods []v1.PaymentMethod
	for {
		resp := s.x.call(ctx, func(ctx context.Context) (*http.Response, error) {
			return s.x.client.API.ListPaymentMethods(ctx, customer, &of, s.WithKey)
		})
		var page v1.PaymentMethodList
		if r, ok := resp.read(&page, func() bool { return page.Data != nil }); !ok {
			return nil, &r
		}
		methods = append(methods, page.Data...)
		if !page.HasMore || len(page.Data) == 0 {
			slices.Reverse(methods)
			return methods, nil
		}
		of.StartingAfter = &page.Data[len(page.Data)-1].ID
	}
}

// identify replaces the identifying fields of a customer, unless another one has the new ones.
// Under a name, v1's record of the key is read first: the customer may have been deleted since, and
// another one may have the fields.
func (s session) identify(ctx context.Context, c command.IdentifyCustomer) command.Result {
	if s.named() {
		number, err := id.Decimal(id.Customer, string(c.Customer))
		_, changed, failed := s.resourceUnderName(ctx)
		switch {
		case failed != nil:
			return *failed
		case err == nil && changed == number:
			s.keyResponse.replayed = true
			return command.Result{Outcome: command.Done, Status: http.StatusOK, Customer: &v1.Customer{ID: number}}
		}
	}
	there, r := s.findCustomer(ctx, command.GetCustomer{Customer: c.Customer})
	if there == nil {
		return r
	}
	as := command.CreateCustomer{Body: c.Body, Unmasked: c.Unmasked}
	other, _, failed := s.customersLike(ctx, as, there.ID)
	switch {
	case failed != nil:
		return *failed
	case other != nil:
		return command.Result{Outcome: command.Repeated, Status: http.StatusOK, Customer: other}
	}
	as.Body = findable(as.Body)
	updated, r := s.patchCustomer(ctx, there.ID, replacing(identified(as, s.AllNames()[0])), s.IdempotencyKey)
	if updated == nil {
		return r
	}
	return command.Result{Outcome: command.Done, Status: http.StatusOK, Customer: updated}
}

// replacing returns an update that also removes the identifying fields and marks that in lacks.
func replacing(in v1.CustomerInput) v1.CustomerInput {
	for _, field := range []**string{&in.Reference, &in.Description, &in.Email} {
		*field = new(v1.Text(*field))
	}
	marks := v1.Metadata{referenceFrom: "", identityKey: ""}
	if in.Metadata != nil {
		maps.Copy(marks, *in.Metadata)
	}
	in.Metadata = &marks
	return in
}

// updateCustomer changes fields of a customer.
func (s session) updateCustomer(ctx context.Context, c command.UpdateCustomer) command.Result {
	name, err := id.Decimal(id.Customer, string(c.Customer))
	if err != nil {
		return command.Result{Outcome: command.NotFound}
	}
	updated, r := s.patchCustomer(ctx, name, c.Body, s.IdempotencyKey)
	if updated == nil {
		return r
	}
	return command.Result{Outcome: command.Done, Status: http.StatusOK, Customer: updated}
}

// deleteNumbered deletes the customer with a number.
func (s session) deleteNumbered(ctx context.Context, c command.DeleteCustomer) command.Result {
	name, err := id.Decimal(id.Customer, string(c.Customer))
	if err != nil {
		return command.Result{Outcome: command.NotFound}
	}
	return s.delete(ctx, func(ctx context.Context) (*http.Response, error) {
		return s.x.client.API.DeleteCustomer(ctx, name, nil, s.WithKey)
	})
}

// delete sends a deletion. If an attempt without a response has deleted the object, the next one
// finds nothing.
func (s session) delete(ctx context.Context, send v1client.Send) command.Result {
	var attempts v1client.Earlier
	resp := response{s.x.client.CallAfter(ctx, &attempts, "", send)}
	switch {
	case resp.Status/100 == 2, resp.Status == http.StatusNotFound && attempts.Claimed:
		return command.Result{Outcome: command.Done, Status: resp.Status}
	}
	return resp.result()
}
