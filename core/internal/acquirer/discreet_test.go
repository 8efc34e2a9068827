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

func (e echo) Inquire(context.Context, acquirer.Sent) (acquirer.Response, error) {
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
	account := acquirer.Source{BankAccount: acquirer.BankAccount{Number: secret.New("123456789012")}}
	advice := acquirer.Response{Network: acquirer.NetworkDecline{Advice: number}}
	short := acquirer.Response{ID: "731", Code: "731"}
	const dashed = "4485-0409-9328-7640"
	for name, c := range map[string]struct {
		source    acquirer.Source
		got, want acquirer.Response
		err       error
	}{
		"plain":              {card, plain, plain, nil},
		"id":                 {card, acquirer.Response{ID: "7" + number}, acquirer.Response{}, acquirer.ErrUnknown},
		"token":              {token, acquirer.Response{ID: number}, acquirer.Response{}, acquirer.ErrUnknown},
		"network":            {card, acquirer.Response{NetworkTransactionID: number}, acquirer.Response{}, nil},
		"link":               {token, acquirer.Response{NetworkLinkID: number + "000000"}, acquirer.Response{}, nil},
		"code":               {card, acquirer.Response{Code: "731"}, acquirer.Response{}, nil},
		"code, two":          {card, acquirer.Response{Code: "731731"}, acquirer.Response{}, nil},
		"advice":             {card, advice, acquirer.Response{}, nil},
		"id, in groups":      {card, acquirer.Response{ID: dashed}, acquirer.Response{}, acquirer.ErrUnknown},
		"network, in groups": {card, acquirer.Response{NetworkTransactionID: dashed}, acquirer.Response{}, nil},
		"code as network":    {card, acquirer.Response{NetworkTransactionID: "731"}, acquirer.Response{}, nil},
		"account, id":        {account, acquirer.Response{ID: "123456789012"}, acquirer.Response{}, acquirer.ErrUnknown},
		"account, network":   {account, acquirer.Response{NetworkTransactionID: "1234-5678-9012"}, acquirer.Response{}, nil},
		"bank":               {bank, short, short, nil},
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

// TestDiscreetInquiry: an inquiry has no number to compare with, so it keeps no network id that is
// a card number. Network ids have at most 15 digits.
func TestDiscreetInquiry(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"4485040993287640": "", "4485-0409-9328-7640": "", "4485040993287641": "4485040993287641",
		"016150703802094": "016150703802094", "MCC123456 0302": "MCC123456 0302", "378282246310005": "378282246310005",
	} {
		a := acquirer.Discreet(echo{response: acquirer.Response{ID: "1", NetworkTransactionID: given}})
		got, err := a.Inquire(t.Context(), acquirer.Sent{})
		if err != nil || got.NetworkTransactionID != want || got.ID != "1" {
			t.Errorf("%s: got %+v, %v, want %q", given, got, err, want)
		}
	}
}
