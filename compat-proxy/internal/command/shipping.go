package command

import "context"

// address puts the customer's address into the payment. It returns a result if that cannot be read or
// the customer has none. An unknown customer is left to v1, as in stored.
func (s session) address(ctx context.Context, c *Authorize) *Result {
	if !c.ShipToCustomer {
		return nil
	}
	customer, r := s.customer(ctx, text(c.Body.Customer))
	switch {
	case customer == nil && r.Outcome == NotFound:
		return nil
	case customer == nil:
		return &r
	case customer.Shipping == nil:
		return &Result{Outcome: Unmet, Unmet: ConditionShipping}
	}
	c.Body.Shipping = customer.Shipping
	return nil
}
