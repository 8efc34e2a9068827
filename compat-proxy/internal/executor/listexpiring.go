package executor

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// maxSearched bounds the customers whose payment methods are searched, because each takes a call.
const maxSearched = 5_000

// listExpiring reads the payment methods of all complete customers, because v1 lists them for one
// customer only.
func (s session) listExpiring(ctx context.Context, c command.ListExpiring) command.Result {
	customers, failed := s.searched(ctx)
	if failed != nil {
		return *failed
	}
	var found []command.StoredMethod
	for _, of := range customers {
		methods, failed := s.methods(ctx, of.id)
		switch {
		case failed == nil:
		case failed.Outcome == command.NotFound: // deleted meanwhile
		default:
			return *failed
		}
		for i := range methods {
			m := &methods[i]
			if m.Card == nil || m.Card.ExpMonth != c.Month || m.Card.ExpYear != c.Year {
				continue
			}
			found = append(found, command.StoredMethod{
				Method: *m, Default: of.byDefault == m.ID,
			})
		}
	}
	slices.SortFunc(found, func(a, b command.StoredMethod) int { return cmp.Compare(a.Method.ID, b.Method.ID) })
	if c.NewestFirst {
		slices.Reverse(found)
	}
	list := &command.StoredMethods{Total: len(found)}
	list.Rows = found[min(c.Skip, len(found)):min(c.Skip+c.Limit, len(found))]
	return command.Result{Outcome: command.Done, Status: http.StatusOK, Stored: list}
}

// searchedCustomer is a customer whose payment methods are searched, without its data: up to
// maxSearched customers of 256 KiB would fill the memory.
type searchedCustomer struct{ id, byDefault string }

// searched lists all complete customers. If they are too many, no payment method is read.
func (s session) searched(ctx context.Context) ([]searchedCustomer, *command.Result) {
	var customers []searchedCustomer
	failed := s.eachCustomer(ctx, v1.ListCustomersParams{}, func(of seenCustomer) bool {
		if complete(&of.Customer) {
			customers = append(customers, searchedCustomer{
				strings.Clone(of.ID), strings.Clone(v1.Text(of.DefaultPaymentMethod)),
			})
		}
		return len(customers) <= maxSearched
	})
	if failed == nil && len(customers) > maxSearched {
		failed = &command.Result{Outcome: command.Refused, Code: command.CodeTooMany}
	}
	return customers, failed
}

// findEqual finds the customer with the same identifying fields.
func (s session) findEqual(ctx context.Context, c command.FindCustomer) command.Result {
	same, _, failed := s.customersLike(ctx, command.CreateCustomer{Body: c.Body, Unmasked: c.Unmasked}, "")
	switch {
	case failed != nil:
		return *failed
	case same == nil:
		return command.Result{Outcome: command.NotFound, Status: http.StatusNotFound}
	}
	return command.Result{Outcome: command.Repeated, Status: http.StatusOK, Customer: same}
}
