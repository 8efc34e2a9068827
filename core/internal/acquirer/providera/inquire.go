package providera

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
)

const (
	// pageSize keeps a page of a list well below the greatest response that is read.
	pageSize = 500
	// lag is how far the provider's clock may differ from ours.
	lag = time.Hour
	// longestBatchSpan is the greatest range of a list of batches. A payment settles within days.
	longestBatchSpan = 31 * 24 * time.Hour
)

// Inquire implements acquirer.Acquirer. A capture or void has no invoice number, so its outcome is
// the state of its payment. Another request that is not found has an unknown outcome: the lists lag
// behind.
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
	s := &search{c: c, about: about, invoice: invoiceNumber(about.Reference), seen: map[string]bool{}}
	s.since, s.dated = timeOf(about.Tag)
	if err := s.unsettled(ctx); err != nil {
		return nil, err
	}
	if len(s.found) == 0 && s.dated {
		if err := s.settled(ctx); err != nil {
			return nil, err
		}
	}
	if len(s.found) != 1 {
		return nil, fmt.Errorf(
			"providera: %w: the account shows %d transactions of the request", acquirer.ErrUnknown, len(s.found))
	}
	return s.found[0], nil
}

// details reads the transaction of a number.
func (c *Connector) details(ctx context.Context, id string) (*details, error) {
	d, err := c.read(ctx, "getTransactionDetails", detailsRequest{Login: c.login(), ID: id})
	switch {
	case err != nil:
		return nil, err
	case !d.ok() || d.Details == nil:
		return nil, fmt.Errorf("providera: details: %w: %s", acquirer.ErrUnknown, shown(d.code()))
	case number(d.Details.ID) != id:
		return nil, contradiction("another transaction")
	}
	return d.Details, nil
}

// read calls a method that moves nothing. Its error is acquirer.ErrUnknown, also if nothing was
// sent: it proves nothing about the request that the caller reads about.
func (c *Connector) read(ctx context.Context, method string, request any) (*document, error) {
	response, err := c.post(ctx, request)
	if err != nil {
		return nil, fmt.Errorf("providera: %s: %w (%s)", method, acquirer.ErrUnknown, err.Error())
	}
	return parse(method, response.Body)
}

// search finds the transactions that a request has made.
type search struct {
	c       *Connector
	about   acquirer.Sent
	invoice string
	since   time.Time // when the request was prepared, if dated
	dated   bool
	seen    map[string]bool // numbers that were read
	found   []*details
}

// unsettled searches the transactions that have not settled.
func (s *search) unsettled(ctx context.Context) error {
	return s.pages(ctx, "getUnsettledTransactionList", func(p paging) any {
		return unsettledListRequest{Login: s.c.login(), Sorting: newestFirst, Paging: p}
	})
}

// settled searches the batches that were settled since the request was prepared.
func (s *search) settled(ctx context.Context) error {
	first, last := s.since.Add(-lag), s.c.clock.Now().UTC()
	if limit := first.Add(longestBatchSpan); last.After(limit) {
		last = limit
	}
	if !last.After(first) {
		return nil
	}
	batches, err := s.c.batches(ctx, first, last)
	if err != nil {
		return err
	}
	for _, batch := range batches {
		if err := s.pages(ctx, "getTransactionList", func(p paging) any {
			return transactionListRequest{Login: s.c.login(), Batch: batch, Sorting: newestFirst, Paging: p}
		}); err != nil || len(s.found) > 0 {
			return err
		}
	}
	return nil
}

// batches returns the numbers of the batches that were settled in a range of time.
func (c *Connector) batches(ctx context.Context, first, last time.Time) ([]string, error) {
	const method = "getSettledBatchList"
	d, err := c.read(ctx, method, batchListRequest{
		Login: c.login(), First: first.Format(time.RFC3339), Last: last.Format(time.RFC3339),
	})
	if err != nil || d.code() == codeNoRows {
		return nil, err
	}
	if !d.ok() {
		return nil, fmt.Errorf("providera: %s: %w: %s", method, acquirer.ErrUnknown, shown(d.code()))
	}
	var out []string
	for _, batch := range d.Batches {
		id := number(batch.ID)
		if id == "" {
			return nil, contradiction("batch")
		}
		out = append(out, id)
	}
	return out, nil
}

// newestFirst lets no row move to a page that was read before: new rows move the others to later
// pages.
var newestFirst = sorting{By: "submitTimeUTC", Descending: true}

// pages searches a list page by page. It stops at rows that are older than the request.
func (s *search) pages(ctx context.Context, method string, request func(paging) any) error {
	for page := 1; ; page++ {
		d, err := s.c.read(ctx, method, request(paging{Limit: pageSize, Page: page}))
		if err != nil || d.code() == codeNoRows {
			return err
		}
		if !d.ok() {
			return fmt.Errorf("providera: %s: %w: %s", method, acquirer.ErrUnknown, shown(d.code()))
		}
		for _, r := range d.Rows {
			if err := s.row(ctx, r); err != nil {
				return err
			}
		}
		if len(d.Rows) < pageSize || s.older(d.Rows[len(d.Rows)-1]) {
			return nil
		}
	}
}

// older reports whether a row was submitted before the request was prepared.
func (s *search) older(r row) bool {
	at, err := time.Parse(time.RFC3339Nano, r.SubmittedAt.value)
	return err == nil && s.dated && at.Before(s.since.Add(-lag))
}

// row reads the transaction of a row if the row has the request's number.
func (s *search) row(ctx context.Context, r row) error {
	id := number(r.ID)
	if r.Invoice.value != s.invoice || id == "" || s.seen[id] {
		return nil
	}
	s.seen[id] = true
	d, err := s.c.details(ctx, id)
	if err != nil {
		return err
	}
	if d.madeBy(s.about) {
		s.found = append(s.found, d)
	}
	return nil
}
