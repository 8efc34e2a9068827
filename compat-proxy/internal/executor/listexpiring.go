package executor

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// maxSearched bounds the customers whose payment methods are searched, because each takes a call.
const maxSearched = 5_000

// expiringMethod is a found payment method without its data: a merchant can have hundreds of
// thousands of them.
type expiringMethod struct {
	number int64 // of its id
	of     int   // index of its customer
}

// listExpiring reads the payment methods of all complete customers, because v1 lists them for one
// customer only. It then reads the ones of the page again.
func (s session) listExpiring(ctx context.Context, c command.ListExpiring) command.Result {
	customers, failed := s.searched(ctx)
	if failed != nil {
		return *failed
	}
	var found []expiringMethod
	for i, of := range customers {
		methods, failed := s.methods(ctx, of.id)
		switch {
		case failed == nil:
		case failed.Outcome == command.NotFound: // deleted meanwhile
		default:
			return *failed
		}
		for j := range methods {
			number, err := id.Parse(id.PaymentMethod, methods[j].ID)
			if err == nil && expires(&methods[j], c) {
				found = append(found, expiringMethod{number, i})
			}
		}
	}
	slices.SortFunc(found, func(a, b expiringMethod) int { return cmp.Compare(a.number, b.number) })
	if c.NewestFirst {
		slices.Reverse(found)
	}
	list := &command.StoredMethods{Total: len(found)}
	for _, f := range found[min(c.Skip, len(found)):min(c.Skip+c.Limit, len(found))] {
		of, name := customers[f.of], id.Format(id.PaymentMethod, f.number)
		method, r := s.method(ctx, of.id, name)
		switch {
		case method != nil && expires(method, c):
			list.Rows = append(list.Rows, command.StoredMethod{Method: *method, Default: of.byDefault == name})
		case method != nil, r.Outcome == command.NotFound: // changed or deleted meanwhile
		default:
			return r
		}
	}
	return command.Result{Outcome: command.Done, Status: http.StatusOK, Stored: list}
}

// expires reports whether a payment method is a card that a command lists.
func expires(m *v1.PaymentMethod, c command.ListExpiring) bool {
	return m.Card != nil && m.Card.ExpMonth == c.Month && m.Card.ExpYear == c.Year
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
