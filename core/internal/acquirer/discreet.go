package acquirer

import (
	"context"
	"fmt"
	"strings"
)

// Discreet returns a, whose responses to payments and credits have no number and no security code
// of their card. The texts of a response are stored and shown. If the id has the number, the
// outcome is unknown. Any other text that has it is dropped.
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

// hide returns the response without the number and the security code of the source.
func (s Source) hide(out Response, err error) (Response, error) {
	if err != nil {
		return out, err
	}
	number := s.Card.Number.Reveal() + s.NetworkToken.Number.Reveal() // only one of them is there
	repeats := func(text string) bool { return number != "" && strings.Contains(text, number) }
	if repeats(out.ID) {
		return Response{}, fmt.Errorf("%w: the acquirer's id has the card number", ErrUnknown)
	}
	for _, text := range []*string{
		&out.Code, &out.NetworkTransactionID, &out.NetworkLinkID, &out.ResponseCode, &out.Network.Code,
		&out.Network.Advice, &out.Checks.Codes.AVS, &out.Checks.Codes.CVC, &out.Checks.Codes.CAVV,
	} {
		if repeats(*text) {
			*text = ""
		}
	}
	if cvc := s.Card.CVC.Reveal(); cvc != "" && strings.ReplaceAll(out.Code, cvc, "") == "" {
		out.Code = ""
	}
	return out, nil
}
