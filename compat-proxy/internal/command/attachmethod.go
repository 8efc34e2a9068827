package command

import (
	"context"
	"net/http"

	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// AttachMethod gives an existing customer a payment method, without a security code. For 24 hours
// an equal command has no effect and gets the first payment method.
type AttachMethod struct {
	// Customer is the id of the customer in v1.
	Customer string    `json:"customer"`
	Method   NewMethod `json:"method"`
}

// Kind implements Command. Legacy methods attach payment methods where they also create customers.
func (AttachMethod) Kind() Kind { return CustomerCreate }

// attachMethod makes a token and attaches it under keys derived from the content. So a retry at any
// proxy continues at the step where the earlier request stopped.
func (s session) attachMethod(ctx context.Context, c AttachMethod) Result {
	alone := CreateCustomer{Methods: []NewMethod{c.Method}}.withoutCodes()
	content, err := v1.MarshalRevealed(alone)
	if err != nil {
		return unencodable()
	}
	key := func(n naming) string { return "attach-" + n.derive([]string{c.Customer, string(content)}) }
	names, failed := s.chooseNames(ctx, func(n naming) string { return maker{key: key(n)}.firstMethodKey() })
	if failed != nil {
		return *failed
	}
	m := maker{session: s.step(s.idempotencyKey), command: alone, key: key(names), contentKey: key(names)}
	tokens, failed := m.tokens(ctx)
	if failed != nil {
		return *failed
	}
	method, r := m.attach(ctx, c.Customer, 0, tokens[0])
	if method == nil {
		return r
	}
	return Result{
		Outcome: Done, Status: http.StatusCreated, Customer: &v1.Customer{ID: c.Customer},
		Methods: []v1.PaymentMethod{*method},
	}
}

// masked returns the command without card numbers in its texts.
func (c AttachMethod) masked() (Command, error) {
	var own []secret.String
	if card := c.Method.Token.Body.Card; card != nil {
		own = []secret.String{card.Number}
	}
	var err error
	c.Method, err = maskedMethod(c.Method, own)
	return c, err
}
