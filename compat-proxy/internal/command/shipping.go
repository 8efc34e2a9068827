package command

import (
	"context"
	"net/http"
)

// address fills in where the customer's goods go. It returns a result when that can not be told.
func (s session) address(ctx context.Context, c *Authorize) *Result {
	if !c.ShipToCustomer {
		return nil
	}
	customer, r := s.customer(ctx, text(c.Body.Customer))
	switch {
	case customer == nil && r.Outcome == NotFound:
		return &Result{Outcome: Refused, Status: http.StatusBadRequest, Code: CodeUnknownCustomer}
	case customer == nil:
		return &r
	case customer.Shipping == nil:
		return &Result{Outcome: Unmet, Unmet: ConditionShipping}
	}
	c.Body.Shipping = customer.Shipping
	return nil
}
