package executor

import (
	"context"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// address copies the customer's shipping address into the payment. It returns a result if it cannot
// read the customer, or the customer has no address. V1 refuses an unknown customer, as in
// storedMethod.
func (s session) address(ctx context.Context, c *command.Authorize) *command.Result {
	if !c.ShipToCustomer {
		return nil
	}
	customer, r := s.customer(ctx, v1.Text(c.Body.Customer))
	switch {
	case customer == nil && r.Outcome == command.NotFound:
		return nil
	case customer == nil:
		return &r
	case customer.Shipping == nil:
		return &command.Result{Outcome: command.Unmet, Unmet: command.ConditionShipping}
	}
	c.Body.Shipping = customer.Shipping
	return nil
}
