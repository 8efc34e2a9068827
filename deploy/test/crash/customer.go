package crash

import (
	"context"
	"fmt"
	"net/http"
)

// change prepares a PATCH or DELETE, which may be sent again without a key.
func (t *teller) change(kind Kind, method, path, body string) *Call {
	return &Call{Kind: kind, Method: method, Path: path, Body: body, Marker: t.marker()}
}

// customer prepares a customer.
func (t *teller) customer() *Call {
	c := t.post(CustomerCreate, "/v1/customers", "")
	c.Body = fmt.Sprintf(`{"reference":%q,"email":"a@example.com"}`, c.Marker)
	return c
}

// attach prepares a payment method of a customer.
func (t *teller) attach(customer, token string) *Call {
	c := t.post(MethodAttach, "/v1/customers/"+customer+"/payment_methods", "")
	c.On, c.Body = customer, fmt.Sprintf(`{"token":%q,"metadata":{"marker":%q}}`, token, c.Marker)
	return c
}

// customerStory is a customer who pays again, until they leave.
func (t *teller) customerStory(ctx context.Context) error {
	c := t.customer()
	if err := t.must(ctx, c); err != nil {
		return err
	}
	id := c.Answer.id()
	for range t.rng.IntN(3) {
		update := t.change(CustomerUpdate, http.MethodPatch, "/v1/customers/"+id, fmt.Sprintf(`{"description":"%d"}`, t.rng.IntN(1000)))
		update.On = id
		if err := t.do(ctx, update); err != nil {
			return err
		}
	}
	token := t.token(t.chance(50))
	if err := t.must(ctx, token); err != nil {
		return err
	}
	attach := t.attach(id, token.Answer.value())
	if err := t.must(ctx, attach); err != nil {
		return err
	}
	method := attach.Answer.id()
	for range 1 + t.rng.IntN(2) {
		pay := t.create(1000+t.rng.Int64N(9000), pick(t, "automatic", "automatic", "manual"), fmt.Sprintf(`"payment_method":%q`, method))
		pay.Body = fmt.Sprintf(`{"amount":%d,"currency":"usd","reference":%q,"payment_method":%q,"customer":%q,"initiator":{"type":"merchant","reason":"unscheduled"}}`,
			1000+t.rng.Int64N(9000), pay.Marker, method, id)
		if err := t.do(ctx, pay); err != nil {
			return err
		}
	}
	if t.chance(40) {
		detach := t.change(MethodDetach, http.MethodDelete, "/v1/customers/"+id+"/payment_methods/"+method, "")
		detach.On = method
		if err := t.do(ctx, detach); err != nil {
			return err
		}
	}
	if t.chance(40) {
		leave := t.change(CustomerDelete, http.MethodDelete, "/v1/customers/"+id, "")
		leave.On = id
		return t.do(ctx, leave)
	}
	return nil
}
