package api

import (
	"net/http"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/vault"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func (a *API) tokenRoutes() []route {
	return []route{
		{http.MethodPost, "/v1/tokens", apikey.ScopeTokensCreate, a.changing(a.createToken)},
		{http.MethodGet, "/v1/tokens/{id}", apikey.ScopeTokensReadOne, a.getToken},
	}
}

// sourceDetails is the part of a stored card or bank account that may be shown, kept as the
// contract shows it. Tokens and payment methods share this type, so a payment method copies it from
// its token.
type sourceDetails struct {
	Card        *v1.Card        `json:"card,omitempty"`
	BankAccount *v1.BankAccount `json:"bank_account,omitempty"`
	Billing     *v1.Contact     `json:"billing,omitempty"`  // payment methods only
	Metadata    *v1.Metadata    `json:"metadata,omitempty"` // payment methods only
}

func (a *API) createToken(c *call) (engine.Result, error) {
	var in v1.TokenCreate
	if err := c.decode(&in, false); err != nil {
		return engine.Result{}, err
	}
	g := givenSource{method: kindCard, card: in.Card}
	switch {
	case in.Card != nil && in.BankAccount != nil:
		return engine.Result{}, &fault{code: codeInvalidValue, param: kindBankAccount, message: "A token stands for a card or for a bank account. Send one of them."}
	case in.BankAccount != nil:
		g = givenSource{method: kindBankAccount, bankAccount: in.BankAccount}
	case in.Card == nil:
		return engine.Result{}, &fault{code: codeMissingField, param: kindCard}
	}
	p, err := a.source(c.Context(), c.key.Tenant, g)
	if err != nil {
		return engine.Result{}, err
	}
	secrets := vault.Secrets{Number: p.Card.Number, CVC: p.Card.CVC}
	if in.BankAccount != nil {
		secrets = vault.Secrets{Number: p.BankAccount.Number}
	}
	details := encode(&sourceDetails{Card: p.shown.Card, BankAccount: p.shown.BankAccount})
	return a.Engine.CreateToken(c.Context(), c.request, g.method, details, secrets)
}

func (a *API) getToken(w http.ResponseWriter, r *http.Request, k *payment.APIKey) error {
	n, err := pathID(r, id.Token)
	if err != nil {
		return err
	}
	t, err := a.Store.Token(r.Context(), k.Tenant, n)
	if err != nil {
		return err
	}
	shown := showToken(t)
	a.write(w, r, http.StatusOK, encode(&shown))
	return nil
}

func showToken(t *payment.Token) v1.Token {
	var d sourceDetails
	decodeDetails(t.Details, &d)
	out := v1.Token{
		ID: id.Format(id.Token, t.ID), Object: v1.TokenObjectToken, Mode: mode(t.Tenant), Kind: v1.StoredKind(t.Kind), Card: d.Card, BankAccount: d.BankAccount,
		Used: t.UsedBy != 0, CreatedAt: v1.Time{Time: t.CreatedAt}, ExpiresAt: v1.Time{Time: t.ExpiresAt},
	}
	if out.Used {
		out.UsedAt = &v1.Time{Time: t.UsedAt}
	}
	return out
}
