package acquirer

import (
	"context"
	"fmt"
	"strings"

	"github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/secret"
)

// Discreet wraps a, and removes the card number and the security code of the request from its
// responses to payments and credits. The texts of a response are stored and shown. If the id has
// the number, the outcome is unknown. Any other text that has it is dropped.
func Discreet(a Acquirer) Acquirer { return discreet{a} }

type discreet struct{ Acquirer }

// Authorize implements Acquirer.
func (d discreet) Authorize(ctx context.Context, r Authorize) (Response, error) {
	out, err := d.Acquirer.Authorize(ctx, r)
	return r.hide(out, err)
}

// Credit implements Acquirer.
func (d discreet) Credit(ctx context.Context, r Credit) (Response, error) {
	out, err := d.Acquirer.Credit(ctx, r)
	return r.hide(out, err)
}

// Inquire implements Acquirer. The number of the request is not known here.
func (d discreet) Inquire(ctx context.Context, about Sent) (Response, error) {
	out, err := d.Acquirer.Inquire(ctx, about)
	const longestNetworkID = 15
	if n := digits(out.NetworkTransactionID); len(n) > longestNetworkID && card.Valid(secret.New(n)) {
		out.NetworkTransactionID = ""
	}
	return out, err
}

// hide returns the response without the number and the security code of the source.
func (s Source) hide(out Response, err error) (Response, error) {
	if err != nil {
		return out, err
	}
	if s.in(out.ID) {
		return Response{}, fmt.Errorf("%w: the acquirer's id has the number of the card or account", ErrUnknown)
	}
	for _, text := range []*string{
		&out.Code, &out.NetworkTransactionID, &out.NetworkLinkID, &out.ResponseCode, &out.Network.Code,
		&out.Network.Advice, &out.Checks.Codes.AVS, &out.Checks.Codes.CVC, &out.Checks.Codes.CAVV,
	} {
		if s.in(*text) {
			*text = ""
		}
	}
	for _, text := range []*string{&out.Code, &out.NetworkTransactionID} {
		if cvc := s.Card.CVC.Reveal(); cvc != "" && strings.ReplaceAll(*text, cvc, "") == "" {
			*text = ""
		}
	}
	return out, nil
}

// in reports whether the digits of a text have the card number, or are the number of the bank
// account. A bank account can have so few digits that other numbers have them, too.
func (s Source) in(text string) bool {
	const shortAccount = 5
	number := s.Card.Number.Reveal() + s.NetworkToken.Number.Reveal() // only one of them is there
	account, all := s.BankAccount.Number.Reveal(), digits(text)
	return number != "" && strings.Contains(all, number) || len(account) > shortAccount && all == account
}

func digits(text string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
}
