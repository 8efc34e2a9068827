package api

import (
	"context"
	"errors"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// The kinds of payment methods that are given in the request itself. Each is also the name of its
// object.
const (
	kindCard         = payment.KindCard
	kindNetworkToken = "network_token"
	kindBankAccount  = payment.KindBankAccount
)

// givenSource is the payment source of a request.
type givenSource struct {
	method       string
	card         *v1.CardInput
	cvc          *secret.String // of a stored card
	networkToken *v1.NetworkTokenInput
	bankAccount  *v1.BankAccountInput
	customer     *string
}

// payer is a payment source, and the parts of it that may be shown.
type payer struct {
	acquirer.Source
	shown    shownSource
	drawn    engine.Drawn
	method   string      // the name of the source in v1; "" if a customer has no default
	customer string      // cus_…, "" for none
	billing  *v1.Contact // of a stored payment method
	basis    error       // errOfDefault if the source is a customer's default; the cause of refusals by source
}

// shownSource is the part of a transaction's details that shows its source. One of the fields is
// set.
type shownSource struct {
	Card         *v1.Card         `json:"card,omitempty"`
	NetworkToken *v1.NetworkToken `json:"network_token,omitempty"`
	BankAccount  *v1.BankAccount  `json:"bank_account,omitempty"`
}

// payer finds the payment source of a request, and its customer.
func (a *API) payer(ctx context.Context, t payment.Tenant, g givenSource) (payer, error) {
	if f := g.strayFault(); f != nil {
		return payer{}, f
	}
	var p payer
	var err error
	if g.method == "" && g.customer != nil {
		p, err = a.defaultSource(ctx, t, *g.customer)
	} else {
		p, err = a.source(ctx, t, g)
		p.method = shownMethod(g.method)
	}
	if err != nil {
		return payer{}, err
	}
	if f := p.typeCVC(g.cvc); f != nil {
		return payer{}, f
	}
	return p.of(g.customer)
}

// sourceFault adds the basis of the source to the intent's refusal of the source.
func (p *payer) sourceFault(err error) error {
	if p.basis != nil && errors.Is(err, payment.ErrNoSource) {
		return errors.Join(err, p.basis)
	}
	return err
}

// of sets the customer of the payment, nil for the owner of the source.
func (p payer) of(customer *string) (payer, error) {
	if customer == nil {
		return p, nil
	}
	n, err := id.Parse(id.Customer, *customer)
	if err != nil {
		return payer{}, payment.ErrNoCustomer
	}
	p.drawn.Customer, p.customer = n, *customer
	return p, nil
}

func (a *API) source(ctx context.Context, t payment.Tenant, g givenSource) (payer, error) {
	switch {
	case isToken(g.method), isID(id.PaymentMethod, g.method):
		return a.storedSource(ctx, t, g.method)
	case isID(id.Token, g.method):
		return payer{}, &fault{
			code: codeUnknownPaymentMethod, param: "payment_method", cause: payment.ErrNoSource,
			message: "This is the id of a token. Send the value of the token, which the response to its creation shows.",
		}
	}
	switch g.method {
	case kindNetworkToken:
		return a.givenNetworkToken(t, g.networkToken)
	case kindBankAccount:
		return a.givenBankAccount(t, g.bankAccount)
	}
	card, err := a.payerCard(t, g)
	if err != nil {
		return payer{}, err
	}
	return payer{Source: acquirer.Source{Card: card}, shown: shownSource{Card: a.shownCard(t, card, holder(g.card))}}, nil
}

// storedSource finds a token or a customer's payment method. If the source cannot be used any more,
// it has no number. The intent then refuses it, unless the request has a stored response.
func (a *API) storedSource(ctx context.Context, t payment.Tenant, name string) (payer, error) {
	s, err := a.Engine.Stored(ctx, t, name)
	if err != nil {
		return payer{}, err
	}
	return stored(s), nil
}

// defaultSource finds the default payment method of a customer.
func (a *API) defaultSource(ctx context.Context, t payment.Tenant, customer string) (payer, error) {
	n, err := id.Parse(id.Customer, customer)
	if err != nil {
		return payer{}, payment.ErrNoCustomer
	}
	s, name, err := a.Engine.Default(ctx, t, n)
	if err != nil {
		return payer{}, err
	}
	p := stored(s)
	p.method, p.basis = name, errOfDefault
	return p, nil
}

// stored returns the payer of a stored source.
func stored(s engine.Stored) payer {
	var d sourceDetails
	decodeDetails(s.Details, &d)
	p := payer{shown: shownSource{Card: d.Card, BankAccount: d.BankAccount}, drawn: s.Drawn, billing: d.Billing}
	if s.Drawn.Customer != 0 {
		p.customer = id.Format(id.Customer, s.Drawn.Customer)
	}
	switch {
	case d.Card != nil:
		p.Card = acquirer.Card{Number: s.Secrets.Number, CVC: s.Secrets.CVC, ExpMonth: d.Card.ExpMonth, ExpYear: d.Card.ExpYear}
	case d.BankAccount != nil:
		b := d.BankAccount
		p.BankAccount = acquirer.BankAccount{
			Number: s.Secrets.Number, RoutingNumber: b.RoutingNumber, Type: string(b.AccountType), Holder: b.Holder,
		}
	}
	return p
}

// isToken reports whether a payment method is named by the value of a token.
func isToken(name string) bool {
	_, ok := payment.TokenOfValue(name)
	return ok
}

// shownMethod returns a payment method as transactions and refunds show it: a token by its id,
// because its value is a credential.
func shownMethod(name string) string {
	if n, ok := payment.TokenOfValue(name); ok {
		return id.Format(id.Token, n)
	}
	return name
}

// isID reports whether a payment method is named by an id. Test payment methods never look like
// one.
func isID(p id.Prefix, name string) bool {
	_, err := id.Parse(p, name)
	return err == nil
}

// strayFault refuses an object that does not belong to the kind of the payment method.
func (g givenSource) strayFault() *fault {
	for _, object := range []struct {
		kind  string
		given bool
	}{
		{kindCard, g.card != nil},
		{kindNetworkToken, g.networkToken != nil},
		{kindBankAccount, g.bankAccount != nil},
	} {
		if object.given && object.kind != g.method {
			return &fault{
				code: codeInvalidValue, param: object.kind,
				message: "This object is only for payment_method \"" + object.kind + "\". Omit it.",
			}
		}
	}
	return g.cvcFault()
}
