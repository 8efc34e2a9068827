package api

import (
	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/payment"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// The kinds of payment methods that are given in the request itself. Each names the object that goes with it.
const (
	kindCard         = "card"
	kindNetworkToken = "network_token"
	kindBankAccount  = "bank_account"
)

// given is what a request names to take the money from.
type givenSource struct {
	method       string
	card         *v1.CardInput
	networkToken *v1.NetworkTokenInput
	bankAccount  *v1.BankAccountInput
}

// payer is what the money is taken from, and what may be shown of it.
type payer struct {
	acquirer.Source
	shown shownSource
}

// shownSource is the part of a transaction's details that tells of its source. One of the fields is set.
type shownSource struct {
	Card         *v1.Card         `json:"card,omitempty"`
	NetworkToken *v1.NetworkToken `json:"network_token,omitempty"`
	BankAccount  *v1.BankAccount  `json:"bank_account,omitempty"`
}

// payer finds what a request asks to charge.
func (a *API) payer(t payment.Tenant, g givenSource) (payer, error) {
	if f := g.strayFault(); f != nil {
		return payer{}, f
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
	return payer{acquirer.Source{Card: card}, shownSource{Card: a.shownCard(t, card, holder(g.card))}}, nil
}

// strayFault refuses an object of another kind than the payment method names.
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
				message: "This object goes with payment_method \"" + object.kind + "\" only.",
			}
		}
	}
	return nil
}
