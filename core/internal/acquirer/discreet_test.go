package acquirer_test

import (
	"context"
	"errors"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/shared/secret"
)

// echo is an acquirer with one response to all payments and credits.
type echo struct {
	acquirer.Acquirer
	response acquirer.Response
}

func (e echo) Authorize(context.Context, acquirer.Authorize) (acquirer.Response, error) {
	return e.response, nil
}

func (e echo) Credit(context.Context, acquirer.Credit) (acquirer.Response, error) {
	return e.response, nil
}

// TestDiscreet: a response cannot bring the number or the security code of the card into the store.
func TestDiscreet(t *testing.T) {
	t.Parallel()
	const number = "4485040993287640"
	card := acquirer.Source{Card: acquirer.Card{Number: secret.New(number), CVC: secret.New("731")}}
	token := acquirer.Source{NetworkToken: acquirer.NetworkToken{Number: secret.New(number)}}
	plain := acquirer.Response{ID: "7310", Code: "K73173"}
	bank := acquirer.Source{BankAccount: acquirer.BankAccount{Number: secret.New("731")}}
	for name, c := range map[string]struct {
		source    acquirer.Source
		got, want acquirer.Response
		err       error
	}{
		"plain":     {card, plain, plain, nil},
		"id":        {card, acquirer.Response{Approved: true, ID: "7" + number}, acquirer.Response{}, acquirer.ErrUnknown},
		"token":     {token, acquirer.Response{ID: number}, acquirer.Response{}, acquirer.ErrUnknown},
		"network":   {card, acquirer.Response{NetworkTransactionID: number}, acquirer.Response{}, nil},
		"link":      {token, acquirer.Response{NetworkLinkID: number + "000000"}, acquirer.Response{}, nil},
		"code":      {card, acquirer.Response{Code: "731"}, acquirer.Response{}, nil},
		"code, two": {card, acquirer.Response{Code: "731731"}, acquirer.Response{}, nil},
		"advice":    {card, acquirer.Response{Network: acquirer.NetworkDecline{Advice: number}}, acquirer.Response{}, nil},
		"bank":      {bank, acquirer.Response{ID: "731", Code: "731"}, acquirer.Response{ID: "731", Code: "731"}, nil},
	} {
		a := acquirer.Discreet(echo{response: c.got})
		got, err := a.Authorize(t.Context(), acquirer.Authorize{Source: c.source})
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: authorize: got %+v, %v", name, got, err)
		}
		got, err = a.Credit(t.Context(), acquirer.Credit{Source: c.source})
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: credit: got %+v, %v", name, got, err)
		}
	}
}
