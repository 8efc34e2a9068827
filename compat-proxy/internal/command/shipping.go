package command

import "context"

// address copies the customer's shipping address into the payment. It returns a result if it cannot
// read the customer, or the customer has no address. V1 refuses an unknown customer, as in
// storedMethod.
func (s session) address(ctx context.Context, c *Authorize) *Result {
	if !c.ShipToCustomer {
		return nil
	}
	customer, r := s.customer(ctx, textOf(c.Body.Customer))
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
