package executor

import (
	"context"
	"net/http"
	"slices"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// storedMethod reads the customer's payment method that the payment charges, and names it in the
// payment. It returns that method, and a result if it must not be charged. If the caller may not
// read the method, or v1 does not have it, v1 decides: its refusal settles earlier attempts under
// the same key.
func (s session) storedMethod(ctx context.Context, c *command.Authorize) (*v1.PaymentMethod, *command.Result) {
	if len(c.AcceptedBrands) == 0 || c.Body.Customer == nil {
		return nil, nil
	}
	name, refused := s.methodName(ctx, &c.Body)
	if name == "" {
		return nil, refused
	}
	method, r := s.method(ctx, *c.Body.Customer, name)
	if method == nil {
		return nil, unlessV1Decides(r)
	}
	c.Body.PaymentMethod = name
	switch {
	case method.Card == nil:
		c.Body.CardCvc = nil // a bank account has no security code
	case !slices.Contains(c.AcceptedBrands, method.Card.Brand):
		return method, &command.Result{
			Outcome: command.Unmet, Unmet: command.ConditionBrand, Methods: []v1.PaymentMethod{*method},
		}
	}
	return method, nil
}

// methodName returns the id of the payment method to charge: the named one, or the customer's
// default. Without one it returns "" and the result to give, if any.
func (s session) methodName(ctx context.Context, body *v1.TransactionCreate) (string, *command.Result) {
	if body.PaymentMethod != "" {
		return body.PaymentMethod, nil
	}
	customer, r := s.customer(ctx, *body.Customer)
	if customer == nil {
		return "", unlessV1Decides(r)
	}
	return v1.Text(customer.DefaultPaymentMethod), nil
}

// unlessV1Decides returns nil if the caller may not read the object or v1 does not have it, else r.
func unlessV1Decides(r command.Result) *command.Result {
	if r.Status == http.StatusForbidden || r.Outcome == command.NotFound {
		return nil
	}
	return &r
}

// method reads one payment method of a customer. It returns nil and the result to give if it
// cannot.
func (s session) method(ctx context.Context, customer, method string) (*v1.PaymentMethod, command.Result) {
	resp := s.x.call(ctx, func(ctx context.Context) (*http.Response, error) {
		return s.x.client.API.GetPaymentMethod(ctx, customer, method, nil, s.WithKey)
	})
	var m v1.PaymentMethod
	if r, ok := resp.read(&m, func() bool { return m.ID == method && m.Customer == customer }); !ok {
		return nil, r
	}
	return &m, command.Result{}
}
