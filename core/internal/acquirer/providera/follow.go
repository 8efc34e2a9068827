package providera

import (
	"context"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
)

// unsent returns the error of a step that was not sent, because its original could not be read. An
// earlier attempt can still have had an effect.
func unsent(r acquirer.Follow, err error) error {
	if r.Again {
		return err
	}
	return fmt.Errorf("providera: the original was not read: %w (%s)", acquirer.ErrUnavailable, err.Error())
}

// question returns the part of a step that its response must fit.
func (c *Connector) question(kind acquirer.Kind, r acquirer.Follow, original string) question {
	return question{
		kind: kind, refID: invoiceNumber(r.Reference), original: original, amount: r.Amount, currency: r.Currency,
	}
}

// Capture implements acquirer.Acquirer. The provider makes one capture of an authorization and
// releases the rest. A capture after another one is declined and not sent.
func (c *Connector) Capture(ctx context.Context, r acquirer.Follow) (acquirer.Response, error) {
	if len(r.Captures) > 0 {
		return notPossible(), nil
	}
	original := r.Original.ID
	if original == "" || r.Again {
		d, err := c.find(ctx, r.Original)
		switch {
		case err != nil:
			return acquirer.Response{}, unsent(r, err)
		case r.Again:
			return d.captured(r.Amount, r.Currency)
		}
		original = number(d.ID)
	}
	t, err := encodeCapture(r, original)
	if err != nil {
		return acquirer.Response{}, fmt.Errorf("%w: %w", acquirer.ErrUnavailable, err)
	}
	return c.transact(ctx, c.question(acquirer.Capture, r, original), t)
}

// Void implements acquirer.Acquirer. A repeated void, and a void of a request with an unknown
// outcome, first reads the transaction. It is sent while the transaction holds money: the process
// can have died before it sent the first one. A second void has no further effect: the provider
// responds that the transaction was voided. A capture that shall be dropped must not void its
// payment, so such a void is never sent. If another capture of the payment stands, it is the only
// one, and a release of this capture has nothing to release.
func (c *Connector) Void(ctx context.Context, r acquirer.Follow) (acquirer.Response, error) {
	if r.Original.Kind == acquirer.Capture && r.Original.Follow != nil && len(r.Original.Follow.Captures) > 0 {
		return acquirer.Response{Approved: true, ResponseCode: isoApproved, Amount: r.Amount}, nil
	}
	original := r.Original.ID
	if original == "" || r.Again || r.Original.Kind == acquirer.Capture {
		d, err := c.find(ctx, paymentOf(r.Original))
		if err != nil {
			return acquirer.Response{}, err
		}
		if r.Drop && r.Original.Kind == acquirer.Capture {
			return d.uncaptured(r.Amount)
		}
		uncaptured := r.Original.Kind == acquirer.Capture && d.state() == held
		if uncaptured || !d.voidable() {
			return d.voided(r.Amount)
		}
		original = number(d.ID)
	}
	return c.transact(ctx, c.question(acquirer.Void, r, original), encodeVoid(original))
}

// Refund implements acquirer.Acquirer. It first reads the original: the API wants the masked number
// of its source. A repeated refund is not sent: it searches for the earlier one.
//
// A refund of the whole original that no list has is acquirer.ErrNotFound. If the earlier one
// appears after all, the payer still gets the money once. The provider declines each refund after
// it, because the sum would exceed the original. That does not hold for a part, so its outcome
// remains unknown. So does that of a refund whose clock was perhaps wrong, or that another process
// sent: see errUntimely.
func (c *Connector) Refund(ctx context.Context, r acquirer.Follow) (acquirer.Response, error) {
	about := acquirer.Sent{
		Kind: acquirer.Refund, Reference: r.Reference, Tag: r.Tag, Amount: r.Amount, Currency: r.Currency,
	}
	if r.Again {
		a, err := c.Inquire(ctx, about)
		if errors.Is(err, acquirer.ErrNotListed) && !errors.Is(err, errUntimely) {
			err = c.unlisted(ctx, r, err)
		}
		return a, err
	}
	d, err := c.find(ctx, r.Original)
	if err != nil {
		return acquirer.Response{}, unsent(r, err)
	}
	source, err := d.source(r.Last4)
	if err != nil {
		return acquirer.Response{}, unsent(r, err)
	}
	original := number(d.ID)
	t, err := encodeRefund(r, original, source)
	if err != nil {
		return acquirer.Response{}, errors.Join(acquirer.ErrUnavailable, err)
	}
	a, err := c.unlessDuplicate(ctx, about, c.question(acquirer.Refund, r, original), t)
	if errors.Is(err, acquirer.ErrUnknown) {
		c.begin(about, d.timely)
	}
	return a, err
}

// unlisted returns acquirer.ErrNotFound for a refund of a whole original, and else why.
func (c *Connector) unlisted(ctx context.Context, r acquirer.Follow, why error) error {
	d, err := c.find(ctx, r.Original)
	if err != nil {
		return err
	}
	if whole, ok := minor(d.Settled.value, r.Currency); !ok || d.state() != settled || whole != r.Amount {
		return why
	}
	return fmt.Errorf("providera: no list has the refund: %w", acquirer.ErrNotFound)
}
