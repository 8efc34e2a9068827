package command

import (
	"context"
	"net/http"
	"slices"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// stored looks at what the payment's customer pays with, and has it name the one payment method that is charged: then a default and the same
// one named make equal requests. It returns that method, and a result when it is not to be charged. A caller who may not look leaves all of it
// to v1.
func (s session) stored(ctx context.Context, c *Authorize) (*v1.PaymentMethod, *Result) {
	if len(c.Takes) == 0 || c.Body.Customer == nil {
		return nil, nil
	}
	name, refused := s.methodName(ctx, &c.Body)
	if name == "" {
		return nil, refused
	}
	method, r := s.method(ctx, *c.Body.Customer, name)
	switch {
	case method == nil && r.Outcome == NotFound: // of nobody, or of another customer
		return nil, &Result{Outcome: Refused, Status: http.StatusBadRequest, Code: CodeUnknownMethod}
	case method == nil:
		return nil, barred(r)
	}
	c.Body.PaymentMethod = name
	switch {
	case method.Card == nil:
		c.Body.CardCvc = nil // a bank account has none
	case !slices.Contains(c.Takes, method.Card.Brand):
		return method, &Result{Outcome: Unmet, Unmet: ConditionBrand, Methods: []v1.PaymentMethod{*method}}
	}
	return method, nil
}

// methodName is the id of the payment method that is to be charged: the one named, or the customer's default. Without one it returns "" and
// the result to give, if any.
func (s session) methodName(ctx context.Context, body *v1.TransactionCreate) (string, *Result) {
	if body.PaymentMethod != "" {
		return body.PaymentMethod, nil
	}
	customer, r := s.customer(ctx, *body.Customer)
	switch {
	case customer == nil && r.Outcome == NotFound:
		return "", &Result{Outcome: Refused, Status: http.StatusBadRequest, Code: CodeUnknownCustomer}
	case customer == nil:
		return "", barred(r)
	case customer.DefaultPaymentMethod == nil:
		return "", &Result{Outcome: Refused, Status: http.StatusBadRequest, Code: CodeMissingField, Param: "payment_method"}
	}
	return *customer.DefaultPaymentMethod, nil
}

// barred is nil for a caller who may not look.
func barred(r Result) *Result {
	if r.Status == http.StatusForbidden {
		return nil
	}
	return &r
}

// method reads one payment method of a customer; nil with a result when it can not.
func (s session) method(ctx context.Context, customer, method string) (*v1.PaymentMethod, Result) {
	a := s.x.call(ctx, func(ctx context.Context) (*http.Response, error) {
		return s.x.client.GetPaymentMethod(ctx, customer, method, s.authorized)
	})
	var m v1.PaymentMethod
	if r, ok := a.read(&m, func() bool { return m.ID == method && m.Customer == customer }); !ok {
		return nil, r
	}
	return &m, Result{}
}
