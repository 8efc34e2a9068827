package providerb

import (
	"context"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
)

// Void implements acquirer.Acquirer. It first voids the captures, then releases the authorization.
// The provider ends each of them once, so that a repeated void changes nothing. If only a part of a
// payment could be voided, the outcome is unknown. The error names the first capture that stands,
// so that a person can refund it at the provider. Then the void is approved.
//
// A request without an id is undone by its transactionId. With Drop it is approved, too, once a
// request that the provider does not have can no longer arrive.
func (c *Connector) Void(ctx context.Context, r acquirer.Follow) (acquirer.Response, error) {
	o := r.Original
	group, known := groups[o.Kind]
	switch {
	case !known:
		return notSent(fmt.Errorf("%w: void of a request of kind %q", errRequest, o.Kind))
	case o.ID == "":
		return c.voidUnknown(ctx, r)
	case !validID(o.ID):
		return notSent(fmt.Errorf("%w: id of the request", errRequest))
	case o.Kind != acquirer.Authorization:
		captures := []acquirer.Sent{{Kind: o.Kind, ID: o.ID}}
		return c.voidAll(ctx, r, captures, group)
	}
	return c.voidAll(ctx, r, r.Captures, pathCaptures)
}

// voidUnknown undoes a request without an id.
func (c *Connector) voidUnknown(ctx context.Context, r acquirer.Follow) (acquirer.Response, error) {
	about := r.Original
	if about.Amount == 0 {
		about.Amount, about.Currency = r.Amount, r.Currency
	}
	if !r.Drop {
		return c.voidDecided(ctx, r, about)
	}
	found, err := c.undo(ctx, about)
	if err != nil {
		return acquirer.Response{}, err
	}
	return acquirer.Response{Approved: true, ID: found.ID, ResponseCode: "00", Amount: r.Amount}, nil
}

// voidDecided voids a payment that an operator has approved without an id. The provider finds only
// recent operations by their transactionId. If it does not find the payment, this request voided
// nothing, and the money may be taken: it is declined. An earlier void may have had its effect, so
// a repeated void is then unknown.
func (c *Connector) voidDecided(
	ctx context.Context, r acquirer.Follow, about acquirer.Sent,
) (acquirer.Response, error) {
	result, _, err := c.tryUndo(ctx, about)
	switch {
	case err != nil:
		return acquirer.Response{}, err
	case result == undone:
		return acquirer.Response{Approved: true, ResponseCode: "00", Amount: r.Amount}, nil
	case result == missing && r.Again:
		return acquirer.Response{}, unknownUndo("an earlier void may have ended it")
	}
	return declinedBy(refusals["NOT_VOIDABLE"], responseBody{}), nil
}

// voidAll voids captures, or another operation that took money, and then releases the authorization
// of a payment.
func (c *Connector) voidAll(
	ctx context.Context, r acquirer.Follow, taken []acquirer.Sent, group string,
) (acquirer.Response, error) {
	for _, capture := range taken {
		if capture.ID == "" { // an operator has approved it
			return declinedBy(refusals["NOT_VOIDABLE"], responseBody{}), nil
		}
		if !validID(capture.ID) {
			return notSent(fmt.Errorf("%w: id of a capture", errRequest))
		}
	}
	var last acquirer.Response
	for i, capture := range taken {
		request := encodeVoid(r.Reference, group, capture.ID)
		out, err := c.send(ctx, request, sent{operation: voiding, amount: anyAmount, currency: r.Currency})
		switch {
		case err != nil && i > 0, err == nil && !out.response.Approved && i > 0:
			return acquirer.Response{}, fmt.Errorf(
				"provider-b: %w: only a part is voided, and not the capture %s", acquirer.ErrUnknown, capture.ID)
		case err != nil || !out.response.Approved:
			return out.response, err
		}
		last = out.response
	}
	if kind := r.Original.Kind; kind != acquirer.Authorization && kind != acquirer.Sale {
		last.Amount = r.Amount
		return last, nil
	}
	out, err := c.release(ctx, r)
	switch {
	case len(taken) == 0 || out.response.Approved && err == nil:
		return out.response, err
	case err != nil: // the captures are voided, and the rest may be
		return acquirer.Response{}, fmt.Errorf("provider-b: %w: the rest is not released", acquirer.ErrUnknown)
	}
	// The money was not taken. An authorization that the provider does not release any more lapses.
	last.Amount = r.Amount
	return last, nil
}

// release releases the authorization of a void. The provider gives one reason for an authorization
// that was reversed and one that was captured, so its details decide. They show a reversal late, so
// an authorization that still stands there is unknown.
func (c *Connector) release(ctx context.Context, r acquirer.Follow) (outcome, error) {
	id := r.Original.ID
	request, err := encodeReversal(r.Reference, id, r.Amount, r.Currency)
	if err != nil {
		_, err := notSent(err)
		return outcome{}, err
	}
	out, err := c.send(ctx, request, sent{operation: reversing, amount: r.Amount, currency: r.Currency})
	if err == nil || out.reason != "TRANSACTION_ALREADY_REVERSED_OR_SETTLED" {
		return out, err
	}
	found, state, lookErr := c.lookState(ctx, acquirer.Sent{
		Kind: acquirer.Authorization, ID: id, Amount: r.Amount, Currency: r.Currency,
	})
	switch {
	case lookErr != nil:
		return out, err
	case found.Released:
		return outcome{
			class: done, response: acquirer.Response{Approved: true, ResponseCode: "00", Amount: r.Amount},
		}, nil
	case state != "TRANSMITTED":
		return outcome{}, fmt.Errorf("provider-b: %w: the details may be of before the void", acquirer.ErrUnknown)
	}
	return outcome{class: declined, response: declinedBy(refusals["NOT_VOIDABLE"], out.body)}, nil
}
