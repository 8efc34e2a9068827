package executor

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// changeMethod changes a payment method. The update sets values that do not depend on the old ones,
// so a retry after a lost response has no other effect. Under a name, v1's record of the key is
// read first: the payment method may have been changed again or deleted since.
func (s session) changeMethod(ctx context.Context, c command.ChangeMethod) command.Result {
	customer, errCustomer := id.Decimal(id.Customer, string(c.Customer))
	method, errMethod := id.Decimal(id.PaymentMethod, string(c.Method))
	if errCustomer != nil || errMethod != nil {
		return command.Result{Outcome: command.NotFound}
	}
	r := command.Result{Outcome: command.Done, Status: http.StatusOK, Customer: &v1.Customer{ID: customer}}
	if s.named() {
		_, changed, failed := s.resourceUnderName(ctx)
		switch {
		case failed != nil:
			return *failed
		case changed == method:
			s.keyResponse.replayed = true
			r.Methods = []v1.PaymentMethod{{ID: method, Customer: customer}}
			return s.changed(ctx, c, r)
		}
	}
	return s.updateMethod(ctx, c, method, r)
}

// updateMethod changes the payment method with an id, unless its customer has an equal one, and
// returns the result r with it.
func (s session) updateMethod(
	ctx context.Context, c command.ChangeMethod, method string, r command.Result,
) command.Result {
	customer := r.Customer.ID
	methods, failed := s.methods(ctx, customer)
	if failed != nil {
		return *failed
	}
	i := slices.IndexFunc(methods, func(m v1.PaymentMethod) bool { return m.ID == method })
	if i < 0 {
		return command.Result{Outcome: command.NotFound, Status: http.StatusNotFound}
	}
	s = s.step(s.IdempotencyKey)
	in, wanted, failed := s.change(ctx, c, methods[i])
	if failed != nil {
		return *failed
	}
	for j := range methods {
		if j != i && equalMethods(&methods[j], wanted) {
			r.Outcome, r.Methods = command.Repeated, methods[j:j+1]
			return r
		}
	}
	updated, refused := s.patchMethod(ctx, customer, method, in)
	if updated == nil {
		return refused
	}
	r.Methods = []v1.PaymentMethod{*updated}
	return s.changed(ctx, c, r)
}

// changed returns the result r of a change, after it has made the payment method the default if the
// command wants that.
func (s session) changed(ctx context.Context, c command.ChangeMethod, r command.Result) command.Result {
	if !c.Default {
		return r
	}
	s = s.step(s.IdempotencyKey)
	in := v1.CustomerInput{DefaultPaymentMethod: &r.Methods[0].ID}
	if done, failed := s.patchCustomer(ctx, r.Customer.ID, in, s.IdempotencyKey+"-default"); done == nil {
		return failed
	}
	return r
}

// methodUpdate is the body of an update. It keeps an empty contact, which removes the stored one.
type methodUpdate struct {
	Card     *v1.CardExpiry    `json:"card,omitzero"`
	Token    string            `json:"token,omitzero"`
	Billing  *v1.Contact       `json:"billing,omitzero"`
	Metadata map[string]string `json:"metadata,omitzero"`
}

// change returns the update for a command, and the payment method as it will be.
func (s session) change(
	ctx context.Context, c command.ChangeMethod, stored v1.PaymentMethod,
) (*methodUpdate, *v1.PaymentMethod, *command.Result) {
	in, wanted := methodUpdate{Billing: c.Billing, Metadata: c.Metadata}, stored
	if c.Billing != nil {
		wanted.Billing = c.Billing
	}
	if c.New != nil {
		r := s.token(ctx, *c.New, s.IdempotencyKey+"-token")
		if r.Token == nil {
			r.Position = 1
			return nil, nil, &r
		}
		in.Token = r.Token.Value.Reveal()
		wanted.Card, wanted.BankAccount = r.Token.Card, r.Token.BankAccount
		return &in, &wanted, nil
	}
	if unmet := unmetByMethod(&stored, c.Require); unmet != "" {
		return nil, nil, &command.Result{Outcome: command.Unmet, Unmet: unmet}
	}
	if in.Card = c.Expiry; in.Card != nil && stored.Card != nil {
		card := *stored.Card
		card.ExpMonth, card.ExpYear = in.Card.ExpMonth, in.Card.ExpYear
		wanted.Card = &card
	}
	return &in, &wanted, nil
}

// unmetByMethod returns the condition that a stored payment method does not meet, "" if it meets
// all.
func unmetByMethod(m *v1.PaymentMethod, q command.Require) command.Condition {
	var last4, routing string
	of := command.CardMethod
	switch {
	case m.Card != nil:
		last4 = m.Card.Last4
	case m.BankAccount != nil:
		of, last4, routing = command.BankMethod, m.BankAccount.Last4, m.BankAccount.RoutingNumber
	}
	switch {
	case q.MethodType != of:
		return command.ConditionMethodType
	case !strings.HasSuffix(last4, q.Last4) && !strings.HasSuffix(q.Last4, last4):
		return command.ConditionLast4
	case !strings.HasSuffix(routing, q.Routing):
		return command.ConditionRouting
	}
	return ""
}

// patchMethod changes a payment method of a customer. It returns nil and the result to give if it
// cannot.
func (s session) patchMethod(
	ctx context.Context, customer, method string, in *methodUpdate,
) (*v1.PaymentMethod, command.Result) {
	key := s.IdempotencyKey
	params := &v1.UpdatePaymentMethodParams{IdempotencyKey: &key}
	var updated v1.PaymentMethod
	resp, ok := s.post(ctx, in, "", func(ctx context.Context, body *bytes.Reader) (*http.Response, error) {
		return s.x.client.API.UpdatePaymentMethodWithBody(
			ctx, customer, method, params, v1client.ContentType, body, s.WithKey)
	})
	matches := func() bool { return updated.ID == method && updated.Customer == customer }
	if r, read := resp.readCreated(ok, &updated, matches); !read {
		return nil, r
	}
	return &updated, command.Result{}
}
