package providera

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/acquirer/upstream"
)

// Inquire implements acquirer.Acquirer. A capture or void has no invoice number, so its outcome is
// the state of its payment. Another request that is not found has an unknown outcome, also with
// acquirer.ErrNotListed: the lists lag behind.
func (c *Connector) Inquire(ctx context.Context, about acquirer.Sent) (acquirer.Response, error) {
	if about.Kind == acquirer.Capture && about.Follow != nil && len(about.Follow.Captures) > 0 {
		return notPossible(), nil // the payment's only capture is another one
	}
	d, err := c.find(ctx, paymentOf(about))
	if err != nil {
		return acquirer.Response{}, err
	}
	if about.Kind != acquirer.Capture && about.Kind != acquirer.Void {
		return d.outcome(about)
	}
	if d.awaits(about.Kind) {
		return acquirer.Response{}, fmt.Errorf("providera: no %s so far: %w", about.Kind, acquirer.ErrNotFound)
	}
	var a acquirer.Response
	if about.Kind == acquirer.Capture {
		a, err = d.captured(about.Amount, about.Currency)
	} else {
		a, err = d.voided(about.Amount)
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", acquirer.ErrUndecided, err)
	}
	return a, err
}

// paymentOf returns the payment of a capture or void, which share one number. It returns any other
// request unchanged.
func paymentOf(about acquirer.Sent) acquirer.Sent {
	if about.Follow == nil {
		return about
	}
	p := about.Follow.Original
	p.ID = cmp.Or(p.ID, about.ID)
	return p
}

// find returns the transaction of a request: that with its number, or the one that a search for its
// reference finds. Its error is always acquirer.ErrUnknown.
func (c *Connector) find(ctx context.Context, about acquirer.Sent) (*details, error) {
	if about.ID != "" {
		return c.details(ctx, about.ID)
	}
	if creators(about) == nil {
		return nil, fmt.Errorf("providera: %w: a %s cannot be searched for", acquirer.ErrUnknown, about.Kind)
	}
	prepared, dated := timeOf(about.Tag)
	if !dated {
		return nil, fmt.Errorf("providera: %w: the time of the request is not known", acquirer.ErrUnknown)
	}
	s := c.resume(about, prepared)
	defer c.keep(s)
	return s.run(ctx)
}

// details reads the transaction of a number.
func (c *Connector) details(ctx context.Context, id string) (*details, error) {
	d, err := c.read(ctx, "getTransactionDetails", detailsRequest{Login: c.login(), ID: id})
	switch {
	case err != nil:
		return nil, err
	case !d.ok() || d.Details == nil:
		return nil, d.refusal("details")
	case number(d.Details.ID) != id:
		return nil, contradiction("another transaction")
	}
	d.Details.timely = d.timely
	return d.Details, nil
}

// mostOf returns the greatest body of a method's response, in bytes.
func mostOf(method string) int64 {
	switch method {
	case "getUnsettledTransactionList", "getTransactionList", "getSettledBatchList":
		return upstream.MaxList
	}
	return upstream.MaxOutcome
}

// read calls a method that moves nothing. Its error is acquirer.ErrUnknown, also if nothing was
// sent: it proves nothing about the request that the caller reads about.
func (c *Connector) read(ctx context.Context, method string, request any) (*document, error) {
	response, err := c.post(ctx, request, mostOf(method))
	if err != nil {
		return nil, fmt.Errorf("providera: %s: %w: %s", method, errUnread, acquirer.Cause(err))
	}
	d, err := parse(method, response.Body)
	if err == nil {
		date, dateErr := http.ParseTime(response.Header.Get("Date"))
		d.timely = dateErr == nil && date.Sub(c.clock.Now()).Abs() <= skew
	}
	return d, err
}

// ask is read with the error of the request, which can be acquirer.ErrUnavailable.
func (c *Connector) ask(ctx context.Context, method string, request any) (*document, error) {
	response, err := c.post(ctx, request, mostOf(method))
	if err != nil {
		return nil, fmt.Errorf("providera: %s: %w", method, err)
	}
	return parse(method, response.Body)
}

// errUnread reports that no request can read the account at present. The host has not responded,
// has refused the login, or is busy. It is acquirer.ErrUnknown.
var errUnread = fmt.Errorf("providera: not read: %w", acquirer.ErrUnknown)

// refusal returns the error of a reading method that did not succeed. It is errUnread if the code
// is of the account or the service, and else of the record or list alone.
func (d *document) refusal(method string) error {
	class := acquirer.ErrUnknown
	if envelopes[d.code()].class == noEffect {
		class = errUnread
	}
	return fmt.Errorf("providera: %s: %w: %s", method, class, shown(d.code()))
}
